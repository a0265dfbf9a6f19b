import CHeadway

/// Recycles the memory of values of one type, which one thread usually creates and another frees.
///
/// Each thread keeps the memory of a few freed values to reuse it. When it has more, it passes a chain of them to other
/// threads. Each piece of memory contains the address of the next one, and the number of pieces in the chain.
///
/// An object usually owns the value. A thread that accesses the value has a reference to the object, and the thread
/// that releases the last reference frees the value. Therefore, reference counts order these accesses before the next
/// value. ThreadSanitizer can't observe this order, because the runtime manages the counts. It would report accesses to
/// earlier values, so the memory is freed instead if ThreadSanitizer is active.
struct RecycledMemory<Value: ~Copyable>: Sendable {
  private static var mostKept: Int { 32 }

  private let exchange: ChainExchange
  private let isUsed = !headway_is_watched()

  /// - Parameter type: The type of the values, which have at least the size of two words.
  init(of type: Value.Type) {
    assert(MemoryLayout<Value>.size >= 2 * MemoryLayout<UInt>.size)
    exchange = ChainExchange(atThreadEnd: { deallocateChain($0) })
  }

  /// Returns memory for a value, which the caller must initialize.
  func take() -> UnsafeMutablePointer<Value> {
    guard let spare = exchange.next() else { return .allocate(capacity: 1) }
    exchange.own.value = spare.load(as: UnsafeMutableRawPointer?.self)
    return spare.bindMemory(to: Value.self, capacity: 1)
  }

  /// Takes over the memory of a value that has been deinitialized.
  func give(_ memory: UnsafeMutableRawPointer) {
    guard isUsed else { return memory.deallocate() }
    var chain = exchange.own.value
    var count = chain?.load(fromByteOffset: MemoryLayout<UInt>.size, as: Int.self) ?? 0
    if count == Self.mostKept, let full = chain.take() {
      if !exchange.give(full) { deallocateChain(full) }
      count = 0
    }
    memory.storeBytes(of: chain, as: UnsafeMutableRawPointer?.self)
    memory.storeBytes(of: count + 1, toByteOffset: MemoryLayout<UInt>.size, as: Int.self)
    exchange.own.value = memory
  }
}

private func deallocateChain(_ chain: UnsafeMutableRawPointer?) {
  var position = chain
  while let memory = position {
    position = memory.load(as: UnsafeMutableRawPointer?.self)
    memory.deallocate()
  }
}
