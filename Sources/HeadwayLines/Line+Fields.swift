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

  /// Splits the line at each occurrence of a text, without copying.
  ///
  /// ```swift
  /// try reader.forEachLine { line in
  ///   for field in line.split(separator: "\t") { total += field.integer ?? 0 }
  /// }
  /// ```
  ///
  /// There is an empty field between two adjacent separators, so there is one more field than there are separators,
  /// unless empty fields are omitted. The method of `Collection` with this name omits them by default; this one does
  /// not, because the position of a field usually specifies its meaning. Omit them for columns that are aligned with
  /// several blanks. Quotes have no special meaning here; for CSV, use `HeadwayCSV`.
  ///
  /// - Parameters:
  ///   - separator: The text between two fields, compared byte by byte. A text of a single byte, such as a blank, is
  ///     found fastest.
  ///   - omittingEmptySubsequences: Whether fields without bytes are omitted.
  /// - Returns: The fields, in order. Each is found when you request it and is valid as long as the line is.
  /// - Precondition: The separator is not empty.
  /// - Complexity: O(1); about O(n) in the length of the line for all fields. No allocation.
  public func split(separator: String, omittingEmptySubsequences: Bool = false) -> Fields {
    Fields(bytes, separator: Separator(separator), omitsEmptyFields: omittingEmptySubsequences)
  }

  /// Splits the line at each occurrence of a byte, without copying.
  ///
  /// Same as ``split(separator:omittingEmptySubsequences:)-(String,_)`` for a byte that is not known as text.
  ///
  /// - Parameters:
  ///   - separator: The byte between two fields.
  ///   - omittingEmptySubsequences: Whether fields without bytes are omitted.
  /// - Returns: The fields, in order. Each is found when you request it and is valid as long as the line is.
  /// - Complexity: O(1); O(n) in the length of the line for all fields. No allocation.
  public func split(separator: UInt8, omittingEmptySubsequences: Bool = false) -> Fields {
    Fields(bytes, separator: .byte(separator), omitsEmptyFields: omittingEmptySubsequences)
  }

  /// Returns one of the fields between separators, without looking at the rest of the line.
  ///
  /// ```swift
  /// try reader.forEachLine { line in
  ///   if line.field(8, separator: " ")?.integer == 500 { print(line.number) }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - position: The position of the field, starting at 0.
  ///   - separator: The text between two fields, compared byte by byte.
  ///   - omittingEmptySubsequences: Whether fields without bytes are omitted and not counted.
  /// - Returns: The field, which is valid as long as the line is. Nil if the line has fewer fields.
  /// - Precondition: The position is not negative, and the separator is not empty.
  /// - Complexity: About O(n) in the number of bytes up to the end of the field. No allocation.
  public func field(_ position: Int, separator: String, omittingEmptySubsequences: Bool = false) -> Field? {
    split(separator: separator, omittingEmptySubsequences: omittingEmptySubsequences).field(at: position)
  }

  /// Returns one of the fields between separators, without looking at the rest of the line.
  ///
  /// Same as ``field(_:separator:omittingEmptySubsequences:)-(_,String,_)`` for a byte that is not known as text.
  ///
  /// - Parameters:
  ///   - position: The position of the field, starting at 0.
  ///   - separator: The byte between two fields.
  ///   - omittingEmptySubsequences: Whether fields without bytes are omitted and not counted.
  /// - Returns: The field, which is valid as long as the line is. Nil if the line has fewer fields.
  /// - Precondition: The position is not negative.
  /// - Complexity: O(n) in the number of bytes up to the end of the field. No allocation.
  public func field(_ position: Int, separator: UInt8, omittingEmptySubsequences: Bool = false) -> Field? {
    split(separator: separator, omittingEmptySubsequences: omittingEmptySubsequences).field(at: position)
  }
}
