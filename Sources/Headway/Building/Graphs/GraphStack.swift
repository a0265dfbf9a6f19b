import Synchronization

/// A stack of nodes that can begin.
///
/// Each node points to the next through its slot in ``GraphSlots``, so a stack needs no memory of its own, regardless
/// of its length.
///
/// Any thread can push, pop, and take all, each in one step. The head and a tag are in one word, and each change
/// increments the tag. Without the tag, the same head could reappear, with a different next node, between a thread's
/// two reads of it.
struct GraphStack: ~Copyable {
  /// The tag in the upper half, and the first node in the lower half.
  private let word = Atomic(UInt64(GraphLayout.none))

  private static let oneChange: UInt64 = 1 << 32

  private static func head(_ word: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: word) }

  private static func word(after old: UInt64, head: UInt32) -> UInt64 {
    ((old & ~UInt64(UInt32.max)) &+ oneChange) | UInt64(head)
  }

  /// Whether the stack is empty.
  ///
  /// This is sequentially consistent with ``push(_:last:_:)`` and with changes of the number of participants. One
  /// thread pushes and then reads that number. Another leaves and then reads this property. One of the two sees the
  /// other's change.
  @inline(__always)
  var isEmpty: Bool { Self.head(word.load(ordering: .sequentiallyConsistent)) == GraphLayout.none }

  /// Replaces the contents with nodes, or with none.
  ///
  /// No other thread may use the stack.
  func reset(to first: UInt32) {
    // Relaxed: the thread that begins the run publishes it.
    word.store(Self.word(after: word.load(ordering: .relaxed), head: first), ordering: .relaxed)
  }

  /// Pushes nodes that are linked from `first` to `last`.
  @inline(__always)
  func push(_ first: UInt32, last: UInt32, _ slots: GraphSlots) {
    var old = word.load(ordering: .relaxed)
    while true {
      // Relaxed: the exchange releases it, together with the effects of the nodes' predecessors.
      slots[last].store(Self.head(old), ordering: .relaxed)
      let (exchanged, original) = word.weakCompareExchange(
        expected: old, desired: Self.word(after: old, head: first), successOrdering: .sequentiallyConsistent,
        failureOrdering: .relaxed)
      if exchanged { return }
      old = original
    }
  }

  /// Removes and returns the node that was pushed last, or `none`.
  @inline(__always)
  func pop(_ slots: GraphSlots) -> UInt32 {
    // Acquires the pushed nodes: later exchanges continue the release of earlier ones.
    var old = word.load(ordering: .acquiring)
    while Self.head(old) != GraphLayout.none {
      // Another thread might have taken the node, and the slot might contain anything. In that case, the exchange
      // fails.
      let next = slots[Self.head(old)].load(ordering: .relaxed)
      let (exchanged, original) = word.weakCompareExchange(
        expected: old, desired: Self.word(after: old, head: next), successOrdering: .acquiringAndReleasing,
        failureOrdering: .acquiring)
      if exchanged { return Self.head(old) }
      old = original
    }
    return GraphLayout.none
  }

  /// Removes all nodes and returns the first.
  ///
  /// The others are linked to it. Returns `none` if the stack is empty.
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

  /// Puts nodes on the stack if it is empty; otherwise returns false.
  func putIfEmpty(_ first: UInt32) -> Bool {
    let old = word.load(ordering: .relaxed)
    return Self.head(old) == GraphLayout.none
      && word.compareExchange(
        expected: old, desired: Self.word(after: old, head: first), successOrdering: .sequentiallyConsistent,
        failureOrdering: .relaxed
      ).exchanged
  }

  // MARK: One thread

  /// Does the same as ``push(_:last:_:)`` on a stack that only one thread uses.
  @inline(__always)
  func pushAlone(_ first: UInt32, last: UInt32, _ slots: GraphSlots) {
    slots[last].store(Self.head(word.load(ordering: .relaxed)), ordering: .relaxed)
    word.store(UInt64(first), ordering: .relaxed)
  }

  /// Does the same as ``pop(_:)`` on a stack that only one thread uses.
  @inline(__always)
  func popAlone(_ slots: GraphSlots) -> UInt32 {
    let node = Self.head(word.load(ordering: .relaxed))
    guard node != GraphLayout.none else { return node }
    word.store(UInt64(slots[node].load(ordering: .relaxed)), ordering: .relaxed)
    return node
  }
}

/// One number per node of a graph, for one run.
///
/// It is the number of predecessors that have not ended. When that is 0, and until the node begins, it is the next node
/// in the same stack.
struct GraphSlots: @unchecked Sendable {  // Atomic. The run owns the memory, and all threads that use it hold the run.
  private let slots: UnsafeMutablePointer<Atomic<UInt32>>

  init(count: Int) { slots = .allocate(capacity: count) }

  func deallocate() { slots.deallocate() }

  @inline(__always)
  subscript(node: UInt32) -> Atomic<UInt32> {
    @inline(__always) unsafeAddress { UnsafePointer(slots + Int(node)) }
  }

  /// Sets all slots.
  ///
  /// No other thread may use them.
  func reset(to values: ContiguousArray<UInt32>) {
    values.withUnsafeBytes { bytes in
      // An atomic number has the same memory layout as the number.
      if let start = bytes.baseAddress {
        UnsafeMutableRawPointer(slots).copyMemory(from: start, byteCount: bytes.count)
      }
    }
  }
}
