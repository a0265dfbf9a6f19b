/// How a CSV file is written: its delimiter, its quote, and what counts as a record.
///
/// The default is RFC 4180: `,` between fields, `"` around them, LF or CRLF at the end of a record.
///
/// ```swift
/// let german = CSVDialect(delimiter: UInt8(ascii: ";"))
/// ```
public struct CSVDialect: Sendable, Hashable {
  /// The byte between two fields.
  public var delimiter: UInt8

  /// The byte around a quoted field; doubled inside one, it stands for itself.
  ///
  /// A quote opens a field only as the field's first byte. Anywhere else in a field that is not quoted it is data, as
  /// in Python's `csv`, SQLite's shell and most other readers. If the quote is an apostrophe, one between two letters
  /// inside a quoted field is data, too, with a space behind it or not: `'won't'`, `'kids' shoes'`.
  public var quote: UInt8

  /// The byte that makes a quote, or itself, a part of a quoted field: `"a \"b\" c"` with a backslash; nil for none.
  ///
  /// Before any other byte, and outside quotes, it is data. A doubled quote still means one.
  public var escape: UInt8?

  /// Whether spaces between a delimiter and a field are no part of the field, as in `a, "b"`.
  public var skipsSpacesAfterDelimiter: Bool

  /// The first byte of lines that are comments, which are skipped and take no ordinal; nil if there are none.
  public var comment: UInt8?

  /// Whether a CR that no LF follows ends a record, as in files of the classic Mac OS.
  ///
  /// When false, such a CR is data. LF and CRLF always end a record.
  public var endsRecordsAtLoneCarriageReturn: Bool

  /// Whether a line without any byte is a record of one empty field; when false it is skipped and takes no ordinal.
  public var keepsBlankLines: Bool

  /// Describes a dialect.
  ///
  /// The delimiter, the quote and the escape must differ, and none of them, nor the comment, may be CR or LF: anything
  /// else is a programming error and stops the program when a parser is made from the dialect.
  ///
  /// - Parameters:
  ///   - delimiter: The byte between two fields.
  ///   - quote: The byte around a quoted field.
  ///   - escape: The byte that makes a quote a part of a quoted field.
  ///   - skipsSpacesAfterDelimiter: Whether spaces between a delimiter and a field are no part of the field.
  ///   - comment: The first byte of lines that are comments.
  ///   - endsRecordsAtLoneCarriageReturn: Whether a CR that no LF follows ends a record.
  ///   - keepsBlankLines: Whether a blank line is a record of one empty field.
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

  /// Whether a parser can tell the dialect's bytes apart.
  var isUsable: Bool {
    let lineEnds = [UInt8(ascii: "\n"), UInt8(ascii: "\r")]
    return delimiter != quote && escape != delimiter && escape != quote
      && [delimiter, quote, escape, comment].allSatisfy { byte in byte.map { !lineEnds.contains($0) } ?? true }
  }

  /// Whether the scanner needs its slower loop.
  var hasExtensions: Bool { escape != nil || skipsSpacesAfterDelimiter || quote == UInt8(ascii: "'") }
}
