extension CSVDialect {
  /// Guesses from the start of a file the delimiter (comma, semicolon, tab or bar) and whether a lone CR ends a record,
  /// as it does where more of these are than LF.
  ///
  /// Each is tried on the first records, quotes respected. The one wins that divides most of them into the same number
  /// of fields as the first record, more than one; then the one that makes more fields; then the one named first above.
  /// A sample that none of them divides gives the comma. Everything else is as in a default dialect.
  ///
  /// - Parameters:
  ///   - bytes: The first bytes of the file; some kilobytes are plenty. The sample may end anywhere: a record cut by
  ///     its end is looked at only when there is no complete one.
  ///   - delimiter: The delimiter, if it is known.
  /// - Returns: The dialect.
  /// - Complexity: O(*n*) in the length of the sample's first 64 records.
  public static func sniffed(from bytes: UnsafeRawBufferPointer, delimiter: UInt8? = nil) -> CSVDialect {
    let (lineFeed, carriageReturn) = (UInt8(ascii: "\n"), UInt8(ascii: "\r"))
    // The last byte may be the first of a CRLF.
    let loneCarriageReturns = bytes.indices.dropLast().count {
      bytes[$0] == carriageReturn && bytes[$0 + 1] != lineFeed
    }
    let endsAtCarriageReturn = loneCarriageReturns > bytes.count { $0 == lineFeed }
    func dialect(_ delimiter: UInt8) -> CSVDialect {
      CSVDialect(delimiter: delimiter, endsRecordsAtLoneCarriageReturn: endsAtCarriageReturn)
    }
    if let delimiter { return dialect(delimiter) }
    var best = (score: Score(agreement: 0, fieldCount: 1), dialect: dialect(UInt8(ascii: ",")))
    for delimiter in [",", ";", "\t", "|"] as [Unicode.Scalar] {
      let candidate = dialect(UInt8(ascii: delimiter))
      let score = candidate.score(on: bytes)
      if best.score < score {
        best = (score, candidate)
      }
    }
    return best.dialect
  }

  /// How well a dialect divides a sample.
  private struct Score: Comparable {
    /// The share of records with as many fields as the first.
    var agreement: Double
    /// The fields of the first record.
    var fieldCount: Int

    static func < (left: Score, right: Score) -> Bool {
      (left.agreement, left.fieldCount) < (right.agreement, right.fieldCount)
    }
  }

  /// Parses the sample's first complete records, or the one incomplete record that it is.
  private func score(on bytes: UnsafeRawBufferPointer) -> Score {
    var counts = fieldCounts(in: bytes, isFinal: false)
    if counts.isEmpty {
      counts = fieldCounts(in: bytes, isFinal: true)
    }
    guard let first = counts.first, first > 1 else { return Score(agreement: 0, fieldCount: 1) }
    let agreeing = counts.count { $0 == first }
    return Score(agreement: Double(agreeing) / Double(counts.count), fieldCount: first)
  }

  /// The number of fields of each of the first records, 0 for a malformed one.
  private func fieldCounts(in bytes: UnsafeRawBufferPointer, isFinal: Bool) -> [Int] {
    // Enough to tell a delimiter from a comma in a text, and quick on a large sample.
    let limit = 64
    var counts: [Int] = []
    var parser = CSVParser(dialect: self)
    _ = parser.parse(bytes, isFinal: isFinal) { record in
      counts.append(record.count)
      return counts.count < limit ? .continue : .stop
    } malformed: { _ in
      counts.append(0)
      return counts.count < limit ? .continue : .stop
    }
    return counts
  }
}
