import CHeadway
import Dispatch
import Synchronization

extension OperationProtocol {
  /// Suspends the task until the operation has finished, its observers have been notified, and
  /// ``OperationQueueProtocol/failureHandler`` of its queue has been called if the operation failed.
  ///
  /// Inside an operation, this method does not wait for that call, because the call may wait for the operation. The
  /// same applies in a task that such a call has created, until the call returns.
  ///
  /// The method blocks no thread. While the task waits, the operation and its dependencies run at least at the quality
  /// of service that matches the task's priority. The default priority, `.medium`, raises nothing.
  ///
  /// If the task of an operation waits for that operation itself, or for a group that contains it, it waits until it is
  /// cancelled. The wait is reported as ``OperationQueueEvent/deadlocked(_:)``. If the operation is not in a queue and
  /// has not been started, it does not end. If such a wait lasts for a second, Headway writes a warning to standard
  /// error, once per process.
  ///
  /// - Throws: `CancellationError` if the waiting task is cancelled; the operation continues.
  /// - Complexity: O(1), even if the waiting task is cancelled.
  @_disfavoredOverload
  public func untilFinished() async throws { try await untilFinished(as: WaiterList.nextIdentifier()) }

  /// Suspends the task until the operation has finished, then throws if the operation did not succeed.
  ///
  /// The method blocks no thread and does not suspend the task if the operation has already finished. It raises the
  /// operation's quality of service in the same way as ``untilFinished()``.
  ///
  /// - Throws: The error that made the operation fail; `CancellationError` if the operation was cancelled, or if the
  ///   waiting task is cancelled. If only the task is cancelled, the operation continues.
  @_disfavoredOverload
  public func untilSucceeded() async throws {
    if outcome == nil || (!isReported && goalOfTask == .reported) { try await untilFinished() }
    try requireSuccess()
  }
}

extension Operation {
  /// Waits like ``untilFinished()``, but ``endWait(_:)`` can stop the wait.
  ///
  /// - Parameters:
  ///   - identifier: The identifier of the wait.
  ///   - isAlone: False if the wait is part of another wait, which is known.
  ///   - isOver: Returns whether the wait must end. Called when `endWait(_:)` can already find the wait.
  /// - Throws: `CancellationError` if the wait was ended, or the waiting task is cancelled.
  final func untilFinished(
    as identifier: UInt64, isAlone: Bool = true, unless isOver: @Sendable () -> Bool = { false }
  ) async throws {
    let goal = goalOfTask
    if !state.current.isReserved { reportWaitIfNeverAdded() }
    try await withPriority(raising: raiseQuality) {
      func suspend() async throws {
        try await WaiterList.suspend(as: identifier) { waiter in
          guard self.addWaiter(waiter, for: goal) else { return false }
          if isOver() { self.endWait(identifier) }
          return true
        } removing: {
          self.removeWaiter($0)
        }
      }
      if isAlone { try await KnownWait.suspending(on: self, suspend) } else { try await suspend() }
    }
  }

  private static let hasWarnedOfMissingQueue = Atomic(false)

  /// Writes a warning if the operation is still not in a queue after a second, because the wait might never end.
  ///
  /// Other code can still add the operation later, so the wait continues. The warning is written once per process.
  fileprivate final func reportWaitIfNeverAdded() {
    guard state.current.phase == .pending, !Self.hasWarnedOfMissingQueue.load(ordering: .relaxed) else { return }
    DispatchQueue.global().asyncAfter(deadline: .now() + 1) { [weak self] in
      guard let self, self.state.current.phase == .pending, !self.state.current.isReserved else { return }
      warnOnce(
        "\(self) is awaited, but is not in a queue: add it to a queue, or call its start().",
        since: Self.hasWarnedOfMissingQueue)
    }
  }

  private func removeWaiter(_ identifier: UInt64) -> Waiter? {
    links.withLock { $0.details?.pointee.waiters.remove(identifier) }
  }

  /// Ends the wait of a task as if the task were cancelled, unless the task has already been woken.
  final func endWait(_ identifier: UInt64) {
    guard case .task(_, let continuation)? = removeWaiter(identifier) else { return }
    continuation.resume(throwing: CancellationError())
  }

  /// Suspends the task until the operation has finished, whether or not the task is cancelled.
  ///
  /// Raises no quality of service.
  final func ended() async {
    let goal = goalOfTask
    await KnownWait.suspending(on: self) { await WaiterList.suspend { waiter in addWaiter(waiter, for: goal) } }
  }

  /// Calls `handler`, which runs no user code, once after the operation has finished.
  ///
  /// If it has already finished, calls `handler` immediately.
  package final func callWhenEnded(_ handler: @escaping @Sendable () -> Void) {
    if !addWaiter(.handler(handler), for: .notified) { handler() }
  }

  /// Throws the error that made the operation, which has finished, fail; or `CancellationError` if it was cancelled.
  final func requireSuccess() throws {
    switch outcome {
    case .success: return
    case .failure(let error): throw error
    case .cancelled: throw CancellationError()
    case nil: misuse("The outcome of \(self) was read before the operation finished.")
    }
  }
}

extension Operation {
  /// The goal of a task that waits.
  ///
  /// Inside an operation, this does not include reports, which may wait for that operation.
  fileprivate final var goalOfTask: WaitingGoal {
    if ReportScope.isInside(self) { return .settled }
    return ThreadContext.isInsideOperation ? .notified : .reported
  }

  /// Whether everything that a task can wait for has happened.
  final var isReported: Bool {
    state.current.isNotified && links.withLock { ($0.details?.pointee.reportCount ?? 0) == 0 }
  }

  /// Implements ``waitUntilFinished()``.
  final func blockUntilFinished() {
    blockUntilNotified()
    var patience = CompletionPatience()
    patience.wait(for: self)
  }

  private func blockUntilNotified() {
    let word = state.current
    guard !word.isNotified else { return }
    let goal = NotificationContext.isNotifying(self) ? WaitingGoal.settled : .notified
    guard !word.hasReached(goal) else { return }
    require(
      word.phase == .finished || !endsWithMain || !ThreadContext.isInside(self) || !isInMain,
      "waitUntilFinished() on \(self) from inside its main(): it would wait for itself.")
    guard !isSoon(goal) else { return }
    if !state.current.isReserved { reportWaitIfNeverAdded() }
    KnownWait.block(on: self) { waiter in addWaiter(waiter, for: goal) }
  }

  /// Polls for the end for a short time before the thread sleeps, because waking a thread takes longer than most
  /// operations.
  ///
  /// Workers do not poll, because other workers replace them while they wait.
  private func isSoon(_ goal: WaitingGoal) -> Bool {
    guard Worker.current == nil else { return false }
    for _ in 0..<Self.looksBeforeSleeping {
      headway_pause()
      if state.current.hasReached(goal) { return true }
    }
    return false
  }

  /// About 10 microseconds.
  private static let looksBeforeSleeping = 400

  /// Registers a waiter; returns false if there is nothing to wait for.
  final func addWaiter(_ waiter: Waiter, for goal: WaitingGoal) -> Bool {
    links.withLock { links in
      // The announcement and the end are read-modify-write operations on one word. Either the thread that finishes the
      // operation sees the waiter, or the waiter sees that the operation has ended.
      let isReached = state.announceWaiter().hasReached(goal)
      guard !isReached || (goal == .reported && (links.details?.pointee.reportCount ?? 0) > 0) else { return false }
      links.detailsCreatedIfNeeded.pointee.waiters.append(waiter, for: goal)
      return true
    }
  }

  /// Wakes the waiters whose goal is *settled*.
  ///
  /// Also wakes all other waiters if there are no observers to notify.
  final func wakeWaiters(settledFrom before: OperationWord, isNotified: Bool) {
    guard before.hasWaiters else { return }
    let waiters = links.withLock { links -> [Waiter] in
      guard let details = links.details else { return [] }
      let goal: WaitingGoal = !isNotified ? .settled : details.pointee.reportCount > 0 ? .notified : .reported
      return details.pointee.waiters.take(reaching: goal)
    }
    for waiter in waiters { waiter.wake() }
  }

  /// Wakes the waiters that wait for the observers to be notified.
  ///
  /// Wakes the waiters that wait for reports, if all reports have returned.
  final func wakeWaiters(notifiedFrom before: OperationWord) { wakeWaiters(settledFrom: before, isNotified: true) }
}
