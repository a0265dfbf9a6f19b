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

  /// Suspends the task until the queue holds nothing, whether or not the task is cancelled.
  final func emptied() async { await WaiterList.suspend { addWaiter($0) } }

  /// Has `handler` called once when the queue holds nothing, on the thread by which that came about.
  ///
  /// - Returns: False if it holds nothing now; then the handler is not called.
  final func callWhenEmpty(_ handler: @escaping @Sendable () -> Void) -> Bool { addWaiter(.handler(handler)) }

  fileprivate final func addWaiter(_ waiter: Waiter) -> Bool {
    update(collectingBatches: true) { state in
      guard state.admission.count > 0 else { return false }
      state.waiters.append(waiter)
      return true
    }
  }
}

extension OperationQueueExtensions {
  /// Suspends the task until the queue holds nothing.
  ///
  /// Operations added meanwhile prolong it. Holds no thread. Unlike the wait for one operation, it raises no quality of
  /// service.
  ///
  /// - Throws: `CancellationError` when the waiting task is cancelled; the operations go on.
  @_disfavoredOverload
  public func finished() async throws {
    try await WaiterList.suspend(
      adding: { waiter in self.addWaiter(waiter) },
      removing: { identifier in self.state.withLock { $0.waiters.remove(identifier) } })
  }
}
