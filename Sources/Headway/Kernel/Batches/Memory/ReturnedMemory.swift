import CHeadway
import Synchronization

/// The memory of operations that have been released, on its way back to the threads that add operations.
///
/// Usually, one thread allocates an operation, and another releases it. With glibc, such memory passes through an
/// arena, and both threads wait for the lock of that arena. Therefore, a thread that has released operations hands over
/// their memory as a chain. A thread that adds operations takes the chain and frees the memory of one operation each
/// time. Its next operation then reuses that memory, without a lock.
///
/// The objects in a chain have been deinitialized, so no code runs when their memory is freed.
///
/// See `Docs/decisions/0037-returned-memory.md`.
enum ReturnedMemory {
  // Protection of the state: a chain belongs to one thread at a time.

  private static let exchange = ChainExchange(atThreadEnd: { Chain(first: $0).free() })

  /// Frees the memory of one released operation and its parts, if any memory was handed over.
  ///
  /// Called each time that an operation is added.
  @inline(__always)
  static func freeNext() {
    let exchange = exchange
    guard let first = exchange.next() else { return }
    var chain = Chain(first: first)
    chain.freeFirst()
    exchange.own.value = chain.first
  }

  /// Objects that have been deinitialized.
  ///
  /// An unowned reference keeps the memory of each object.
  ///
  /// The word after an object's header contains the address of the next object. The lowest bit of that word is set if
  /// both belong to the same operation, so their memory is freed together.
  struct Chain {
    private static let togetherBit: UInt = 1
    /// The size of the header of a Swift object: its class and its reference counts.
    private static var linkOffset: Int { 2 * MemoryLayout<UInt>.size }

    fileprivate var first: UnsafeMutableRawPointer?
    private var count = 0

    var isEmpty: Bool { first == nil }

    init() {}

    fileprivate init(first: UnsafeMutableRawPointer?) { self.first = first }

    /// Releases an object that the caller owns.
    ///
    /// Keeps its memory if there is no other reference to it.
    ///
    /// - Parameters:
    ///   - object: The object to release.
    ///   - isPart: True if the object was part of the operation that was released immediately before it.
    mutating func release<Object: AnyObject>(_ object: Unmanaged<Object>, isPart: Bool = false) {
      guard ReferenceCounts.hasNoOtherReference(object) else { return object.release() }
      let address = object.toOpaque()
      // No other thread uses the object, so its reference counts need no atomic instructions.
      atomicMemoryFence(ordering: .acquiring)
      swift_nonatomic_unownedRetain(address)
      swift_nonatomic_release(address)
      let link = UInt(bitPattern: first) | (isPart ? Self.togetherBit : 0)
      address.storeBytes(of: link, toByteOffset: Self.linkOffset, as: UInt.self)
      first = address
      count += 1
    }

    /// Hands the memory over to a thread that adds operations, or frees it if enough memory waits already.
    ///
    /// - Parameter minimum: Does nothing for fewer objects.
    mutating func giveAway(atLeast minimum: Int) {
      guard count >= minimum, let first else { return }
      if !exchange.give(first) { free() }
      (self.first, count) = (nil, 0)
    }

    /// Frees the memory of one operation and its parts.
    mutating func freeFirst() {
      while let object = first {
        let link = object.load(fromByteOffset: Self.linkOffset, as: UInt.self)
        first = UnsafeMutableRawPointer(bitPattern: link & ~Self.togetherBit)
        swift_nonatomic_unownedRelease(object)
        if link & Self.togetherBit == 0 { return }
      }
    }

    fileprivate consuming func free() { while first != nil { freeFirst() } }
  }
}
