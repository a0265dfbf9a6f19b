/// The positions of the header and the rows in a file.
package struct FileLayout: Sendable {
  /// A record at the beginning of a file that is neither a row nor a header.
  package struct SkippedRecord: Sendable {
    package let lineNumber: Int
    package let reason: String
    package let record: [UInt8]
  }

  /// A header whose quotes or delimiters had to be repaired.
  struct RepairedHeader {
    let lineNumber: Int
    let names: [String]
  }

  /// The number of physical lines before the first record.
  package private(set) var skippedLineCount = 0
  /// Whether a record names the columns.
  package private(set) var hasHeader = true
  /// The number of records that name them together.
  package private(set) var headerRecordCount = 1
  /// The columns whose values are not text, if several records name the columns.
  private(set) var typedColumns: [Int] = []
  /// Whether the header has surplus empty names, for example after a delimiter at its end.
  package private(set) var hasSurplusNames = false
  /// Whether a delimiter ends the rows, which therefore have one field more than there are names.
  package private(set) var endsRowsWithDelimiter = false
  /// Whether fields of the rows that have no name get a name from their number.
  package private(set) var namesSurplusFields = false
  /// The names of a header that had to be repaired.
  ///
  /// ``skippedLineCount`` counts its line.
  private(set) var repairedHeader: RepairedHeader?
  /// The reason why the columns have no names.
  package private(set) var unusableHeader: SkippedRecord?
  /// The records at the beginning that are not part of the table, in file order.
  package private(set) var skippedRecords: [SkippedRecord] = []
  /// The lines of rows that occur in the file a second time, after a repeated header.
  package private(set) var repeatedLines: Set<Int> = []
  /// Whether fields are in quotes.
  package private(set) var quotesFields = false
  /// The number of fields that most records have.
  ///
  /// 0 if it was not requested.
  package private(set) var columnCount = 0
  /// The records at the beginning of the file, starting with the header.
  ///
  /// Nil if they were not requested.
  var sample: LayoutRecords?

  /// Creates a layout from the options alone and detects nothing.
  init(_ options: RecordSource.Options, skippedLineCount: Int) {
    self.skippedLineCount = skippedLineCount
    hasHeader = options.hasHeader ?? true
  }

  /// Creates the layout of JSON Lines, where each member is a column.
  init(jsonColumns count: Int) { (headerRecordCount, columnCount) = (0, count) }

  /// Detects everything that the options do not specify.
  ///
  /// A record counts as a header if it does not match the types of the rows below it. It counts as a row only if it
  /// matches the types and something else also indicates a row. If there is no evidence for either, the first record is
  /// the header.
  ///
  /// No guess drops a record: records before the header are in ``skippedRecords``.
  ///
  /// - Parameters:
  ///   - sample: The beginning of the text.
  ///   - isWhole: Whether `sample` is the whole text.
  ///   - dialect: The dialect of the text.
  ///   - options: The known properties of the file.
  ///   - skippedLineCount: The number of lines that are known to precede the first record.
  init(
    of sample: UnsafeRawBufferPointer, isWhole: Bool, _ dialect: CSVDialect, _ options: RecordSource.Options,
    skippedLineCount: Int
  ) {
    self.init(options, skippedLineCount: skippedLineCount)
    func records(behindLine number: Int) -> LayoutRecords {
      LayoutRecords(SampleRecord.all(in: sample, isWhole: isWhole, dialect, skippedLineCount: number))
    }
    var found = records(behindLine: skippedLineCount)
    if options.skippedLineCount == nil, options.hasHeader == nil {
      skipComments(&found, in: sample, dialect, records)
    }
    if hasHeader, let first = found.records.first, let defect = first.defect {
      let rest = records(behindLine: first.lineNumber)
      if rest.areRegular {
        let line = Array(first.raw.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") })
        if !repairHeader(line, at: first.lineNumber, dialect, rest) {
          setUnusable(
            first.lineNumber, "the header can't be read: \(defect.reason)", line, rowsFrom: first.lineNumber + 1)
        }
        found = rest
      }
    } else if hasHeader {
      findHeader(&found, dialect, options)
    }
    if isWhole, hasHeader, repairedHeader == nil { repeatedLines = found.repeatedLines(behind: headerRecordCount) }
    columnCount = found.width
    quotesFields = found.records.contains { $0.quotesFields }
    if options.keepsSample { self.sample = found }
  }

  /// Skips lines at the beginning that start with `#`.
  ///
  /// The last of these lines is the header if it has as many names as the rows have fields, and if the next record is
  /// a row. The types or a missing space after the `#` indicate whether it is a row.
  private mutating func skipComments(
    _ found: inout LayoutRecords, in sample: UnsafeRawBufferPointer, _ dialect: CSVDialect,
    _ records: (Int) -> LayoutRecords
  ) {
    guard dialect.comment == nil else { return }
    let comments = LeadingComments(
      in: sample, behindLine: skippedLineCount,
      endsLinesAtCarriageReturn: dialect.endsRecordsAtLoneCarriageReturn)
    guard let last = comments.lines.last else { return }
    let rest = records(comments.nextLine - 1)
    guard !rest.records.isEmpty else { return }
    let withLast = records(last.number - 1)
    let isHeader =
      withLast.records.first?.count == rest.width
      && rest.mayFollowHeader(isSpaced: last.bytes.dropFirst().first == 0x20)
    let skipped = isHeader ? comments.lines.dropLast() : comments.lines[...]
    skippedRecords += skipped.map {
      SkippedRecord(lineNumber: $0.number, reason: "a comment before the header", record: $0.bytes)
    }
    guard let lastSkipped = skipped.last else { return }
    skippedLineCount = isHeader ? last.number - 1 : max(lastSkipped.number, comments.nextLine - 1)
    found = isHeader ? withLast : rest
  }

  private mutating func setUnusable(_ number: Int, _ reason: String, _ raw: [UInt8], rowsFrom next: Int) {
    let header = SkippedRecord(lineNumber: number, reason: reason, record: raw)
    unusableHeader = header
    skippedRecords.append(header)
    hasHeader = false
    skippedLineCount = next - 1
  }

  /// Uses a header with a damaged quote or delimiter, if the names are clear.
  ///
  /// - Returns: False if they are not.
  private mutating func repairHeader(
    _ line: [UInt8], at number: Int, _ dialect: CSVDialect, _ rows: LayoutRecords, mayHaveSpaces: Bool = false
  ) -> Bool {
    guard let names = DamagedHeader.names(of: line, dialect, count: rows.width, mayHaveSpaces: mayHaveSpaces) else {
      return false
    }
    repairedHeader = RepairedHeader(lineNumber: number, names: names)
    skippedLineCount = (rows.records.first?.lineNumber ?? (number + 1)) - 1
    return true
  }

  /// Removes records at the beginning and remembers them.
  private mutating func skip(_ count: Int, of found: inout LayoutRecords) {
    skippedRecords += found.records[..<count].map { record in
      let isComment = record.raw.first == UInt8(ascii: "#")
      return SkippedRecord(
        lineNumber: record.lineNumber, reason: isComment ? "a comment before the header" : "a line before the header",
        record: record.raw)
    }
    found.drop(count)
  }

  /// Uses only the first record as the header, because the other records might be rows.
  mutating func keepFirstHeaderRecord() { (headerRecordCount, typedColumns) = (1, []) }

  private mutating func findHeader(
    _ found: inout LayoutRecords, _ dialect: CSVDialect, _ options: RecordSource.Options
  ) {
    // A specified property is not questioned.
    let isPlaceKnown = options.skippedLineCount != nil || options.hasHeader == true
    let start = isPlaceKnown ? min(1, found.bodyStart) : found.bodyStart
    if start > 0, found.hasBody(from: start) {
      let before = found.records[start - 1]
      let surplus = before.count - found.width
      if surplus == -1, found.rowsEndWithDelimiter(from: start) {
        let rows = found.behind(start)
        if before.fields.contains(where: { $0.contains(dialect.quote) }),
          repairHeader(before.raw, at: before.lineNumber, dialect, rows)
        {
          skip(start - 1, of: &found)
          return found = rows
        }
        endsRowsWithDelimiter = true
        // The empty field gets a column, because the header might have lost a delimiter. An existing table that lacks
        // this column does not get it.
        namesSurplusFields =
          options.namesSurplusFields
          && (options.knownNames.isEmpty || options.knows([Header.name(ofColumn: found.width)]))
        skip(start - 1, of: &found)
      } else if surplus > 0, before.filledCount > 0, before.count - before.filledCount == surplus {
        hasSurplusNames = true
        skip(start - 1, of: &found)
      } else if found.isHeaderOfOtherWidth(start - 1) {
        skip(start - 1, of: &found)
        guard options.doubtsHeaderOfOtherWidth else {
          namesSurplusFields = options.namesSurplusFields
          if found.isCut { skippedLineCount = before.lineNumber - 1 }
          return
        }
        let reason = "the header has \(before.count) names, and the rows have \(found.width) fields"
        setUnusable(before.lineNumber, reason, before.raw, rowsFrom: found.records[1].lineNumber)
        return found.drop(1)
      } else if before.count == 1, found.mayBeRow(start),
        repairHeader(
          before.raw, at: before.lineNumber, dialect, found.behind(start), mayHaveSpaces: found.isRow(start))
      {
        let rows = found.behind(start)
        skip(start - 1, of: &found)
        return found = rows
      } else if before.count == 1, found.width == 2, start == 1, !isPlaceKnown, found.mayBeRow(start) {
        let reason = "the header has 1 name, and the rows have 2 fields"
        setUnusable(before.lineNumber, reason, before.raw, rowsFrom: found.records[1].lineNumber)
        return found.drop(1)
      } else if !isPlaceKnown, found.isPreamble(start) {
        skip(start, of: &found)
        if before.filledCount > 1, let first = found.records.first, first.isUnlikeNames {
          (hasHeader, skippedLineCount) = (false, first.lineNumber - 1)
          return
        }
      }
    } else if !isPlaceKnown, let title = found.titleCount {
      skip(title, of: &found)
    }
    guard let header = found.records.first else { return }
    if found.isCut { skippedLineCount = header.lineNumber - 1 }
    let isKnown = options.knows(header.fields)
    if options.hasHeader == nil, !isKnown, !endsRowsWithDelimiter, !hasSurplusNames, found.beginsWithRow {
      hasHeader = false
    } else {
      // A single record is the header if the options specify a header, or if all its names are known.
      headerRecordCount = options.hasHeader == true || isKnown ? 1 : found.headerRecordCount
      if headerRecordCount > 1 { typedColumns = found.typedColumns(behind: headerRecordCount) }
    }
  }
}
