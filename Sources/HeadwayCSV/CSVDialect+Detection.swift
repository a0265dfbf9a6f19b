extension CSVDialect {
  /// Detects the dialect of a file from its first bytes.
  ///
  /// - **The delimiter** is the comma, semicolon, tab or bar that divides the largest share of the first records into
  ///   the same number of fields, more than one. The first record, which is usually the header, has the extra weight of
  ///   an eighth of the records. If several delimiters do equally well, the one that produces more fields is chosen,
  ///   and then the one named first here. If none of these divides the first record, a space is considered in two
  ///   cases: some fields are in quotes and the space divides all records into the same number of fields; or every row
  ///   has a quoted field after another field, and most records have as many fields as the first one. If nothing
  ///   divides the sample, the delimiter is the comma.
  /// - **The quote** is `'` only if no field is in `"`. In addition, no record may then be malformed, with or without a
  ///   backslash as the escape, and either the apostrophes enclose delimiters or line ends inside fields, or all values
  ///   of one column are in apostrophes. If such fields contain single apostrophes, so that records are malformed, at
  ///   least twice as many records must then have the same number of fields.
  /// - **The escape** is a backslash if that makes malformed records well-formed, and makes no other record malformed.
  /// - **Spaces after delimiters** are not data if every delimiter outside quotes is followed by one.
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
  /// - Returns: The dialect.
  /// - Complexity: O(*n*) in the length of the sample's first 500 records.
  public static func detected(
    from bytes: UnsafeRawBufferPointer, delimiter: UInt8? = nil, quote: UInt8? = nil, escape: UInt8? = nil,
    comment: UInt8? = nil, skippedLineCount: Int = 0
  ) -> CSVDialect {
    let delimiters = [",", ";", "\t", "|"].map { UInt8(ascii: $0 as Unicode.Scalar) }
    // A doubled quote is recognized without an escape.
    let escape = escape == quote ?? UInt8(ascii: "\"") ? nil : escape
    var known = CSVDialect(
      quote: quote ?? UInt8(ascii: "\""), escape: escape, comment: comment,
      endsRecordsAtLoneCarriageReturn: endsRecordsAtLoneCarriageReturn(bytes))
    known.delimiter = delimiters.first { $0 != known.quote && $0 != escape } ?? known.delimiter
    func sample(_ dialect: CSVDialect) -> DialectSample {
      DialectSample(bytes, dialect, skippedLineCount: skippedLineCount)
    }
    var best = sample(delimiter.map { known.with(\.delimiter, $0) } ?? known)
    if delimiter == nil {
      for candidate in delimiters where candidate != known.quote && candidate != escape {
        let next = sample(known.with(\.delimiter, candidate))
        if best.score < next.score { best = next }
      }
      if best.firstFieldCount <= 1, known.quote != UInt8(ascii: " "), escape != UInt8(ascii: " ") {
        let spaced = sample(known.with(\.delimiter, UInt8(ascii: " ")))
        if spaced.quotedCount > 0, spaced.dividesAll || spaced.dividesRows { best = spaced }
      }
    }
    let (apostrophe, backslash) = (UInt8(ascii: "'"), UInt8(ascii: "\\"))
    if quote == nil, best.quotedCount == 0, best.dialect.delimiter != apostrophe, escape != apostrophe {
      let alone = best.dialect.with(\.quote, apostrophe)
      let mayHaveEscape = escape == nil && best.dialect.delimiter != backslash
      for dialect in mayHaveEscape ? [alone, alone.with(\.escape, backslash)] : [alone] {
        let next = sample(dialect)
        let isPlausible =
          next.malformedCount == 0
          ? best.score < next.score || next.hasQuotedColumn : next.score.agreement >= 2 * best.score.agreement
        guard next.quotedCount > 0, isPlausible else { continue }
        best = next
        break
      }
    }
    if escape == nil, best.malformedCount > 0, best.dialect.delimiter != backslash, best.dialect.quote != backslash {
      let next = sample(best.dialect.with(\.escape, backslash))
      if next.malformedCount == 0 { best = next }
    }
    if best.beginsFieldsWithSpaces, best.dialect.delimiter != UInt8(ascii: " ") {
      let next = sample(best.dialect.with(\.skipsSpacesAfterDelimiter, true))
      if next.malformedCount <= best.malformedCount { best = next }
    }
    return best.dialect
  }

  private static func endsRecordsAtLoneCarriageReturn(_ bytes: UnsafeRawBufferPointer) -> Bool {
    let (lineFeed, carriageReturn) = (UInt8(ascii: "\n"), UInt8(ascii: "\r"))
    // The last byte might be the first of a CRLF.
    let loneCarriageReturns = bytes.indices.dropLast().count {
      bytes[$0] == carriageReturn && bytes[$0 + 1] != lineFeed
    }
    return loneCarriageReturns > bytes.count { $0 == lineFeed }
  }

  private func with<Value>(_ property: WritableKeyPath<CSVDialect, Value>, _ value: Value) -> CSVDialect {
    var dialect = self
    dialect[keyPath: property] = value
    return dialect
  }
}
