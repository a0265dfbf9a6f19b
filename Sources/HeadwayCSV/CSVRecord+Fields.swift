import Headway

extension CSVRecord {
  @usableFromInline
  func outOfRange(_ index: Int) -> Never {
    misuse("The record in line \(lineNumber) has no field \(index): it has \(count), and indices start at 0.")
  }

  /// Returns a field's bytes, without the quotes around it and with each doubled quote replaced by one.
  ///
  /// They point into the caller's buffer, or, for a field with doubled or escaped quotes, into a buffer of the parser.
  /// The bytes of all fields are valid at the same time, but only until the closure that received the record returns.
  ///
  /// - Parameter index: The field's index, starting at 0 and less than ``count``.
  /// - Returns: The bytes, without a terminator.
  /// - Complexity: O(1). Nothing is copied.
  @inlinable
  public func unsafeBytes(at index: Int) -> UnsafeRawBufferPointer {
    if index < 0 || index >= count { outOfRange(index) }
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

  /// Calls a closure with a field's bytes, without the quotes around it and with each doubled quote replaced by one.
  ///
  /// - Parameters:
  ///   - index: The field's index, starting at 0 and less than ``count``.
  ///   - body: A closure that receives the bytes, which are valid until it returns.
  /// - Returns: The value that the closure returns.
  /// - Throws: The error that the closure throws.
  /// - Complexity: O(1). Nothing is copied.
  @inlinable
  public func withUnsafeBytes<Result, Failure: Error>(
    ofField index: Int, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(unsafeBytes(at: index))
  }

  /// Returns a field as a string, with U+FFFD for bytes that are not valid UTF-8.
  ///
  /// - Parameter index: The field's index, starting at 0 and less than ``count``.
  /// - Returns: The field's text.
  /// - Complexity: O(*n*) in the field's length.
  public func string(at index: Int) -> String {
    String(decoding: unsafeBytes(at: index), as: UTF8.self)
  }

  /// All fields as strings, with U+FFFD for bytes that are not valid UTF-8.
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

  /// Returns whether a line of JSON Lines lacks the member for a field.
  package func isAbsent(at index: Int) -> Bool { ends[index].isPlain }

  /// Returns whether a field is in quotes in the file, so that an importer can distinguish `""` from nothing.
  ///
  /// - Parameter index: The field's index, starting at 0 and less than ``count``.
  /// - Returns: True if the field is quoted.
  /// - Complexity: O(1)
  @inlinable
  public func wasQuoted(at index: Int) -> Bool {
    if index < 0 || index >= count { outOfRange(index) }
    return ends[index].isQuoted
  }
}
