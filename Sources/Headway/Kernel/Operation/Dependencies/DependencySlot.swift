import Synchronization

/// A dependency of an operation, and the edge that the dependency uses to reach the operation.
///
/// Both are stored in the operation.
///
/// A slot is assigned once, by the state word of the operation, which counts the dependency in the same step
/// (``OperationStateMachine/claimSlot(isCounted:)``). The thread that was given the slot fills it. It is emptied by a
/// thread that can be certain that the edge is unlinked:
/// - the thread that finishes the operation, if no unfinished dependency is counted;
/// - under the lock of the links, a thread that has removed the edge, or has found that the dependency has counted it
///   down;
/// - the thread that runs `deinit`.
///
/// `Models/edges.pml` verifies this.
struct DependencySlot: ~Copyable {
  /// The number of slots of an operation.
  ///
  /// Further dependencies are in ``FurtherDependencies``.
  static let count = 3

  /// The address of the dependency, which the slot owns; 0 if there is none.
  ///
  /// The lowest bit is set if the edge is unlinked: in no stack, and never will be.
  let dependency = Atomic<UInt>(0)
  /// The next edge below this one in the dependency's stack.
  let next = Atomic<UInt>(0)
}

/// A dependency that has no slot, in memory that does not move.
struct FurtherDependency {
  /// Like ``DependencySlot/dependency``, but protected by the lock of the links.
  var dependency: UInt
  /// The next edge below this one in the dependency's stack.
  var next: UInt = 0
  let dependent: OperationReference
  /// The position in insertion order.
  let sequence: Int
}

/// A reference from a dependency to the place where its dependent lists it.
struct Edge: Hashable {
  /// The address of a ``FurtherDependency``; or the address of the dependent, which is aligned to 16 bytes, with the
  /// number of its slot, from 1, in the lowest bits.
  let word: UInt

  private static let slotBits: UInt = 0b11

  init(word: UInt) { self.word = word }

  init(slot: Int, of dependent: Operation) {
    word = UInt(bitPattern: OperationReference(dependent).toOpaque()) | UInt(slot + 1)
  }

  init(_ further: UnsafeMutablePointer<FurtherDependency>) { word = UInt(bitPattern: further) }

  private var slot: Int? { word & Self.slotBits == 0 ? nil : Int(word & Self.slotBits) - 1 }

  private var further: UnsafeMutablePointer<FurtherDependency> { UnsafeMutablePointer(bitPattern: word)! }

  var dependent: OperationReference {
    guard slot != nil else { return further.pointee.dependent }
    return .fromOpaque(UnsafeRawPointer(bitPattern: word & ~Self.slotBits)!)
  }

  /// The next edge below this one in the dependency's stack.
  var next: UInt {
    get {
      guard let slot else { return further.pointee.next }
      return slotPointer(slot).pointee.next.load(ordering: .relaxed)
    }
    nonmutating set {
      guard let slot else { return further.pointee.next = newValue }
      slotPointer(slot).pointee.next.store(newValue, ordering: .relaxed)
    }
  }

  // A thread that finds the edge in a stack has no reference to the dependent and must not retain it even briefly: see
  // ``OperationLayout``.

  /// The state of the dependent.
  var state: UnsafePointer<OperationStateMachine> { OperationLayout.state(of: dependent) }

  private func slotPointer(_ slot: Int) -> UnsafePointer<DependencySlot> { OperationLayout.slot(slot, of: dependent) }
}

extension Operation {
  @inline(__always)
  final func withSlot<Answer>(_ number: Int, _ body: (borrowing DependencySlot) -> Answer) -> Answer {
    switch number {
    case 0: body(firstSlot)
    case 1: body(secondSlot)
    default: body(thirdSlot)
    }
  }
}
