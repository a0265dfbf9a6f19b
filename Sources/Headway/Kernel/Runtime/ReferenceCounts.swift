/// Reads the runtime's reference counts of an object.
enum ReferenceCounts {
  /// The word of an object's header that holds the counts, for an object that has a single strong reference and has
  /// never had a weak one.
  ///
  /// Without ``RuntimeLayout/referenceCounts``, this is 0, which no object has. In that case, no memory is used again.
  private static let ofSingleReference: UInt = {
    var operation = newOperation()
    // Read through the variable's bytes, so that the compiler's own references are not counted.
    return RuntimeLayout.referenceCounts.isKnown && isKnownUniquelyReferenced(&operation)
      ? withUnsafeBytes(of: &operation) { word(of: $0.load(as: UnsafeRawPointer.self)) } : 0
  }()

  // A separate function. Otherwise, the compiler would put the object on the stack, and the runtime would note that in
  // the word.
  @inline(never) private static func newOperation() -> BlockOperation { BlockOperation() }

  /// Whether the caller, which owns the object, has the only reference of any kind that Swift counts.
  ///
  /// `isKnownUniquelyReferenced` does not see unowned and weak references. The runtime counts unowned references in the
  /// second word of an object, after the pointer to its type (`HeapObject.h`). With a weak reference, the word becomes
  /// a pointer to a table. Therefore, this function compares the word with the word of an object that has no other
  /// references.
  static func hasNoOtherReference<Object: AnyObject>(_ object: Unmanaged<Object>) -> Bool {
    word(of: object.toOpaque()) == ofSingleReference
  }

  @inline(__always) private static func word(of object: UnsafeRawPointer) -> UInt {
    object.load(fromByteOffset: MemoryLayout<UInt>.size, as: UInt.self)
  }
}
