import Synchronization

extension OperationQueue {
  /// Implements ``waitUntilAllOperationsAreFinished()``.
  final func blockUntilEmpty() {
    let endless = ThreadContext.operations.first {
      $0.isInMain && $0.endsWithMain && $0.state.current.phase == .executing && $0.queue === self
    }
    require(
      endless == nil,
      "waitUntilAllOperationsAreFinished() on \(label) from inside one of its operations: it would wait for itself.")
    KnownWait.block(on: self) { addWaiter($0) }
    var patience = CompletionPatience()
    patience.wait(for: self)
  }

  /// Suspends the task like ``OperationQueueProtocol/untilAllOperationsAreFinished()``, whether or not the task is
  /// cancelled.
  final func emptied() async {
    let includesReports = ReportScope.isAwaited(of: self)
    await KnownWait.suspending(on: self) {
      await WaiterList.suspend { addWaiter($0, includingReports: includesReports) }
    }
    if includesReports { await observersWereNotified() }
  }

  /// Suspends the task until the queue is empty, or the task is cancelled.
  ///
  /// - Parameter includesReports: Whether to wait also until the ends are reported.
  /// - Throws: `CancellationError` if the task is cancelled.
  final func untilEmpty(includingReports includesReports: Bool) async throws {
    try await withPriority(raising: raiseAll) {
      try await KnownWait.suspending(on: self) {
        try await WaiterList.suspend(
          adding: { waiter in self.raiseAll { self.addWaiter(waiter, includingReports: includesReports) } },
          removing: { identifier in self.state.withLock { $0.removeWaiter(identifier) } })
      }
    }
  }

  /// Suspends the task until the observers have been notified of all changes so far.
  fileprivate final func observersWereNotified() async {
    guard let observers = state.withLock({ $0.followers.observers }) else { return }
    await WaiterList.suspend { observers.addWaiter($0) }
  }

  /// Has the queue call `handler` once when it becomes empty, on the thread that makes it empty.
  ///
  /// - Returns: False if the queue is empty now. In that case, the handler is not called.
  final func callWhenEmpty(_ handler: @escaping @Sendable () -> Void) -> Bool { addWaiter(.handler(handler)) }

  /// Registers a waiter.
  ///
  /// - Parameters:
  ///   - waiter: The waiter to add.
  ///   - includesReports: Whether the waiter also waits until the ends are reported.
  /// - Returns: False if there is nothing to wait for.
  fileprivate final func addWaiter(_ waiter: Waiter, includingReports includesReports: Bool = false) -> Bool {
    update(collectingBatches: true) { state in
      guard !state.admission.isDone || (includesReports && !state.reports.isEmpty) else { return false }
      if includesReports { state.reportWaiters.append(waiter) } else { state.waiters.append(waiter) }
      return true
    }
  }
}

extension OperationQueueProtocol {
  /// Suspends the task until the queue is empty, and its observers and handlers have been notified.
  ///
  /// When the method returns, ``failureHandler`` has been called for each operation that failed, and the observers of
  /// the queue have been notified. Completion blocks may still run. Operations added during the wait prolong it. The
  /// wait blocks no thread. If the priority of the waiting task is not `.medium`, the queue's operations run at least
  /// at the matching quality of service.
  ///
  /// A call of ``failureHandler``, or of an observer of the queue, can block until a task that it has created has
  /// waited for the queue. That wait does not include the call. A wait inside an operation does not include the call
  /// either, because the call may wait for the operation.
  ///
  /// If the task of an operation waits for the operation's own queue, or for the queue of a group that it is in, it
  /// waits until it is cancelled. This is reported as ``OperationQueueEvent/deadlocked(_:)``.
  ///
  /// - Throws: `CancellationError` if the waiting task is cancelled. The operations continue.
  /// - Complexity: O(1), even if the waiting task is cancelled.
  @_disfavoredOverload
  public func untilAllOperationsAreFinished() async throws {
    let includesReports = ReportScope.isAwaited(of: self)
    try await untilEmpty(includingReports: includesReports)
    if includesReports { await observersWereNotified() }
  }
}
