extension CSVRecord {
  /// A field's bytes, without the quotes around it and with doubled quotes undone.
  ///
  /// They point into the caller's buffer, or, for a field with doubled or escaped quotes, into one of the parser's. The
  /// bytes of all fields are valid at the same time, until the closure that received the record returns, and no longer.
  ///
  /// - Parameter index: The field's index from 0; it must be less than ``count``.
  /// - Returns: The bytes, not terminated.
  /// - Complexity: O(1), nothing is copied.
  @inlinable
  public func unsafeBytes(at index: Int) -> UnsafeRawBufferPointer {
    precondition(index >= 0 && index < count, "A field index is out of range")
    let end = ends[index]
    let fieldStart = index == 0 ? 0 : ends[index &- 1].position &+ 1
    if end.isPlain {
      return UnsafeRawBufferPointer(start: start + fieldStart, count: end.position &- fieldStart)
    }
    if !end.isRewritten {
      return UnsafeRawBufferPointer(start: start + fieldStart + 1, count: end.position &- fieldStart &- 2)
    }
    return unescaped.bytes(ofField: index, at: fieldStart)
  }

  /// Calls a closure with a field's bytes, without the quotes around it and with doubled quotes undone.
  ///
  /// - Parameters:
  ///   - index: The field's index from 0; it must be less than ``count``.
  ///   - body: Receives the bytes; they are valid until it returns.
  /// - Returns: What the closure returns.
  /// - Throws: What the closure throws.
  /// - Complexity: O(1), nothing is copied.
  @inlinable
  public func withUnsafeBytes<Result, Failure: Error>(
    ofField index: Int, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(unsafeBytes(at: index))
  }

  /// A field as a string; bytes that are not valid UTF-8 become U+FFFD.
  ///
  /// - Parameter index: The field's index from 0; it must be less than ``count``.
  /// - Returns: The field's text.
  /// - Complexity: O(*n*) in the field's length.
  public func string(at index: Int) -> String {
    String(decoding: unsafeBytes(at: index), as: UTF8.self)
  }

  /// All fields as strings; bytes that are not valid UTF-8 become U+FFFD.
  ///
  /// - Complexity: O(*n*) in the record's length.
  public var fields: [String] {
    var strings: [String] = []
    strings.reserveCapacity(count)
    for index in 0..<count {
      strings.append(string(at: index))
    }
    return strings
  }

  /// Whether a field is in quotes in the file: how an importer tells `""` from nothing.
  ///
  /// - Parameter index: The field's index from 0; it must be less than ``count``.
  /// - Returns: True when the field is quoted.
  /// - Complexity: O(1)
  @inlinable
  public func wasQuoted(at index: Int) -> Bool {
    precondition(index >= 0 && index < count, "A field index is out of range")
    return ends[index].isQuoted
  }
}
