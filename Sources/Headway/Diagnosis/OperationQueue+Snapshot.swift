import Synchronization

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
  /// - Returns: The state of the queue and its operations.
  /// - Complexity: O(*n*) in the number of operations that are described, plus the cost of their
  ///   ``OperationProtocol/diagnosis``. Each time the lock of the queue is acquired, at most 2,048
  ///   operations are collected.
  @_disfavoredOverload
  public func snapshot(maxOperationCount: Int = 1_000) -> OperationQueueSnapshot {
    makeSnapshot(maxOperationCount: maxOperationCount).snapshot
  }
}

extension OperationQueue {
  /// Describes all queues of the process, and Headway's threads.
  ///
  /// - Parameter maxOperationCount: How many operations of each queue to describe, at most.
  /// - Returns: The state of all queues and threads.
  /// - Complexity: O(*n*) in the number of queues and of described operations.
  public static func snapshotAll(maxOperationCount: Int = 1_000) -> ProcessSnapshot {
    let queues = LiveQueues.all
    let described = queues.map { $0.makeSnapshot(maxOperationCount: maxOperationCount) }
    var places = OperationPlaces(queues)
    for (queue, (snapshot, operations)) in described.enumerated() {
      for (position, operation) in operations.enumerated() where snapshot.operations[position].state == .executing {
        places.note(operation, at: position, ofQueue: queue)
      }
    }
    // The operations are alive until here, so no other operation can have one of their addresses.
    return ProcessSnapshot(
      queues: described.map(\.snapshot), threads: WorkerPool.threadSnapshots(places))
  }

  /// Describes the queue and returns the operations that the snapshot contains.
  fileprivate final func makeSnapshot(
    maxOperationCount: Int
  ) -> (snapshot: OperationQueueSnapshot, operations: [Operation]) {
    require(maxOperationCount >= 0, "a snapshot of \(label) was requested with \(maxOperationCount) operations.")
    let isClosed = isClosed
    var snapshot = update(collectingBatches: true) { state in
      OperationQueueSnapshot(
        name: state.name, isSuspended: state.admission.isSuspended, isClosed: isClosed,
        maxConcurrentOperationCount: state.admission.limit == .max ? nil : state.admission.limit,
        operationCount: state.admission.count, occupiedSlotCount: state.admission.started, operations: [])
    }
    let operations = maxOperationCount > 0 ? firstOperations(atMost: maxOperationCount) : []
    let times = instruments?.times
    snapshot.operations = operations.map { $0.makeSnapshot(times) }
    return (snapshot, operations)
  }

  /// Returns the first operations of the queue, in insertion order.
  ///
  /// Holds the lock for a limited time only, so operations can be added and finish in the meantime.
  final func firstOperations(atMost count: Int) -> [Operation] {
    var slices = MemberSlices()
    while slices.operations.count < count {
      let size = min(MemberSlices.size, count)
      slices.reserveCapacity(forNext: size)
      let isComplete = update(collectingBatches: true) { state in
        state.admission.makeOperations(atMost: size)
        return slices.appendNext(from: state.admission.members, atMost: size)
      }
      if isComplete { break }
    }
    update(collectingBatches: true) { slices.appendOthers(from: $0.admission.members, $0.admission.batches) }
    return slices.sorted(atMost: count)
  }
}

extension Operation {
  fileprivate final func makeSnapshot(_ times: OperationTimes?) -> OperationSnapshot {
    let ages = times?.ages(of: self)
    let progress = links.withLock { $0.details?.pointee.rareDetails?.progress }
    return OperationSnapshot(
      name: name, type: "\(type(of: self))", state: snapshotState, isCancelled: isCancelled, diagnosis: diagnosis,
      timeSinceAdded: ages?.added, timeSinceStarted: ages?.started,
      attempt: timedGate?.attempts?.number,
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

/// The positions of the queues and the operations in a snapshot.
private struct OperationPlaces {
  private var queues: [ObjectIdentifier: Int] = [:]
  private var operations: [UInt: (queue: Int, operation: Int)] = [:]

  init(_ queues: [OperationQueue]) {
    for (position, queue) in queues.enumerated() { self.queues[ObjectIdentifier(queue)] = position }
  }

  /// Notes an operation that is executing.
  ///
  /// A worker's last stored address can also belong to a waiting operation, because the memory of operations is reused.
  mutating func note(_ operation: Operation, at position: Int, ofQueue queue: Int) {
    operations[UInt(bitPattern: Unmanaged.passUnretained(operation).toOpaque())] = (queue, position)
  }

  /// The operation that a worker runs, or the queue that it visits if the snapshot does not contain the operation.
  func work(of worker: Worker) -> (queue: Int, operation: Int?)? {
    guard worker.status != .asleep else { return nil }
    if let place = operations[worker.running.load(ordering: .relaxed)] { return (place.queue, place.operation) }
    return worker.visit.flatMap { queues[$0] }.map { ($0, nil) }
  }
}

extension WorkerPool {
  /// Describes the threads of all classes.
  fileprivate static func threadSnapshots(_ places: OperationPlaces) -> [ProcessSnapshot.ThreadSnapshot] {
    WorkerClass.allCases.flatMap { workerClass in
      pool(of: workerClass).state.withLock { state in
        state.workers.map { worker in
          let work = places.work(of: worker)
          return ProcessSnapshot.ThreadSnapshot(
            name: worker.name, workClass: "\(workerClass)", state: worker.status.snapshot, queue: work?.queue,
            operation: work?.operation)
        }
      }
    }
  }
}

extension Worker.Status {
  fileprivate var snapshot: ProcessSnapshot.ThreadState {
    switch self {
    case .coming: .starting
    case .working: .working
    case .asleep: .sleeping
    case .blocked, .foundBlocked: .blocked
    }
  }
}
