import Synchronization

/// Operations and blocks that have been added but are not in the queue's lists yet.
///
/// The inbox is a stack. Threads push to it without a lock, and the thread that holds the queue's lock takes it as a
/// whole (Treiber, “Systems programming: coping with parallelism”, 1986). Because there are no single pops, there is no
/// ABA problem. The inbox owns its operations and blocks.
struct Inbox: ~Copyable {
  /// The word of the addition on top, with the number of additions in ``countBits``.
  ///
  /// 0 if the inbox is empty.
  private let top = Atomic<UInt>(0)

  /// The maximum number of waiting additions.
  ///
  /// The thread that adds another operation empties the inbox, so no thread ever has to add many operations under the
  /// lock.
  private static let capacity: UInt = 255
  private static let countShift = 48
  /// Bits that are 0 in every address: user space ends below them, and tagged pointers keep their tag above them.
  private static let countBits: UInt = 0xFF << countShift

  /// Whether the inbox is empty.
  ///
  /// Pushes and this check are in one order with the changes of ``OperationQueue/servesInbox`` (sequentially
  /// consistent).
  var isEmpty: Bool { top.load(ordering: .sequentiallyConsistent) == 0 }

  /// Pushes an operation or a block and takes over its ownership.
  ///
  /// From then on, it may have run and been freed.
  ///
  /// - Returns: Whether there is room for more.
  func push(_ addition: Addition) -> Bool {
    var old = top.load(ordering: .relaxed)
    while true {
      addition.next = old & ~Self.countBits
      let count = min(((old & Self.countBits) >> Self.countShift) + 1, Self.capacity)
      let (exchanged, original) = top.weakCompareExchange(
        expected: old, desired: addition.word | (count << Self.countShift), successOrdering: .sequentiallyConsistent,
        failureOrdering: .relaxed)
      if exchanged { return count < Self.capacity }
      old = original
    }
  }

  /// Removes all additions.
  ///
  /// - Parameter body: Called with each addition, in the order of pushing. It takes over the ownership.
  func takeAll(_ body: (Addition) -> Void) {
    guard top.load(ordering: .relaxed) != 0 else { return }
    var position = top.exchange(0, ordering: .acquiring) & ~Self.countBits
    var oldest: UInt = 0
    while position != 0 {
      let addition = Addition(word: position)
      position = addition.next
      addition.next = oldest
      oldest = addition.word
    }
    while oldest != 0 {
      let addition = Addition(word: oldest)
      oldest = addition.next
      addition.next = 0
      body(addition)
    }
  }
}

/// An operation or a block that is being added to a queue, and that the addition owns.
enum Addition {
  case operation(OperationReference)
  case block(UnsafeMutablePointer<AddedBlock>)

  private static let blockBit: UInt = 1

  init(word: UInt) {
    self =
      if word & Self.blockBit != 0 {
        .block(UnsafeMutablePointer(bitPattern: word & ~Self.blockBit)!)
      } else {
        .operation(.fromOpaque(UnsafeRawPointer(bitPattern: word)!))
      }
  }

  /// The address of the operation or the block, with a bit that distinguishes the two.
  var word: UInt {
    switch self {
    case .operation(let operation): UInt(bitPattern: operation.toOpaque())
    case .block(let block): UInt(bitPattern: block) | Self.blockBit
    }
  }

  /// The word of the next addition in the inbox; 0 if there is none.
  var next: UInt {
    get {
      switch self {
      case .operation(let operation): UInt(bitPattern: operation.next?.toOpaque())
      case .block(let block): block.pointee.next
      }
    }
    nonmutating set {
      switch self {
      // The word might belong to a block. In that case, `next` is only read as a word, never used as a reference.
      case .operation(let operation):
        operation.next = UnsafeRawPointer(bitPattern: newValue).map { .fromOpaque($0) }
      case .block(let block): block.pointee.next = newValue
      }
    }
  }
}
