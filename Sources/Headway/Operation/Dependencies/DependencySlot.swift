import Synchronization

/// A dependency of an operation, and the edge by which the dependency knows the operation: in the operation itself.
///
/// A slot is given out once, by the word of the operation, which counts the dependency in the same step
/// (``OperationStateMachine/claimSlot(isCounted:)``); it is filled by the thread that it was given to, and then
/// emptied by one that knows that the edge is in no stack, and comes in none:
/// - the thread that ends the operation, where no dependency is counted any more;
/// - under the lock of the links, one that has taken the edge out, or knows that the dependency has counted it down;
/// - `deinit`.
///
/// `Models/edges.pml` explores this.
struct DependencySlot: ~Copyable {
  /// How many an operation has; further dependencies are in ``FurtherDependencies``.
  static let count = 3

  /// The address of the dependency, which is owned; 0 if there is none.
  ///
  /// The lowest bit says that the edge is out: in no stack, and comes in none.
  let dependency = Atomic<UInt>(0)
  /// What is below the edge in the dependency's stack.
  let next = Atomic<UInt>(0)
}

/// A dependency for which there is no slot, in memory that stays where it is.
struct FurtherDependency {
  /// As ``DependencySlot/dependency``, but under the lock of the links.
  var dependency: UInt
  /// What is below the edge in the dependency's stack.
  var next: UInt = 0
  let dependent: OperationReference
  /// The order of adding.
  let sequence: Int
}

/// How an operation is known to one on which it depends.
struct Edge: Hashable {
  /// The address of a ``FurtherDependency``; or that of the dependent, which is aligned to 16 bytes, with the number of
  /// its slot, from 1, in the lowest bits.
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

  /// What is below it in the dependency's stack.
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

  // A thread that finds the edge in a stack has no reference to the dependent, and must not take one for a moment: see
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
