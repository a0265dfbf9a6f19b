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
extension QueuePolicies {
  /// Requests the resources of an operation that is about to start.
  ///
  /// - Returns: True if it has them, or needs none. If not, it waits for them.
  func acquireResources(of operation: Operation, _ admission: inout Admission) -> Bool {
    guard let gate = operation.resourceGate, operation.state.current.isStartable else { return true }
    if acquire(gate, for: operation, &admission) { return true }
    operation.admission.place = .gated
    return false
  }

  /// Gives a request its resources, or makes it wait.
  ///
  /// If the request waits, its owner raises the operations that it waits for. If later requests wait for this one, the
  /// owner itself is raised. A thread that raises an operation marks it and then reads its request. Therefore, either
  /// this function finds the mark, or the other thread finds that the request waits.
  private func acquire(_ gate: ResourceGate, for operation: Operation, _ admission: inout Admission) -> Bool {
    let (isGranted, levelBehind) = ResourceTable.shared.withLock { ($0.acquire(gate), $0.levelBehind(gate)) }
    if levelBehind > 0 { _ = operation.state.raiseQuality(level: levelBehind) }
    if !isGranted {
      let level = admission.placement.raisingLevel(of: operation.state.current)
      if WorkerClass(raisingLevel: level) != .background {
        admission.raised.append(Admission.Raised(operation: operation, level: level))
      }
    }
    return isGranted
  }

  /// Releases the resources of an operation, or stops its wait for them.
  ///
  /// Afterward, ``offered`` contains the operations that might get them.
  func releaseResources(of operation: Operation) {
    guard let gate = operation.resourceGate else { return }
    offered += ResourceTable.shared.withLock { table in
      (table.release(gate) + table.withdraw(gate)).map(\.target)
    }
  }

  // It keeps its position in the order of requests.
  func withdraw(_ operation: Operation, from _: inout Admission) { withdrawRequest(of: operation) }

  /// Ends the wait of an operation for its resources, if it waits.
  private func withdrawRequest(of operation: Operation) {
    guard let gate = operation.resourceGate else { return }
    offered += ResourceTable.shared.withLock { $0.withdraw(gate).map(\.target) }
  }

  // Offers resources to operations of this queue immediately, before other operations take the slot.
  func offerReleased(in queue: OperationQueue, _ admission: inout Admission) {
    guard !offered.isEmpty else { return }
    var elsewhere: [Operation] = []
    while let operation = offered.popLast() {
      // The home of an operation is set before it waits.
      if operation.queueLinks.home?.toOpaque() == Unmanaged.passUnretained(queue).toOpaque() {
        offerResources(to: operation, &admission)
        kept.append(operation)
      } else {
        elsewhere.append(operation)
      }
    }
    offered = elsewhere
  }

  /// Gives an operation the resources that it has waited for, if it can start now.
  fileprivate func offerResources(to operation: Operation, _ admission: inout Admission) {
    guard operation.admission.place == .gated, let gate = operation.resourceGate else { return }
    guard admission.hasRoom, laneMayStart(operation), operation.state.current.isStartable else {
      withdrawRequest(of: operation)
      return operation.hasPause ? admission.endPause(of: operation) : admission.becameReady(operation)
    }
    guard acquire(gate, for: operation, &admission) else { return }
    operation.admission.place = .granted
    insertGranted(operation, admission)
    admission.changeGrantedCount(by: 1)
    grantInLane(operation, &admission)
    // It is as good as started.
    if admission.allowance != .max { admission.allowance -= 1 }
  }

  func grantedCount(_ workerClass: WorkerClass) -> Int { grantedOperations.count(workerClass) }

  func nextGranted(for workerClass: WorkerClass, at now: ClockTime, in admission: inout Admission) -> Operation? {
    while let operation = grantedOperations.popFirst(workerClass)?.operation {
      admission.changeGrantedCount(by: -1)
      let isOverdue = operation.isOverdue(at: now)
      if !isOverdue, operation.hasPause || operation.state.claim() { return operation }
      // Its time limit has passed, a dependency was added to it, or it has ended.
      returnAllowance(of: &admission)
      operation.admission.place = isOverdue ? .gated : .waiting
      endGrantInLane(of: operation, &admission)
      releaseResources(of: operation)
      admission.noteHeldBack(operation)
    }
    return nil
  }

  private func insertGranted(_ operation: Operation, _ admission: borrowing Admission) {
    operation.admission.workerClass = admission.workerClass(of: operation)
    grantedOperations.insert(operation, level: QueuePriority.normal.level)
  }

  func moveGranted(_ operation: Operation, in admission: inout Admission) {
    grantedOperations.remove(operation)
    insertGranted(operation, admission)
  }

  func removeGranted(_ operation: Operation, from admission: inout Admission) {
    grantedOperations.remove(operation)
    admission.changeGrantedCount(by: -1)
    endGrantInLane(of: operation, &admission)
    returnAllowance(of: &admission)
  }

  /// Lets another operation start instead of a granted one.
  private func returnAllowance(of admission: inout Admission) {
    if admission.allowance != .max { admission.allowance += 1 }
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
        guard let policies = state.admission.policies else { return [] }
        policies.offerResources(to: operation, &state.admission)
        defer { policies.offered = [] }
        return policies.offered
      }
    }
  }
}

/// How operations of a batch get their resources.
///
/// The batch's thread requests the resources when it would begin the operation. It releases them when the operation has
/// ended. Both steps need no queue lock. A request that can't be granted does not wait, because the operation is not in
/// the place *gated*. Instead, the thread takes the queue's lock and starts the operation as it does outside a batch.
extension Operation {
  /// Begins an operation with a gate in a batch, if it has its resources and starts plainly.
  final func beginWithGate(in batch: Batch) -> Bool {
    if gateKind == .key { return state.beginPlainly() }
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
  ///   - batch: The batch whose operation has ended.
  ///   - effects: Receives the steps that can run user code.
  final func releaseResources(in batch: Batch, leaving effects: inout Effects) {
    let offered = batch.gate.take()?._withUnsafeGuaranteedRef { ResourceTable.shared.release($0) } ?? []
    if !offered.isEmpty { OperationQueue.offerResources(to: offered.map(\.target), leaving: &effects) }
  }
}
