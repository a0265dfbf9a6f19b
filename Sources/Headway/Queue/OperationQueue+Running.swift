import Dispatch
import Synchronization

extension OperationQueue: PoolWork {
  // MARK: What operations tell

  final func operationBecameReady(_ operation: Operation) {
    change { books in
      let place = operation.admission.place
      books.admission.becameReady(operation)
      if place != operation.admission.place { books.record { .ready(operation) } }
    }
  }

  final func operationWasCancelled(_ operation: Operation) { change { $0.admission.leave(operation) } }

  final func operationChangedPriority(_ operation: Operation) { change { $0.admission.priorityChanged(operation) } }

  /// The operation's quality of service has risen: if it is ready, or on its way to a worker, it goes to a worker of
  /// its class at once.
  final func operationWasRaised(_ operation: Operation) {
    let handOver = operation.links.withLock { $0.details?.handOver }
    if let handOver { return handOver.send() }
    let claimed = change { books -> Operation? in
      // The queue's own workers will come for it in its turn; and other executors have no classes.
      let quality = books.qualityOfService
      guard books.underlyingQueue == nil, books.executor == nil,
        operation.effectiveQuality(in: quality).workerClass != quality.workerClass,
        let claimed = books.admission.take(operation)
      else { return nil }
      books.record { .started(claimed) }
      return claimed
    }
    guard let claimed else { return }
    startUnit(of: claimed)
    HandOver(claimed, of: self).send()
  }

  final func operationFinished(_ operation: Operation) {
    // Before the operation leaves the books, so that whoever waits for the queue to be empty finds the unit completed.
    trackedProgress?.completeUnit(of: operation)
    let comesBack = ThreadContext.keepPermission(for: operation)
    let (reference, waiters) = change { books -> (OperationReference, [Waiter]) in
      if comesBack { books.admission.give(.kept) }
      let reference = books.admission.finished(operation)
      books.record { .finished(operation) }
      return (reference, books.admission.count == 0 ? books.waiters.removeAll() : [])
    }
    for waiter in waiters { waiter.wake() }
    reference.release()
  }

  // MARK: Workers

  final func sendForWorkers(_ call: Call) {
    if let executor = call.executor { return executor.submit(self, count: call.permissions) }
    guard let underlyingQueue = call.underlyingQueue else {
      return WorkerPool.shared.submit(self, count: call.permissions, on: call.workerClass)
    }
    for _ in 0..<call.permissions {
      underlyingQueue.async { _ = self.runNext() }
    }
  }

  /// A worker has come, with one permission.
  package final func runOnWorker(atMost count: Int) -> Bool { runOnWorker(atMost: count, holdsPermission: true) }

  package final func threadLimitWasReached(_ limit: Int) { change { $0.record { .threadLimitReached(limit: limit) } } }

  /// A worker has come without one.
  final func runWithoutPermission(atMost count: Int) -> Bool { runOnWorker(atMost: count, holdsPermission: false) }

  private func runOnWorker(atMost count: Int, holdsPermission: Bool) -> Bool {
    let worker = Worker.current
    var visit = Visit(of: self, by: worker, holdsPermission: holdsPermission)
    return visit.run(atMost: count)
  }

  /// Runs the next operation on a thread that does not come back for another; false if there is none to run.
  private func runNext() -> Bool {
    let operation = change { books -> Operation? in
      books.admission.take(.sent)
      guard let operation = books.admission.next() else { return nil }
      if operation.admission.place == .running { books.record { .started(operation) } }
      return operation
    }
    guard let operation else { return false }
    startUnit(of: operation)
    run(operation, comesBack: false)
    return true
  }

  final func startUnit(of operation: Operation) { trackedProgress?.startUnit(of: operation) }

  /// Runs an operation that has been claimed.
  @discardableResult
  final func run(_ operation: Operation, comesBack: Bool) -> Bool {
    ThreadContext.run(operation, in: self, comesBack: comesBack) { operation.start() }
  }

  /// The calling thread, a worker that was counted as coming back, is about to block.
  final func workerWillNotComeBack() { change { $0.admission.take(.kept) } }

  // MARK: Waiting

  /// What ``waitUntilAllOperationsAreFinished()`` does.
  final func blockUntilEmpty() {
    require(
      !ThreadContext.isInside(self),
      "waitUntilAllOperationsAreFinished() on \(label) from inside one of its operations: it would wait for itself.")
    WaitGraph.block(on: self) { addWaiter($0) }
  }

  fileprivate final func addWaiter(_ waiter: Waiter) -> Bool {
    look { books in
      guard books.admission.count > 0 else { return false }
      books.waiters.append(waiter)
      return true
    }
  }
}

extension OperationQueueExtensions {
  /// Suspends the task until the queue holds nothing.
  ///
  /// Operations added meanwhile prolong it. Holds no thread.
  ///
  /// - Throws: `CancellationError` when the waiting task is cancelled; the operations go on.
  public func finished() async throws {
    try await WaiterList.suspend(
      adding: { waiter in self.addWaiter(waiter) },
      removing: { identifier in self.books.withLock { $0.waiters.remove(identifier) } })
  }
}
