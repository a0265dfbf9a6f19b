extension LineReader.Line {
  /// A part of a line that refers to the bytes of the line.
  ///
  /// It is valid as long as the line is. Do not store it; copy the values that you need.
  public struct Field {
    /// The bytes.
    ///
    /// The pointer is valid as long as the line is.
    public let bytes: UnsafeRawBufferPointer

    /// Creates a field from bytes.
    ///
    /// - Parameter bytes: The bytes, which must stay valid and in place while the field is used.
    public init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// The bytes as a string.
    ///
    /// Bytes that are not UTF-8 become U+FFFD.
    ///
    /// - Complexity: O(n) in the number of bytes.
    public var string: String { String(decoding: bytes, as: UTF8.self) }

    /// The integer that the bytes represent in decimal notation, or nil.
    ///
    /// A sign, and blanks before and after the number, are allowed; nothing else is. Nil if the number does not fit.
    ///
    /// - Complexity: O(n) in the number of bytes. No allocation.
    public var integer: Int? { NumberParsing.integer(bytes).flatMap { Int(exactly: $0) } }

    /// The number that the bytes represent in decimal notation, with or without an exponent, or nil.
    ///
    /// The value is the nearest finite `Double`. A sign, and blanks before and after the number, are allowed. Names
    /// such as `nan` and hexadecimal digits are not.
    ///
    /// - Complexity: O(n) in the number of bytes.
    public var double: Double? { NumberParsing.real(bytes) }
  }

  /// The whole line as a field, for reading numbers.
  public var field: Field { Field(bytes) }

  /// Splits the line at each occurrence of a byte, without copying.
  ///
  /// ```swift
  /// try reader.forEachLine { line in
  ///   for field in line.split(separator: UInt8(ascii: "\t")) { total += field.integer ?? 0 }
  /// }
  /// ```
  ///
  /// There is an empty field between two adjacent separators, so there is one more field than there are separators.
  /// Quotes have no special meaning here; for CSV, use `HeadwayCSV`.
  ///
  /// - Parameter separator: The byte between two fields.
  /// - Returns: The fields, in order. Each is found when you request it, and is valid as long as the line is.
  /// - Complexity: O(1); O(n) in the length of the line for all fields. No allocation.
  public func split(separator: UInt8) -> Fields { Fields(bytes, separator: separator) }

  /// The fields of a line.
  ///
  /// See ``LineReader/Line/split(separator:)``.
  public struct Fields: Sequence, IteratorProtocol {
    private let bytes: UnsafeRawBufferPointer
    private let separator: UInt8
    /// The start of the next field.
    ///
    /// Nil if there is none.
    private var start: Int? = 0

    init(_ bytes: UnsafeRawBufferPointer, separator: UInt8) {
      (self.bytes, self.separator) = (bytes, separator)
    }

    /// Finds the next field.
    ///
    /// - Returns: The field, or nil after the last one.
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
