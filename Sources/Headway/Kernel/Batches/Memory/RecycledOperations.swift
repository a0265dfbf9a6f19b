import Synchronization

/// Block operations that have ended and have no other references, recycled for blocks that are about to run.
///
/// A thread that has run plain blocks hands their operations over as a chain. A thread that makes operations of blocks
/// takes a chain, which usually is its own. Then it needs neither an allocation nor a locked instruction for each
/// block, and the operations are in the cache of its processor.
///
/// To all other code, a recycled operation was freed, and another operation was allocated.
///
/// See `Docs/decisions/0025-recycled-operations.md`.
enum RecycledOperations {
  // Protection of the state: a chain belongs to one thread at a time. It is handed over through a `ChainExchange`.
  // `queueLinks.next` joins the operations of a chain.

  private static let exchange = ChainExchange(atThreadEnd: { chain in
    forEach(in: chain.map { .fromOpaque($0) }) { $0.release() }
  })

  /// Returns an operation without a block that has no other references, or nil if none is available.
  ///
  /// The caller owns it and must set its state, its block, and its place in the queue.
  static func take() -> OperationReference? {
    let exchange = exchange
    guard let first = exchange.next().map({ OperationReference.fromOpaque($0) }) else { return nil }
    exchange.own.value = first.next?.toOpaque()
    return first
  }

  /// Takes over the ownership of operations that have ended.
  ///
  /// Their release runs no user code. If an operation can't be recycled, or if enough of them wait already, its memory
  /// is added to `returned`.
  static func give(
    _ operations: UnsafeBufferPointer<OperationReference>, returning returned: inout ReturnedMemory.Chain
  ) {
    var chain: OperationReference?
    for operation in operations {
      if ReferenceCounts.hasNoOtherReference(operation), operation._withUnsafeGuaranteedRef({ $0.canBeUsedAgain }) {
        operation.next = chain
        chain = operation
      } else {
        let gate = operation._withUnsafeGuaranteedRef { $0.takeGateOfEnded() }
        returned.release(operation)
        if let gate { returned.release(gate, isPart: true) }
      }
    }
    guard let chain else { return }
    // All other threads that had a reference have released it. Their earlier changes are visible after this fence.
    atomicMemoryFence(ordering: .acquiring)
    if !exchange.give(chain.toOpaque()) { forEach(in: chain) { returned.release($0) } }
  }

  private static func forEach(in chain: OperationReference?, _ body: (OperationReference) -> Void) {
    var position = chain
    while let operation = position {
      position = operation.next
      body(operation)
    }
  }
}

extension Operation {
  /// Whether the operation can be used again as a new operation, if it has no other references.
  ///
  /// Its state word shows everything that its links can hold, except a gate.
  final var canBeUsedAgain: Bool {
    guard isPlainBlock, !hasGate, state.current.hasEndedPlainly else { return false }
    assert(dependents.isEmpty && links.withLockOnThisThread { $0.isUntouched }, "\(self) does not match its state")
    return true
  }

  /// Removes and returns the gate of an operation of class ``BlockOperation`` that has ended, if there is one and no
  /// other code uses the operation.
  ///
  /// The caller owns the gate.
  fileprivate final func takeGateOfEnded() -> Unmanaged<OperationGate>? {
    guard hasGate, isPlainBlock, ReferenceCounts.hasNoOtherReference(OperationReference(self)) else { return nil }
    return OperationLayout.details(of: OperationReference(self)).pointee.gate.take().map { .passRetained($0) }
  }
}

extension Operation.Links {
  /// Whether these are the links of a new operation.
  fileprivate var isUntouched: Bool { !isClosed && details == nil }
}
