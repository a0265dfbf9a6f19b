import Synchronization

/// Block operations that have ended, and that nobody knows any more, to be used again for blocks that are added.
///
/// Most of what an added block cost was memory that one thread allocates and another frees, for which glibc takes a
/// lock (`perf record` of the workload `independent`). So a thread that has run plain blocks hands their operations
/// over as a chain; a thread that adds blocks takes a chain, and then needs neither an allocation nor a locked
/// instruction for each.
///
/// For all others, an operation that is used again was freed, and another was allocated in its place.
enum RecycledOperations {
  // What protects the state: a chain belongs to one thread at a time. It is handed over through a slot, by an exchange
  // that releases and one that acquires. The operations of a chain are joined by `queueLinks.next`.

  /// How many chains wait to be taken; what comes beyond is freed.
  ///
  /// With at most ``Batch/capacity`` operations in each, that is less than 20 KB.
  private static let slotCount = 4

  private struct Slots: @unchecked Sendable {  // Never changed, and what it points to is atomic.
    let first: UnsafeMutablePointer<Atomic<UInt>>

    init() {
      first = .allocate(capacity: slotCount)
      for number in 0..<slotCount { (first + number).initialize(to: Atomic(0)) }
    }
  }

  private static let slots = Slots()

  /// The chain of the calling thread: the address of its first operation.
  private static let own = ThreadKey(atThreadEnd: { RecycledOperations.free($0.map { .fromOpaque($0) }) })

  /// Returns a new operation that runs `block`, and that nobody else knows, owned by the caller; nil if none is spare.
  static func take(for block: @escaping ThrowingBlock) -> OperationReference? {
    guard let first = own.value.map({ OperationReference.fromOpaque($0) }) ?? takeChain() else { return nil }
    own.value = first.next?.toOpaque()
    first._withUnsafeGuaranteedRef { unsafeDowncast($0, to: BlockOperation.self).renew(block) }
    return first
  }

  private static func takeChain() -> OperationReference? {
    for number in 0..<slotCount where slots.first[number].load(ordering: .relaxed) != 0 {
      let address = slots.first[number].exchange(0, ordering: .acquiring)
      if let chain = UnsafeRawPointer(bitPattern: address) { return .fromOpaque(chain) }
    }
    return nil
  }

  /// Takes over the ownership of operations that have ended, and whose release runs no users' code.
  static func give(_ operations: UnsafeBufferPointer<OperationReference>) {
    var chain: OperationReference?
    for operation in operations {
      if hasNoOtherReference(operation), operation._withUnsafeGuaranteedRef({ $0.canBeUsedAgain }) {
        operation.next = chain
        chain = operation
      } else {
        operation.release()
      }
    }
    guard let chain else { return }
    // Whoever had a reference before has released it, and what that thread did is seen.
    atomicMemoryFence(ordering: .acquiring)
    let address = UInt(bitPattern: chain.toOpaque())
    for number in 0..<slotCount where slots.first[number].load(ordering: .relaxed) == 0 {
      let (isGiven, _) = slots.first[number].compareExchange(expected: 0, desired: address, ordering: .releasing)
      if isGiven { return }
    }
    free(chain)
  }

  private static func free(_ chain: OperationReference?) {
    var position = chain
    while let operation = position {
      position = operation.next
      operation.release()
    }
  }

  // MARK: What nobody knows

  /// The word of an object's header in which the runtime counts references, for one to which there is a single strong
  /// reference, and has never been a weak one.
  private static let countsOfUnknown: UInt = {
    var operation = newOperation()
    // Read through the variable's bytes, so that no reference of the compiler's is counted. No object has the word 0.
    return isKnownUniquelyReferenced(&operation)
      ? withUnsafeBytes(of: &operation) { counts(at: $0.load(as: UnsafeRawPointer.self)) } : 0
  }()

  // By itself, or the compiler would put the object on the stack, and the runtime would note that in the word.
  @inline(never) private static func newOperation() -> BlockOperation { BlockOperation() }

  /// Whether the caller, who owns the operation, has the only reference of any kind that Swift counts.
  ///
  /// `isKnownUniquelyReferenced` does not see unowned and weak references. They are in the second word of an object,
  /// behind the pointer to its type (`HeapObject.h` of the runtime), or make it a pointer to a table. So the word is
  /// compared with that of an object that nobody knows; were the layout another, no operation would be used again.
  static func hasNoOtherReference(_ operation: OperationReference) -> Bool {
    counts(at: operation.toOpaque()) == countsOfUnknown
  }

  @inline(__always) private static func counts(at object: UnsafeRawPointer) -> UInt {
    object.load(fromByteOffset: MemoryLayout<UInt>.size, as: UInt.self)
  }
}

extension Operation {
  /// Whether, if nobody knows it, it can be made a new one by ``BlockOperation/renew(_:)``.
  ///
  /// Whatever its links have, its word tells of.
  final var canBeUsedAgain: Bool {
    guard isPlainBlock, state.current.hasEndedPlainly else { return false }
    assert(dependents.isEmpty && links.withLockOnThisThread { $0.isUntouched }, "\(self) is not as its state says")
    return true
  }
}

extension Operation.Links {
  /// Whether they are those of a new operation.
  fileprivate var isUntouched: Bool { !isClosed && details == nil }
}
