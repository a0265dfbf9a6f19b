import Headway

/// The format of a CSV file: its delimiter, its quote, and the rules for records.
///
/// The default is RFC 4180: `,` between fields, `"` around them, and LF or CRLF at the end of a record.
///
/// ```swift
/// let german = CSVDialect(delimiter: UInt8(ascii: ";"))
/// ```
public struct CSVDialect: Sendable, Hashable {
  /// The byte between two fields.
  public var delimiter: UInt8

  /// The byte around a quoted field.
  ///
  /// Doubled inside one, it represents itself.
  ///
  /// A quote opens a field only as the field's first byte. Anywhere else in a field that is not quoted, it is data, as
  /// in Python's `csv`, SQLite's shell and most other readers. If the quote is an apostrophe, an apostrophe between two
  /// letters inside a quoted field is also data, whether or not a space follows it: `'won't'`, `'kids' shoes'`.
  public var quote: UInt8

  /// The byte that makes a quote, or itself, part of a quoted field: `"a \"b\" c"` with a backslash.
  ///
  /// Nil for none.
  ///
  /// Before any other byte, and outside quotes, it is data. A doubled quote still represents one quote.
  public var escape: UInt8?

  /// Whether spaces between a delimiter and a field are not part of the field, as in `a, "b"`.
  ///
  /// Spaces between a closing quote and the next delimiter are not part of the field either, as in `"a" , "b"`.
  public var skipsSpacesAfterDelimiter: Bool

  /// The first byte of comment lines, which are skipped and do not count as records.
  ///
  /// Nil if there are none.
  public var comment: UInt8?

  /// Whether a CR without a following LF ends a record, as in files of the classic Mac OS.
  ///
  /// If false, such a CR is data. LF and CRLF always end a record.
  public var endsRecordsAtLoneCarriageReturn: Bool

  /// Whether an empty line is a record of one empty field.
  ///
  /// If false, it is skipped and does not count as a record.
  public var keepsBlankLines: Bool

  /// Creates a dialect.
  ///
  /// The delimiter, the quote and the escape must differ, and neither they nor the comment can be CR or LF. A dialect
  /// that violates this is a programming error: the program stops when a parser is created from it.
  ///
  /// - Parameters:
  ///   - delimiter: The byte between two fields.
  ///   - quote: The byte around a quoted field.
  ///   - escape: The byte that makes a quote part of a quoted field.
  ///   - skipsSpacesAfterDelimiter: Whether spaces between a delimiter and a field are not part of the field.
  ///   - comment: The first byte of comment lines.
  ///   - endsRecordsAtLoneCarriageReturn: Whether a CR without a following LF ends a record.
  ///   - keepsBlankLines: Whether an empty line is a record of one empty field.
  public init(
    delimiter: UInt8 = UInt8(ascii: ","),
    quote: UInt8 = UInt8(ascii: "\""),
    escape: UInt8? = nil,
    skipsSpacesAfterDelimiter: Bool = false,
    comment: UInt8? = nil,
    endsRecordsAtLoneCarriageReturn: Bool = false,
    keepsBlankLines: Bool = false
  ) {
    self.delimiter = delimiter
    self.quote = quote
    self.escape = escape
    self.skipsSpacesAfterDelimiter = skipsSpacesAfterDelimiter
    self.comment = comment
    self.endsRecordsAtLoneCarriageReturn = endsRecordsAtLoneCarriageReturn
    self.keepsBlankLines = keepsBlankLines
  }

  /// Stops the process if two bytes of the dialect are equal, or if a byte is a line ending.
  func requireUsable() {
    let lineEnds = [UInt8(ascii: "\n"), UInt8(ascii: "\r")]
    require(
      delimiter != quote && escape != delimiter && escape != quote
        && [delimiter, quote, escape, comment].allSatisfy { byte in byte.map { !lineEnds.contains($0) } ?? true },
      """
      CSVDialect: the delimiter \(delimiter), the quote \(quote), the escape \(escape.map { "\($0)" } ?? "none") and \
      the comment \(comment.map { "\($0)" } ?? "none") can't be used together. Use different \
      bytes, and neither CR nor LF.
      """)
  }

  /// Whether the scanner needs its slower loop.
  var hasExtensions: Bool { escape != nil || skipsSpacesAfterDelimiter || quote == UInt8(ascii: "'") }
}
