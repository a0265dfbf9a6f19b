extension LineReader.Line {
  /// A part of a line, to be looked at where the line is.
  ///
  /// It is valid while the line is: do not keep it, copy what you need.
  public struct Field {
    /// The bytes.
    ///
    /// The pointer is valid while the line is.
    public let bytes: UnsafeRawBufferPointer

    /// Makes a field of bytes.
    ///
    /// - Parameter bytes: The bytes, which must stay where they are while the field is used.
    public init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// The bytes as a string; what is not UTF-8 becomes U+FFFD.
    ///
    /// - Complexity: O(n) in the number of bytes.
    public var string: String { String(decoding: bytes, as: UTF8.self) }

    /// The whole number that the bytes are in decimal notation, or nil.
    ///
    /// A sign and blanks around it are allowed, nothing else. Nil if it does not fit.
    ///
    /// - Complexity: O(n) in the number of bytes. No allocation.
    public var integer: Int? { NumberParsing.integer(bytes).flatMap { Int(exactly: $0) } }

    /// The number that the bytes are in decimal notation, with or without an exponent, or nil.
    ///
    /// It is the nearest there is, and finite. A sign and blanks around it are allowed; names such as `nan` and
    /// hexadecimal digits are not.
    ///
    /// - Complexity: O(n) in the number of bytes.
    public var double: Double? { NumberParsing.real(bytes) }
  }

  /// The whole line as a field, for its numbers.
  public var field: Field { Field(bytes) }

  /// Divides the line at each of certain bytes, without a copy.
  ///
  /// ```swift
  /// try reader.forEachLine { line in
  ///   for field in line.split(separator: UInt8(ascii: "\t")) { total += field.integer ?? 0 }
  /// }
  /// ```
  ///
  /// Between two separators that follow each other is an empty field, and so there is one more field than there are
  /// separators. Quotes mean nothing here: for CSV there is `HeadwayCSV`.
  ///
  /// - Parameter separator: The byte between two fields.
  /// - Returns: The fields, in order, found one by one as they are asked for. They are valid while the line is.
  /// - Complexity: O(1); O(n) in the length of the line for all fields. No allocation.
  public func split(separator: UInt8) -> Fields { Fields(bytes, separator: separator) }

  /// The fields of a line.
  ///
  /// See ``LineReader/Line/split(separator:)``.
  public struct Fields: Sequence, IteratorProtocol {
    private let bytes: UnsafeRawBufferPointer
    private let separator: UInt8
    /// Where the next field starts; nil when there is none.
    private var start: Int? = 0

    init(_ bytes: UnsafeRawBufferPointer, separator: UInt8) {
      (self.bytes, self.separator) = (bytes, separator)
    }

    /// Finds the next field.
    ///
    /// - Returns: The field, or nil behind the last.
    /// - Complexity: O(n) in the length of the field.
    public mutating func next() -> Field? {
      guard let start else { return nil }
      guard let base = bytes.baseAddress else {
        self.start = nil
        return Field(bytes)
      }
      let end = Platform.position(of: separator, in: base, from: start, to: bytes.count)
      self.start = end < bytes.count ? end + 1 : nil
      return Field(UnsafeRawBufferPointer(start: base + start, count: end - start))
    }
  }
}
