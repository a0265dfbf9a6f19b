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
    var patience = CompletionPatience()
    patience.wait(for: self)
  }

  /// Suspends the task as ``OperationQueueExtensions/finished()`` does, whether or not the task is cancelled.
  final func emptied() async {
    let includesReports = ReportScope.isAwaited(of: self)
    await WaiterList.suspend { addWaiter($0, includingReports: includesReports) }
    if includesReports { await observersWereNotified() }
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

  /// Registers a waiter.
  ///
  /// - Parameters:
  ///   - waiter: The waiter.
  ///   - includesReports: Whether it waits until the ends are reported, too.
  /// - Returns: False if there is nothing to wait for.
  fileprivate final func addWaiter(_ waiter: Waiter, includingReports includesReports: Bool = false) -> Bool {
    update(collectingBatches: true) { state in
      guard !state.admission.isDone || (includesReports && !state.reports.isEmpty) else { return false }
      if includesReports { state.reportWaiters.append(waiter) } else { state.waiters.append(waiter) }
      return true
    }
  }
}

extension OperationQueueExtensions {
  /// Suspends the task until the queue holds nothing, and everything has been notified of what happened in it.
  ///
  /// When it returns, ``onFailure`` has been called for each operation that failed, and the observers of the queue have
  /// been notified. Completion blocks may still run. Operations added meanwhile prolong the wait. Holds no thread. If
  /// the waiting task has another priority than the medium one, what the queue holds runs at no lower quality of
  /// service.
  ///
  /// A call of ``onFailure``, or of an observer of the queue, may block until a task that it has created has waited for
  /// the queue: that wait does not include the call. Nor does a wait inside an operation, for which such a call may
  /// wait.
  ///
  /// If the task of an operation waits for the operation's own queue, or for the queue of a group that it is in, it
  /// waits until it is cancelled. This is reported as ``OperationQueueEvent/waitsInCycle(_:)``.
  ///
  /// - Throws: `CancellationError` when the waiting task is cancelled; the operations go on.
  /// - Complexity: O(1), even if the waiting task is cancelled.
  @_disfavoredOverload
  public func finished() async throws {
    let includesReports = ReportScope.isAwaited(of: self)
    try await withPriority(raising: raiseAll) {
      try await WaitGraph.suspending(on: self) {
        try await WaiterList.suspend(
          adding: { waiter in self.raiseAll { self.addWaiter(waiter, includingReports: includesReports) } },
          removing: { identifier in self.state.withLock { $0.removeWaiter(identifier) } })
      }
    }
    if includesReports { await observersWereNotified() }
  }
}
