extension CSVDialect {
  /// The delimiters that are tried, in the order of preference.
  static let usualDelimiters = [",", ";", "\t", "|"].map { UInt8(ascii: $0 as Unicode.Scalar) }

  /// Detects the dialect of a file from its first bytes.
  ///
  /// The sample is parsed with each possible dialect, and the best one is chosen.
  ///
  /// - **The delimiter** is the comma, semicolon, tab, or bar that divides the largest share of the records into the
  ///   same number of fields, more than one. A record with a quote inside an unquoted field counts only half, because
  ///   the quote might enclose the delimiters after it. The first record, which is usually the header, has an extra
  ///   weight of an eighth of the records. Lines at the beginning that start with `#` don't count, unless there are no
  ///   other lines. If several delimiters do equally well, the following criteria decide, in this order. First: quoted
  ///   fields that contain other delimiters. Second: a last comment line, without a space after the `#`, that has as
  ///   many names as the records have fields. Third: more values that are numbers, dates, or times. Fourth: such a
  ///   comment line with a space. Fifth: more fields. Sixth: the order of the delimiters above. If no delimiter divides
  ///   the first record, a space is considered in two cases. In the first case, some fields are in quotes and the space
  ///   divides all records into the same number of fields. In the second case, every row has a quoted field after
  ///   another field, and most records have as many fields as the first record. If nothing divides the sample, the
  ///   delimiter is the comma.
  /// - **The quote** is `'` only if no field is in `"`. In addition, no record may then be malformed, with or without a
  ///   backslash as the escape. The apostrophes must also enclose delimiters or line endings inside fields, or all
  ///   values of one column. If such fields contain single apostrophes, so that records are malformed, at least twice
  ///   as many records must then have the same number of fields.
  /// - **The escape** is a backslash if that makes malformed records well-formed, and makes no other record malformed.
  /// - **Spaces around fields** are not data if every delimiter outside quotes is followed by one, or if quotes are
  ///   otherwise read as data, or make records malformed.
  /// - **A lone CR** ends a record if there are more lone CRs than LFs.
  ///
  /// Comments are not detected.
  ///
  /// - Parameters:
  ///   - bytes: The first bytes of the file; a few kilobytes are enough. The sample can end anywhere: a record that the
  ///     end of the sample cuts off is examined only if there is no complete one.
  ///   - delimiter: The delimiter, or nil to detect it.
  ///   - quote: The quote, or nil to detect it.
  ///   - escape: The escape, or nil to detect it. Passing the quote has no effect, because a doubled quote is
  ///     recognized in any case.
  ///   - comment: The first byte of comment lines. Nil if there are none.
  ///   - skippedLineCount: The number of physical lines at the start that are not records.
  /// - Returns: The detected dialect, with the values that were passed.
  /// - Complexity: O(*n*) in the length of the sample's first 5,000 records.
  public static func detected(
    from bytes: UnsafeRawBufferPointer, delimiter: UInt8? = nil, quote: UInt8? = nil, escape: UInt8? = nil,
    comment: UInt8? = nil, skippedLineCount: Int = 0
  ) -> CSVDialect {
    // A doubled quote is recognized without an escape.
    let escape = escape == quote ?? UInt8(ascii: "\"") ? nil : escape
    let known = CSVDialect(
      quote: quote ?? UInt8(ascii: "\""), escape: escape, comment: comment,
      endsRecordsAtLoneCarriageReturn: endsRecordsAtLoneCarriageReturn(bytes))
    let comments = LeadingComments(
      in: bytes, behindLine: skippedLineCount, endsLinesAtCarriageReturn: known.endsRecordsAtLoneCarriageReturn)
    let detection = DialectDetection(
      bytes: bytes, known: known, findsQuote: quote == nil, findsEscape: escape == nil,
      skippedLineCount: comment == nil ? comments.nextLine - 1 : skippedLineCount,
      lastComment: comment == nil ? comments.lines.last?.bytes : nil)
    return detection.best(among: delimiter.map { [$0] } ?? usualDelimiters, isKnown: delimiter != nil)
  }

  private static func endsRecordsAtLoneCarriageReturn(_ bytes: UnsafeRawBufferPointer) -> Bool {
    let (lineFeed, carriageReturn) = (UInt8(ascii: "\n"), UInt8(ascii: "\r"))
    // The last byte might be the first of a CRLF.
    let loneCarriageReturns = bytes.indices.dropLast().count {
      bytes[$0] == carriageReturn && bytes[$0 + 1] != lineFeed
    }
    return loneCarriageReturns > bytes.count { $0 == lineFeed }
  }

  func with<Value>(_ property: WritableKeyPath<CSVDialect, Value>, _ value: Value) -> CSVDialect {
    var dialect = self
    dialect[keyPath: property] = value
    return dialect
  }
}
