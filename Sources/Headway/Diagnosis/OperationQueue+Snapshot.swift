extension OperationQueueProtocol {
  /// Describes the queue at this moment.
  ///
  /// ```swift
  /// let snapshot = queue.snapshot()
  /// print(snapshot.operationCount, snapshot.operations.first?.diagnosis ?? "")
  /// ```
  ///
  /// The queue continues while the snapshot is created. The description of each operation is exact, but operations can
  /// start and finish between two of them. An operation that is in the queue all the time is included once.
  ///
  /// - Parameter maxOperationCount: How many operations to describe, at most. The first ones are described.
  /// - Returns: The snapshot.
  /// - Complexity: O(*n*) in the number of operations that are described, plus the cost of their
  ///   ``OperationProtocol/diagnosis``. Each time the lock of the queue is acquired, at most 2,048
  ///   operations are collected.
  @_disfavoredOverload
  public func snapshot(maxOperationCount: Int = 1_000) -> OperationQueueSnapshot {
    makeSnapshot(maxOperationCount: maxOperationCount)
  }
}

extension OperationQueue {
  /// Describes all queues of the process, and Headway's threads.
  ///
  /// - Parameter maxOperationCount: How many operations of each queue to describe, at most.
  /// - Returns: The snapshot.
  /// - Complexity: O(*n*) in the number of queues and of described operations.
  public static func snapshotAll(maxOperationCount: Int = 1_000) -> OperationQueuesSnapshot {
    let queues = LiveQueues.all
    return OperationQueuesSnapshot(
      queues: queues.map { $0.makeSnapshot(maxOperationCount: maxOperationCount) },
      threads: WorkerPool.threadSnapshots(of: queues))
  }

  fileprivate final func makeSnapshot(maxOperationCount: Int) -> OperationQueueSnapshot {
    require(maxOperationCount >= 0, "a snapshot of \(label) was requested with \(maxOperationCount) operations.")
    let isClosed = isClosed
    var snapshot = update(collectingBatches: true) { state in
      OperationQueueSnapshot(
        name: state.name, isSuspended: state.admission.isSuspended, isClosed: isClosed,
        maxConcurrentOperationCount: state.admission.limit == .max ? nil : state.admission.limit,
        operationCount: state.admission.count, occupiedSlotCount: state.admission.started, operations: [])
    }
    if maxOperationCount > 0 {
      snapshot.operations = firstOperations(atMost: maxOperationCount).map { $0.makeSnapshot() }
    }
    return snapshot
  }

  /// Returns the first operations of the queue, in the order of adding.
  ///
  /// Holds the lock for a limited time only, so operations can be added and finish in the meantime.
  final func firstOperations(atMost count: Int) -> [Operation] {
    var slices = MemberSlices()
    while slices.operations.count < count {
      let isComplete = update(collectingBatches: true) { state in
        slices.appendNext(from: state.admission.members, atMost: min(MemberSlices.size, count))
      }
      if isComplete { break }
    }
    update(collectingBatches: true) { slices.appendOthers(from: $0.admission.members, $0.admission.batches) }
    return slices.sorted(atMost: count)
  }
}

/// An operation that can repeat its function.
protocol RepeatingOperation {
  var attempt: Int { get }
}

extension Operation {
  fileprivate final func makeSnapshot() -> OperationSnapshot {
    let progress = links.withLock { $0.details?.rareDetails?.progress }
    return OperationSnapshot(
      name: name, type: "\(type(of: self))", state: snapshotState, isCancelled: isCancelled, diagnosis: diagnosis,
      attempt: fullGate?.hasAttempts == true ? (self as? any RepeatingOperation)?.attempt : nil,
      fractionCompleted: progress.flatMap { $0.totalUnitCount > 0 ? $0.fractionCompleted : nil })
  }

  private var snapshotState: OperationState {
    switch state.current.phase {
    case .finished: .finished
    case .starting, .executing: .executing
    case .pending: isReady ? .ready : .pending
    }
  }
}

extension WorkerPool {
  /// Describes the threads of all classes.
  ///
  /// - Parameter queues: The queues of the snapshot.
  /// - Returns: A description of each thread.
  fileprivate static func threadSnapshots(of queues: [OperationQueue]) -> [OperationQueuesSnapshot.ThreadSnapshot] {
    var positions: [ObjectIdentifier: Int] = [:]
    for (position, queue) in queues.enumerated() { positions[ObjectIdentifier(queue)] = position }
    return WorkerClass.allCases.flatMap { workerClass in
      pool(of: workerClass).state.withLock { state in
        state.workers.map { worker in
          OperationQueuesSnapshot.ThreadSnapshot(
            name: worker.name, workClass: "\(workerClass)", state: worker.status.snapshot,
            queue: worker.status == .asleep ? nil : worker.visit.flatMap { positions[$0] })
        }
      }
    }
  }
}

extension Worker.Status {
  fileprivate var snapshot: OperationQueuesSnapshot.ThreadState {
    switch self {
    case .coming: .starting
    case .working: .working
    case .asleep: .sleeping
    case .blocked, .foundBlocked: .blocked
    }
  }
}
