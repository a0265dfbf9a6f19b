import Synchronization

/// A stack of nodes that could begin: each points to the next through its slot in ``GraphSlots``, so a stack takes no
/// memory of its own, whatever its length.
///
/// Any thread may push, pop and take all, each in one step: the head and a tag are in one word, and each change counts
/// the tag up. Without it, a head could come back, with another next node, between a thread's two looks at it.
struct GraphStack: ~Copyable {
  /// The tag in the upper half, the first node in the lower.
  private let word = Atomic(UInt64(GraphLayout.none))

  private static let oneChange: UInt64 = 1 << 32

  private static func head(_ word: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: word) }

  private static func word(after old: UInt64, head: UInt32) -> UInt64 {
    (old & ~UInt64(UInt32.max)) &+ oneChange | UInt64(head)
  }

  /// Whether there is nothing; in one order with ``push(_:last:_:)`` and with changes of the number of participants,
  /// so that of a thread that pushes and then looks at that number, and one that leaves and then looks here, one sees
  /// the other.
  @inline(__always)
  var isEmpty: Bool { Self.head(word.load(ordering: .sequentiallyConsistent)) == GraphLayout.none }

  /// Puts nodes, or none, in place of all, while no other thread uses the stack.
  func reset(to first: UInt32) {
    // Relaxed: the thread that begins the run publishes it.
    word.store(Self.word(after: word.load(ordering: .relaxed), head: first), ordering: .relaxed)
  }

  /// Pushes nodes that are linked from `first` to `last`.
  @inline(__always)
  func push(_ first: UInt32, last: UInt32, _ slots: GraphSlots) {
    var old = word.load(ordering: .relaxed)
    while true {
      // Relaxed: the exchange releases it, with what the nodes' predecessors did.
      slots[last].store(Self.head(old), ordering: .relaxed)
      let (exchanged, original) = word.weakCompareExchange(
        expected: old, desired: Self.word(after: old, head: first), successOrdering: .sequentiallyConsistent,
        failureOrdering: .relaxed)
      if exchanged { return }
      old = original
    }
  }

  /// The node pushed last, or `none`.
  @inline(__always)
  func pop(_ slots: GraphSlots) -> UInt32 {
    // Acquires what was pushed: later exchanges continue the release of earlier ones.
    var old = word.load(ordering: .acquiring)
    while Self.head(old) != GraphLayout.none {
      // Another thread may have taken the node, and this be anything: then the exchange fails.
      let next = slots[Self.head(old)].load(ordering: .relaxed)
      let (exchanged, original) = word.weakCompareExchange(
        expected: old, desired: Self.word(after: old, head: next), successOrdering: .acquiringAndReleasing,
        failureOrdering: .acquiring)
      if exchanged { return Self.head(old) }
      old = original
    }
    return GraphLayout.none
  }

  /// All nodes, linked from the one that is returned; or `none`.
  func takeAll() -> UInt32 {
    var old = word.load(ordering: .acquiring)
    while Self.head(old) != GraphLayout.none {
      let (exchanged, original) = word.weakCompareExchange(
        expected: old, desired: Self.word(after: old, head: GraphLayout.none),
        successOrdering: .acquiringAndReleasing, failureOrdering: .acquiring)
      if exchanged { return Self.head(old) }
      old = original
    }
    return GraphLayout.none
  }

  /// Puts nodes in place of none; false if there are some.
  func putIfEmpty(_ first: UInt32) -> Bool {
    let old = word.load(ordering: .relaxed)
    return Self.head(old) == GraphLayout.none
      && word.compareExchange(
        expected: old, desired: Self.word(after: old, head: first), successOrdering: .sequentiallyConsistent,
        failureOrdering: .relaxed
      ).exchanged
  }

  // MARK: One thread

  /// As ``push(_:last:_:)``, where one thread alone uses the stack.
  @inline(__always)
  func pushAlone(_ first: UInt32, last: UInt32, _ slots: GraphSlots) {
    slots[last].store(Self.head(word.load(ordering: .relaxed)), ordering: .relaxed)
    word.store(UInt64(first), ordering: .relaxed)
  }

  /// As ``pop(_:)``, where one thread alone uses the stack.
  @inline(__always)
  func popAlone(_ slots: GraphSlots) -> UInt32 {
    let node = Self.head(word.load(ordering: .relaxed))
    guard node != GraphLayout.none else { return node }
    word.store(UInt64(slots[node].load(ordering: .relaxed)), ordering: .relaxed)
    return node
  }
}

/// A number for each node of a graph, in a run: how many of its predecessors have not ended; and when none is left,
/// until it begins, the next node of the stack that it is in.
struct GraphSlots: @unchecked Sendable {  // Atomic; the run that owns the memory holds it for all who use it.
  private let slots: UnsafeMutablePointer<Atomic<UInt32>>

  init(count: Int) { slots = .allocate(capacity: count) }

  func deallocate() { slots.deallocate() }

  @inline(__always)
  subscript(node: UInt32) -> Atomic<UInt32> {
    @inline(__always) unsafeAddress { UnsafePointer(slots + Int(node)) }
  }

  /// Sets all slots, while no other thread uses them.
  func reset(to values: ContiguousArray<UInt32>) {
    values.withUnsafeBytes { bytes in
      // An atomic number is laid out as the number.
      if let start = bytes.baseAddress {
        UnsafeMutableRawPointer(slots).copyMemory(from: start, byteCount: bytes.count)
      }
    }
  }
}
