import CHeadway
import Synchronization

extension OperationExtensions {
  /// Suspends the task until the operation has finished.
  ///
  /// Holds no thread. The operation, and what it depends on, run at no lower quality of service than the priority of
  /// the task that waits says, if that is not the medium one, which tasks have of which nothing was said.
  ///
  /// - Throws: `CancellationError` when the waiting task is cancelled; the operation goes on.
  @_disfavoredOverload
  public func finished() async throws {
    try await withPriority(raising: raiseQuality) {
      try await WaiterList.suspend(
        adding: { waiter in self.addWaiter(waiter, for: .notified) },
        removing: { identifier in self.links.withLock { $0.details?.waiters.remove(identifier) } })
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
    if outcome == nil { try await finished() }
    try requireSuccess()
  }
}

extension Operation {
  /// Suspends the task until the operation has finished, whether or not the task is cancelled.
  ///
  /// Raises no quality of service.
  final func ended() async {
    await WaiterList.suspend { waiter in addWaiter(waiter, for: .notified) }
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
  /// What a waiter waits for.
  fileprivate enum WaitingGoal {
    /// Dependents are released and the queue is left: all that a thread can wait for while it notifies the observers,
    /// or runs other code of users' that the end of the operation leads to.
    case settled
    /// The observers have been notified, too.
    case notified

    func isReached(_ word: OperationWord) -> Bool {
      switch self {
      case .settled: word.isSettled
      case .notified: word.isNotified
      }
    }
  }

  /// What ``waitUntilFinished()`` does.
  final func blockUntilFinished() {
    let word = state.current
    guard !word.isNotified else { return }
    let goal = NotificationContext.isNotifying(self) ? WaitingGoal.settled : .notified
    guard !goal.isReached(word) else { return }
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
      if goal.isReached(state.current) { return true }
    }
    return false
  }

  /// About 10 microseconds.
  private static let looksBeforeSleeping = 400

  /// Registers a waiter; false if there is nothing to wait for any more.
  fileprivate final func addWaiter(_ waiter: Waiter, for goal: WaitingGoal) -> Bool {
    links.withLock { links in
      // The announcement and the end are read-modify-writes of one word: either the thread that ends the operation sees
      // the waiter, or the waiter sees the end.
      guard !goal.isReached(state.announceWaiter()) else { return false }
      switch goal {
      case .settled: links.madeDetails.settlingWaiters.append(waiter)
      case .notified: links.madeDetails.waiters.append(waiter)
      }
      return true
    }
  }

  /// Wakes those who wait for the end to be settled, and the others if there is nobody to notify.
  final func wakeWaiters(settledFrom before: OperationWord, isNotified: Bool) {
    guard before.hasWaiters else { return }
    let waiters = links.withLock { links in
      (links.details?.settlingWaiters.removeAll() ?? []) + (isNotified ? links.details?.waiters.removeAll() ?? [] : [])
    }
    for waiter in waiters { waiter.wake() }
  }

  /// Wakes all who wait for the end.
  final func wakeWaiters(notifiedFrom before: OperationWord) { wakeWaiters(settledFrom: before, isNotified: true) }
}
