extension CSVDialect {
  /// Guesses from the start of a file how it is written.
  ///
  /// - **The delimiter** is the comma, semicolon, tab or bar that divides most of the first records into one number of
  ///   fields, more than one; the first record, mostly the header, counts as an eighth of the others more. Of those
  ///   that do so alike, it is the one that makes more fields; then the one named first. A space counts where none of
  ///   these divides the first record, if some fields are in quotes and it divides all records into as many fields; or
  ///   if all rows have a field in quotes behind another, and most records have as many fields as the first one. A
  ///   sample that nothing divides gives the comma.
  /// - **The quote** is `'` where no field is in `"`, no record is malformed then, by itself or with a backslash as the
  ///   escape, and either it keeps delimiters or line ends inside fields, or all values of one column are in such
  ///   quotes; and, with an apostrophe here and there
  ///   in such fields, where at least twice as many records then have as many fields.
  /// - **The escape** is a backslash where that makes malformed records well-formed, and no other malformed.
  /// - **Spaces behind delimiters** are no data where each delimiter, outside quotes, is followed by one.
  /// - **A lone CR** ends a record where there are more of these than of LF.
  ///
  /// Comments are not looked for.
  ///
  /// - Parameters:
  ///   - bytes: The first bytes of the file; some kilobytes are plenty. The sample may end anywhere: a record cut by
  ///     its end is looked at only when there is no complete one.
  ///   - delimiter: The delimiter, if it is known.
  ///   - quote: The quote, if it is known.
  ///   - escape: The escape, if it is known; the quote means none, since a doubled one is read in any case.
  ///   - comment: The first byte of lines that are comments; nil if there are none.
  ///   - skippedLines: How many physical lines at the start are no records.
  /// - Returns: The dialect.
  /// - Complexity: O(*n*) in the length of the sample's first 500 records.
  public static func sniffed(
    from bytes: UnsafeRawBufferPointer, delimiter: UInt8? = nil, quote: UInt8? = nil, escape: UInt8? = nil,
    comment: UInt8? = nil, skippedLines: Int = 0
  ) -> CSVDialect {
    let delimiters = [",", ";", "\t", "|"].map { UInt8(ascii: $0 as Unicode.Scalar) }
    // A doubled quote is read without that.
    let escape = escape == quote ?? UInt8(ascii: "\"") ? nil : escape
    var known = CSVDialect(
      quote: quote ?? UInt8(ascii: "\""), escape: escape, comment: comment,
      endsRecordsAtLoneCarriageReturn: endsRecordsAtLoneCarriageReturn(bytes))
    known.delimiter = delimiters.first { $0 != known.quote && $0 != escape } ?? known.delimiter
    func sample(_ dialect: CSVDialect) -> DialectSample {
      DialectSample(bytes, dialect, skippedLines: skippedLines)
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
    // The last byte may be the first of a CRLF.
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
