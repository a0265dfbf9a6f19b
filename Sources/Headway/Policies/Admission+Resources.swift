extension ResourceTable {
  /// The resources of the process.
  ///
  /// The lock can be taken under that of a queue. Nothing is called under it.
  static let shared = Guarded(ResourceTable())
}

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
    guard let request = operation.policyGate?.request, operation.state.current.isStartable else { return true }
    if ResourceTable.shared.withLock({ $0.acquire(request) }) { return true }
    operation.admission.place = .gated
    return false
  }

  /// Releases the resources of an operation, or ends its wait for them.
  ///
  /// Afterward, ``offered`` contains the operations that might get them.
  mutating func releaseResources(of operation: Operation) {
    guard let request = operation.policyGate?.request else { return }
    offered += ResourceTable.shared.withLock { table in
      let requests = table.release(request) + table.withdraw(request)
      table.forget(request)
      return requests.map(\.gate.target)
    }
  }

  /// Makes an operation stop waiting for its resources, if it does; it keeps its turn.
  mutating func withdrawRequest(of operation: Operation) {
    guard let request = operation.policyGate?.request else { return }
    offered += ResourceTable.shared.withLock { $0.withdraw(request).map(\.gate.target) }
  }

  /// Gives an operation the resources that it has waited for, if it can start now.
  mutating func offerResources(to operation: Operation) {
    guard operation.admission.place == .gated, let request = operation.policyGate?.request else { return }
    let mayStart = !isSuspended && started < limit && allowance > 0 && laneMayStart(operation)
    guard mayStart, operation.state.current.isStartable else {
      withdrawRequest(of: operation)
      return operation.hasPause ? endPause(of: operation) : becameReady(operation)
    }
    guard ResourceTable.shared.withLock({ $0.acquire(request) }) else { return }
    operation.admission.place = .granted
    operation.admission.workerClass = workerClass(of: operation)
    granted.insert(operation, level: QueuePriority.normal.level)
    changeGrantedCount(by: 1)
    grantInLane(operation)
    // It is as good as started.
    if allowance != .max { allowance -= 1 }
  }

  /// Removes and returns a granted operation, to start it.
  mutating func nextGranted(for workerClass: WorkerClass) -> Operation? {
    while let operation = granted.popFirst(workerClass)?.operation {
      changeGrantedCount(by: -1)
      if operation.hasPause || operation.state.claim() { return operation }
      // A dependency was added to it, or it has ended.
      returnAllowance()
      operation.admission.place = .waiting
      endGrantInLane(of: operation)
      releaseResources(of: operation)
      noteHeldBack(operation)
    }
    return nil
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
  static func offerResources(to operations: [Operation]) {
    var waiting = operations
    while let operation = waiting.popLast() {
      guard let queue = operation.queue else { continue }
      waiting += queue.update { state in
        state.admission.offerResources(to: operation)
        return state.admission.takeOffered()
      }
    }
  }
}
