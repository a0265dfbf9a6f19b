import Dispatch
import Synchronization

extension OperationQueue: PoolWork {
  /// A worker that comes for this queue runs this many operations at most before it looks whether others wait for it.
  private static var operationsInOneRun: Int { 64 }

  // MARK: What operations tell

  final func operationBecameReady(_ operation: Operation) { change { $0.admission.becameReady(operation) } }

  final func operationWasCancelled(_ operation: Operation) { change { $0.admission.leave(operation) } }

  final func operationChangedPriority(_ operation: Operation) { change { $0.admission.priorityChanged(operation) } }

  final func operationFinished(_ operation: Operation) {
    // Before the operation leaves the books, so that whoever waits for the queue to be empty finds the unit completed.
    progress.completeUnit(of: operation)
    let comesBack = ThreadContext.keepPermission(for: operation)
    let (reference, waiters) = change { books -> (Unmanaged<Operation>, [Waiter]) in
      if comesBack { books.admission.keepPermission() }
      let reference = books.admission.finished(operation)
      return (reference, books.admission.count == 0 ? books.waiters.removeAll() : [])
    }
    for waiter in waiters { waiter.wake() }
    reference.release()
  }

  // MARK: Workers

  final func sendForWorkers(_ count: Int, _ underlyingQueue: DispatchQueue?) {
    guard let underlyingQueue else { return WorkerPool.shared.submit(self, count: count) }
    for _ in 0..<count {
      underlyingQueue.async { _ = self.runNext(usingPermission: true, comesBack: false) }
    }
  }

  /// A worker of the pool has come, with one permission.
  final func runOnWorker() {
    var holdsPermission = true
    for _ in 0..<Self.operationsInOneRun {
      guard let keeps = runNext(usingPermission: holdsPermission, comesBack: true) else { return }
      holdsPermission = keeps
    }
    // The worker goes; its permission, or a new one if there is work left, brings another, behind the pool's other
    // work.
    if holdsPermission { WorkerPool.shared.submit(self, count: 1) } else { change { _ in } }
  }

  /// Runs the next operation, if one may start.
  ///
  /// Answers whether the thread then holds a permission to come again, or nil if there was none to run.
  private func runNext(usingPermission: Bool, comesBack: Bool) -> Bool? {
    let operation = change { books in
      if usingPermission { books.admission.usePermission() }
      return books.admission.next()
    }
    guard let operation else { return nil }
    progress.startUnit(of: operation)
    return ThreadContext.run(operation, in: self, comesBack: comesBack) { operation.start() }
  }

  /// The calling thread, a worker that was counted as coming back, is about to block.
  final func workerWillNotComeBack() { change { $0.admission.usePermission() } }

  // MARK: Waiting

  /// Blocks the calling thread until the queue holds nothing.
  ///
  /// Operations added meanwhile prolong it.
  ///
  /// - Precondition: It is not called from inside an operation of this queue, which would wait for itself.
  public final func waitUntilAllOperationsAreFinished() {
    require(
      !ThreadContext.isInside(self),
      "waitUntilAllOperationsAreFinished() on \(label) from inside one of its operations: it would wait for itself.")
    WaiterList.block { addWaiter($0) }
  }

  /// Suspends the task until the queue holds nothing.
  ///
  /// Operations added meanwhile prolong it. Holds no thread.
  ///
  /// - Throws: `CancellationError` when the waiting task is cancelled; the operations go on.
  public final func finished() async throws {
    try await WaiterList.suspend(
      adding: { waiter in self.addWaiter(waiter) },
      removing: { identifier in self.books.withLock { $0.waiters.remove(identifier) } })
  }

  private func addWaiter(_ waiter: Waiter) -> Bool {
    books.withLock { books in
      guard books.admission.count > 0 else { return false }
      books.waiters.append(waiter)
      return true
    }
  }
}
