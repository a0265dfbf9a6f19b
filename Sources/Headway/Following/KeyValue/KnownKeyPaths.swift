import Synchronization

/// A cache of the keys of key paths, looked up by the identity of the key path.
///
/// A literal outside of generic code is one object each time it is passed. To compare it without the cache, the
/// literals of ``ObservedKey`` must be created each time. The table has room for a few key paths of this module's
/// properties, which contain no reference to user objects. A new key path replaces an existing one.
///
/// The table is used without a lock. It retains the key paths in it and releases each one after removing it. As a
/// result, if a thread finds the address of its own key path, the entry is for that key path: no other object can have
/// the address while both are alive. An entry that was removed before the thread's key path was created is no longer
/// found.
enum KnownKeyPaths {
  private static let bitsOfCount: UInt64 = 6
  /// Each entry is an address, with the position of the key in ``keys`` in the bits of ``positionBits``; 0 while it is
  /// empty.
  // The pointer does not change; its elements are atomic.
  nonisolated(unsafe) private static let entries: UnsafeMutablePointer<Atomic<UInt>> = {
    let entries = UnsafeMutablePointer<Atomic<UInt>>.allocate(capacity: 1 << bitsOfCount)
    for position in 0..<1 << bitsOfCount { (entries + position).initialize(to: Atomic(0)) }
    return entries
  }()
  private static let positionShift: UInt = 48
  /// The bits that are 0 in every address: user space ends below them, and tagged pointers have their tag above them.
  private static let positionBits: UInt = 0xFF << positionShift

  /// The keys that can be in the table.
  private static let keys: [ObservedKey] = [
    .isCancelled, .isAsynchronous, .isExecuting, .isFinished, .isReady, .dependencies, .queuePriority,
    .completionBlock, .operations, .operationCount, .maxConcurrentOperationCount, .isSuspended, .name,
  ]

  /// Returns the key of a key path, or nil if the table does not contain it.
  static func key(of keyPath: AnyKeyPath) -> ObservedKey? {
    let address = address(of: keyPath)
    let entry = entry(of: address).pointee.load(ordering: .acquiring)
    return entry & ~positionBits == address ? keys[Int(entry >> positionShift)] : nil
  }

  /// Adds a key path to the table, unless its key shows that it isn't a property of this module.
  static func note(_ key: ObservedKey, of keyPath: AnyKeyPath) {
    guard let position = keys.firstIndex(of: key) else { return }
    let address = UInt(bitPattern: Unmanaged.passRetained(keyPath).toOpaque())
    let new = address | (UInt(position) << positionShift)
    let old = entry(of: address).pointee.exchange(new, ordering: .acquiringAndReleasing) & ~positionBits
    UnsafeRawPointer(bitPattern: old).map { Unmanaged<AnyKeyPath>.fromOpaque($0).release() }
  }

  private static func address(of keyPath: AnyKeyPath) -> UInt {
    UInt(bitPattern: Unmanaged.passUnretained(keyPath).toOpaque())
  }

  private static func entry(of address: UInt) -> UnsafeMutablePointer<Atomic<UInt>> {
    // Multiply by the golden ratio, which spreads key paths that were created one after the other.
    entries + Int((UInt64(address) &* 0x9E37_79B9_7F4A_7C15) >> (64 - bitsOfCount))
  }
}
