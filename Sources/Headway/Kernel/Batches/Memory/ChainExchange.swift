import Synchronization

/// A chain of objects for each thread, and a few slots that threads use to hand over chains to each other.
///
/// A chain belongs to one thread at a time. Giving it away has releasing order, and taking it has acquiring order. As a
/// result, the thread that takes it sees its contents. The exchange stores only the address of the first object of each
/// chain.
struct ChainExchange: @unchecked Sendable {  // Never changed, and the memory that it points to is atomic.
  /// How many chains can wait to be taken: as many as the additions that a thread takes out of an inbox together.
  ///
  /// The slots have their own cache line.
  private static let slotCount = 8

  private let first: UnsafeMutablePointer<Atomic<UInt>>
  /// The chain of the calling thread: the address of its first object.
  let own: ThreadKey

  init(atThreadEnd: @convention(c) (UnsafeMutableRawPointer?) -> Void) {
    own = ThreadKey(atThreadEnd: atThreadEnd)
    let memory = UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 64)
    first = memory.bindMemory(to: Atomic<UInt>.self, capacity: Self.slotCount)
    for number in 0..<Self.slotCount { (first + number).initialize(to: Atomic(0)) }
  }

  /// Returns the calling thread's chain, or takes a chain that another thread has given away.
  ///
  /// The caller must set the value of ``own`` afterwards.
  @inline(__always)
  func next() -> UnsafeMutableRawPointer? { own.value ?? take() }

  private func take() -> UnsafeMutableRawPointer? {
    for number in 0..<Self.slotCount where first[number].load(ordering: .relaxed) != 0 {
      let address = first[number].exchange(0, ordering: .acquiring)
      if let chain = UnsafeMutableRawPointer(bitPattern: address) { return chain }
    }
    return nil
  }

  /// Gives a chain away, to any thread that takes it.
  ///
  /// - Returns: False if no slot is free. In that case, the caller keeps the chain.
  func give(_ chain: UnsafeMutableRawPointer) -> Bool {
    let address = UInt(bitPattern: chain)
    for number in 0..<Self.slotCount where first[number].load(ordering: .relaxed) == 0 {
      let (isGiven, _) = first[number].compareExchange(expected: 0, desired: address, ordering: .releasing)
      if isGiven { return true }
    }
    return false
  }
}
