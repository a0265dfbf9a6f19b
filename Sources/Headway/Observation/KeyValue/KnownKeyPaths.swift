import Synchronization

/// The keys of key paths that were asked for before, found by the identity of the key path.
///
/// A literal outside of generic code is one object, however often it is passed, while to compare it the literals of
/// ``ObservedKey`` have to be made, each time anew. The table has room for a few key paths of properties of this
/// module's, which refer to nothing of the user's; a new one takes the place of another.
///
/// Used without a lock. A key path that is in the table is kept alive by it, and is released after it was taken out.
/// So an address that a thread finds is that of its own key path, if it is the same: no other object can have it while
/// both are alive; and an entry that was taken out before the thread's key path was made is not found any more.
enum KnownKeyPaths {
  private static let bitsOfCount: UInt64 = 6
  /// Each is an address, with the position of the key in ``keys`` in the bits of ``positionBits``; 0 while it is empty.
  // The pointer does not change, and what is there is atomic.
  nonisolated(unsafe) private static let entries: UnsafeMutablePointer<Atomic<UInt>> = {
    let entries = UnsafeMutablePointer<Atomic<UInt>>.allocate(capacity: 1 << bitsOfCount)
    for position in 0..<1 << bitsOfCount { (entries + position).initialize(to: Atomic(0)) }
    return entries
  }()
  private static let positionShift: UInt = 48
  /// Bits that are 0 in every address: user space ends below them, and tagged pointers have their tag above them.
  private static let positionBits: UInt = 0xFF << positionShift

  /// The keys that can be in the table.
  private static let keys: [ObservedKey] = [
    .isCancelled, .isAsynchronous, .isExecuting, .isFinished, .isReady, .dependencies, .queuePriority,
    .completionBlock, .operations, .operationCount, .maxConcurrentOperationCount, .isSuspended, .name,
  ]

  /// The key of a key path, if it is in the table.
  static func key(of keyPath: AnyKeyPath) -> ObservedKey? {
    let address = address(of: keyPath)
    let entry = entry(of: address).pointee.load(ordering: .acquiring)
    return entry & ~positionBits == address ? keys[Int(entry >> positionShift)] : nil
  }

  /// Puts a key path into the table, unless its key says that it is none of this module's.
  static func note(_ key: ObservedKey, of keyPath: AnyKeyPath) {
    guard let position = keys.firstIndex(of: key) else { return }
    let address = UInt(bitPattern: Unmanaged.passRetained(keyPath).toOpaque())
    let new = address | UInt(position) << positionShift
    let old = entry(of: address).pointee.exchange(new, ordering: .acquiringAndReleasing) & ~positionBits
    UnsafeRawPointer(bitPattern: old).map { Unmanaged<AnyKeyPath>.fromOpaque($0).release() }
  }

  private static func address(of keyPath: AnyKeyPath) -> UInt {
    UInt(bitPattern: Unmanaged.passUnretained(keyPath).toOpaque())
  }

  private static func entry(of address: UInt) -> UnsafeMutablePointer<Atomic<UInt>> {
    // By the golden ratio, so that key paths that were made one after the other are far from each other.
    entries + Int((UInt64(address) &* 0x9E37_79B9_7F4A_7C15) >> (64 - bitsOfCount))
  }
}
