import Synchronization

extension OperationQueue {
  /// What ``waitUntilAllOperationsAreFinished()`` does.
  final func blockUntilEmpty() {
    let endless = ThreadContext.operations.first {
      $0.isInMain && $0.endsWithMain && $0.state.current.phase == .executing && $0.queue === self
    }
    require(
      endless == nil,
      "waitUntilAllOperationsAreFinished() on \(label) from inside one of its operations: it would wait for itself.")
    WaitGraph.block(on: self) { addWaiter($0) }
  }

  /// Suspends the task until the queue holds nothing, and all has been told of that, whether or not the task is
  /// cancelled.
  final func emptied() async {
    let isInside = ReportScope.isInside(self)
    await WaiterList.suspend { addWaiter($0, includingReports: !isInside) }
    if !isInside { await observersWereNotified() }
  }

  /// Suspends the task until the observers have been notified of what has happened.
  fileprivate final func observersWereNotified() async {
    guard let observers = state.withLock({ $0.observers }) else { return }
    await WaiterList.suspend { observers.addWaiter($0) }
  }

  /// Has `handler` called once when the queue holds nothing, on the thread by which that came about.
  ///
  /// - Returns: False if it holds nothing now; then the handler is not called.
  final func callWhenEmpty(_ handler: @escaping @Sendable () -> Void) -> Bool { addWaiter(.handler(handler)) }

  /// - Parameters:
  ///   - waiter: The waiter.
  ///   - includesReports: It waits for what is told of the operations that have ended, too.
  /// - Returns: Whether there is something to wait for.
  fileprivate final func addWaiter(_ waiter: Waiter, includingReports includesReports: Bool = false) -> Bool {
    update(collectingBatches: true) { state in
      guard state.admission.count > 0 || (includesReports && state.reportCount > 0) else { return false }
      if includesReports { state.reportWaiters.append(waiter) } else { state.waiters.append(waiter) }
      return true
    }
  }
}

extension OperationQueueExtensions {
  /// Suspends the task until the queue holds nothing, ``onFailure`` has been called for each operation that failed, and
  /// the observers of the queue have been notified.
  ///
  /// Operations added meanwhile prolong it. Holds no thread. Unlike the wait for one operation, it raises no quality of
  /// service.
  ///
  /// In a task that ``onFailure`` or an observer of the queue has made, and that waits before that call returns, the wait
  /// ends when the queue holds nothing: the call may wait for the task.
  ///
  /// - Throws: `CancellationError` when the waiting task is cancelled; the operations go on.
  public func finished() async throws {
    let isInside = ReportScope.isInside(self)
    try await WaiterList.suspend(
      adding: { waiter in self.addWaiter(waiter, includingReports: !isInside) },
      removing: { identifier in
        self.state.withLock { $0.waiters.remove(identifier) ?? $0.reportWaiters.remove(identifier) }
      })
    if !isInside { await observersWereNotified() }
  }
}
