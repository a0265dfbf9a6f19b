import CHeadway
import Synchronization

extension OperationExtensions {
  /// Suspends the task until the operation has finished, its observers have been notified, and
  /// ``OperationQueueExtensions/onFailure`` of its queue has been called if it failed.
  ///
  /// Inside an operation, it does not wait for that call, which may wait for the operation; nor does it in a task that
  /// such a call has made, before that returns.
  ///
  /// Holds no thread. The operation, and what it depends on, run at no lower quality of service than the priority of
  /// the task that waits says, if that is not the medium one, which tasks have of which nothing was said.
  ///
  /// If the task of an operation waits for that operation itself, or for a group that the operation is in, it waits
  /// until it is cancelled. This is reported as ``OperationQueueEvent/waitsInCycle(_:)``.
  ///
  /// - Throws: `CancellationError` when the waiting task is cancelled; the operation goes on.
  /// - Complexity: O(1), even if the waiting task is cancelled.
  @_disfavoredOverload
  public func finished() async throws {
    let goal = goalOfTask
    try await withPriority(raising: raiseQuality) {
      try await WaitGraph.suspending(on: self) {
        try await WaiterList.suspend(
          adding: { waiter in self.addWaiter(waiter, for: goal) },
          removing: { identifier in self.links.withLock { $0.details?.waiters.remove(identifier) } })
      }
    }
  }

  /// Suspends the task until the operation has finished, and says what went wrong.
  ///
  /// Holds no thread; does not suspend when the operation has finished. Raises its quality of service as ``finished()``
  /// does.
  ///
  /// - Throws: What made the operation fail; `CancellationError` when it was cancelled, or when the waiting task is:
  ///   then the operation goes on.
  @_disfavoredOverload
  public func finishedSuccessfully() async throws {
    if outcome == nil || (!isReported && goalOfTask == .reported) { try await finished() }
    try requireSuccess()
  }
}

extension Operation {
  /// Suspends the task until the operation has finished, whether or not the task is cancelled.
  ///
  /// Raises no quality of service.
  final func ended() async {
    let goal = goalOfTask
    await WaiterList.suspend { waiter in addWaiter(waiter, for: goal) }
  }

  /// Has `handler`, which leads to no users' code, called once when the operation has finished; at once if it has.
  final func callWhenEnded(_ handler: @escaping @Sendable () -> Void) {
    if !addWaiter(.handler(handler), for: .notified) { handler() }
  }

  /// Throws what made the operation, which has finished, fail; or that it was cancelled.
  final func requireSuccess() throws {
    switch outcome {
    case .success: return
    case .failure(let error): throw error
    case .cancelled: throw CancellationError()
    case nil: preconditionFailure("an outcome is asked for before the end")
    }
  }
}

extension Operation {
  /// What a task waits for: inside an operation not for reports, which may wait for that operation.
  fileprivate final var goalOfTask: WaitingGoal {
    if ReportScope.isInside(self) { return .settled }
    return ThreadContext.isInsideOperation ? .notified : .reported
  }

  /// Whether all that a task can wait for has happened.
  final var isReported: Bool {
    state.current.isNotified && links.withLock { ($0.details?.reportCount ?? 0) == 0 }
  }

  /// What ``waitUntilFinished()`` does.
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
    WaitGraph.block(on: self) { waiter in addWaiter(waiter, for: goal) }
  }

  /// Looks for the end for an instant, without falling asleep: to be woken takes longer than most operations do.
  ///
  /// Not on workers, which others replace while they wait.
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

  /// Registers a waiter; false if there is nothing to wait for.
  final func addWaiter(_ waiter: Waiter, for goal: WaitingGoal) -> Bool {
    links.withLock { links in
      // The announcement and the end are read-modify-writes of one word: either the thread that ends the operation sees
      // the waiter, or the waiter sees the end.
      let isReached = state.announceWaiter().hasReached(goal)
      guard !isReached || (goal == .reported && (links.details?.reportCount ?? 0) > 0) else { return false }
      links.detailsCreatedIfNeeded.waiters.append(waiter, for: goal)
      return true
    }
  }

  /// Wakes those who wait for the end to be settled, and the others if there are no observers to notify.
  final func wakeWaiters(settledFrom before: OperationWord, isNotified: Bool) {
    guard before.hasWaiters else { return }
    let waiters = links.withLock { links -> [Waiter] in
      guard let details = links.details else { return [] }
      return details.waiters.take(reaching: !isNotified ? .settled : details.reportCount > 0 ? .notified : .reported)
    }
    for waiter in waiters { waiter.wake() }
  }

  /// Wakes all who wait for the end.
  final func wakeWaiters(notifiedFrom before: OperationWord) { wakeWaiters(settledFrom: before, isNotified: true) }
}
