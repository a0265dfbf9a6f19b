/// How operations of a queue get their resources.
///
/// An operation requests them when a worker would start it. If they are in use, the operation waits in the place
/// *gated*, without a concurrency slot. When they might be available, its queue tries again. If the operation can start
/// now, it gets its slot and its resources together, and is *granted*. From then on, a suspension or a lower limit no
/// longer holds it back, and the next worker of its class claims it. If the operation can't start now, it does not
/// delay others: it becomes one of the ready operations, and requests its resources again when its turn comes. It keeps
/// its position in the order of requests.
///
/// See `Docs/decisions/0033-policies.md`.
extension Admission {
  /// Requests the resources of an operation that is about to start.
  ///
  /// - Returns: True if it has them, or needs none. If not, it waits for them.
  mutating func acquireResources(of operation: Operation) -> Bool {
    guard let gate = operation.resourceGate, operation.state.current.isStartable else { return true }
    if acquire(gate, for: operation) { return true }
    operation.admission.place = .gated
    return false
  }

  /// Gives a request its resources, or makes it wait.
  ///
  /// If the request waits, its owner raises the operations that it waits for. If later requests wait for this one, the
  /// owner itself is raised. A thread that raises an operation marks it and then reads its request. Therefore, either
  /// this function finds the mark, or the other thread finds that the request waits.
  private mutating func acquire(_ gate: ResourceGate, for operation: Operation) -> Bool {
    let (isGranted, levelBehind) = ResourceTable.shared.withLock { ($0.acquire(gate), $0.levelBehind(gate)) }
    if levelBehind > 0 { _ = operation.state.raiseQuality(level: levelBehind) }
    if !isGranted {
      let level = placement.raisingLevel(of: operation.state.current)
      if WorkerClass(raisingLevel: level) != .background { raised.append(Raised(operation: operation, level: level)) }
    }
    return isGranted
  }

  /// Releases the resources of an operation, or ends its wait for them.
  ///
  /// Afterward, ``offered`` contains the operations that might get them.
  mutating func releaseResources(of operation: Operation) {
    guard let gate = operation.resourceGate else { return }
    offered += ResourceTable.shared.withLock { table in
      (table.release(gate) + table.withdraw(gate)).map(\.target)
    }
  }

  /// Ends the wait of an operation for its resources, if it waits.
  ///
  /// It keeps its position in the order of requests.
  mutating func withdrawRequest(of operation: Operation) {
    guard let gate = operation.resourceGate else { return }
    offered += ResourceTable.shared.withLock { $0.withdraw(gate).map(\.target) }
  }

  /// Gives an operation the resources that it has waited for, if it can start now.
  mutating func offerResources(to operation: Operation) {
    guard operation.admission.place == .gated, let gate = operation.resourceGate else { return }
    let mayStart = !startsNone && started < limit && allowance > 0 && laneMayStart(operation)
    guard mayStart, operation.state.current.isStartable else {
      withdrawRequest(of: operation)
      return operation.hasPause ? endPause(of: operation) : becameReady(operation)
    }
    guard acquire(gate, for: operation) else { return }
    operation.admission.place = .granted
    insertGranted(operation)
    changeGrantedCount(by: 1)
    grantInLane(operation)
    // It is as good as started.
    if allowance != .max { allowance -= 1 }
  }

  /// Removes and returns a granted operation, to start it.
  mutating func nextGranted(for workerClass: WorkerClass, at now: PolicyTime) -> Operation? {
    while let operation = granted.popFirst(workerClass)?.operation {
      changeGrantedCount(by: -1)
      let isOverdue = operation.isOverdue(at: now)
      if !isOverdue, operation.hasPause || operation.state.claim() { return operation }
      // Its time limit has passed, a dependency was added to it, or it has ended.
      returnAllowance()
      operation.admission.place = isOverdue ? .gated : .waiting
      endGrantInLane(of: operation)
      releaseResources(of: operation)
      noteHeldBack(operation)
    }
    return nil
  }

  private mutating func insertGranted(_ operation: Operation) {
    operation.admission.workerClass = workerClass(of: operation)
    granted.insert(operation, level: QueuePriority.normal.level)
  }

  /// Moves a granted operation to the class that it belongs to now.
  mutating func moveGranted(_ operation: Operation) {
    granted.remove(operation)
    insertGranted(operation)
  }

  /// Removes an operation from the granted ones.
  mutating func removeGranted(_ operation: Operation) {
    granted.remove(operation)
    changeGrantedCount(by: -1)
    endGrantInLane(of: operation)
    returnAllowance()
  }

  /// Lets another operation start instead of a granted one.
  private mutating func returnAllowance() { if allowance != .max { allowance += 1 } }

  /// Removes and returns the operations that might get resources.
  mutating func takeOffered() -> [Operation] {
    defer { offered = [] }
    return offered
  }
}

extension OperationQueue {
  /// Offers resources to operations, whose queues may all be different.
  ///
  /// Called with no lock held. Each offer that a queue can't use leads to others, so this is a loop.
  ///
  /// - Parameters:
  ///   - operations: The operations that may get resources.
  ///   - effects: Receives the steps that can run user code.
  static func offerResources(to operations: [Operation], leaving effects: inout Effects) {
    var waiting = operations
    while let operation = waiting.popLast() {
      if operation.runsUserCodeWhenFreed { effects.release(operation) }
      guard let queue = operation.queue else { continue }
      waiting += queue.update(leaving: &effects) { state in
        state.admission.offerResources(to: operation)
        return state.admission.takeOffered()
      }
    }
  }
}

/// How operations of a batch get their resources.
///
/// The batch's thread requests them when it would begin the operation, and releases them when the operation has ended.
/// It needs no lock of a queue for that. A request that can't be granted does not wait, because the operation is not in
/// the place *gated*: the thread takes the queue's lock, and starts the operation like one outside a batch.
extension Operation {
  /// Begins an operation in a batch, if it has its resources and starts plainly.
  ///
  /// Called on the batch's thread.
  ///
  /// - Parameter batch: The batch, which receives the steps that can run user code.
  /// - Returns: Whether the operation has begun.
  @inline(__always)
  final func beginPlainly(in batch: Batch) -> Bool { hasGate ? beginWithResources(in: batch) : state.beginPlainly() }

  private func beginWithResources(in batch: Batch) -> Bool {
    guard let gate = resourceGate, ResourceTable.shared.acquireIfAvailable(gate) else { return false }
    batch.gate = .passUnretained(gate)
    if state.beginPlainly() { return true }
    releaseResources(in: batch, leaving: &batch.effects)
    return false
  }

  /// Releases the resources of the operation that has ended in a batch.
  ///
  /// Called on the batch's thread.
  ///
  /// - Parameters:
  ///   - batch: The batch.
  ///   - effects: Receives the steps that can run user code.
  final func releaseResources(in batch: Batch, leaving effects: inout Effects) {
    let offered = batch.gate.take()?._withUnsafeGuaranteedRef { ResourceTable.shared.release($0) } ?? []
    if !offered.isEmpty { OperationQueue.offerResources(to: offered.map(\.target), leaving: &effects) }
  }
}
