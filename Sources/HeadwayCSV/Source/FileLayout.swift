/// Where the header and the rows of a file are.
package struct FileLayout: Sendable {
  /// A record that should name the columns, and can't.
  package struct UnusableHeader: Sendable {
    package let line: Int
    package let reason: String
    package let record: [UInt8]
  }

  /// The physical lines before the first record.
  package private(set) var skippedLines = 0
  /// The first record names the columns.
  package private(set) var hasHeader = true
  /// How many records together name them.
  package private(set) var headerRecords = 1
  /// The last name is empty, and only there because a delimiter ends the header.
  package private(set) var endsHeaderWithDelimiter = false
  /// A delimiter ends the rows, which thus have one field more than there are names.
  package private(set) var endsRowsWithDelimiter = false
  /// Why the columns have no names.
  package private(set) var unusableHeader: UnusableHeader?
  /// Fields are in quotes.
  package private(set) var quotesFields = false
  /// How many fields most records have; 0 if that was not asked for.
  package private(set) var columnCount = 0
  /// The records of the file's beginning, from the header on; nil if they were not asked for.
  var sample: LayoutRecords?

  /// What was said of a file, of which nothing is to be found.
  init(_ options: RecordSource.Options, skippedLines: Int) {
    self.skippedLines = skippedLines
    hasHeader = options.hasHeader ?? true
  }

  /// JSON Lines: the names of members are the columns.
  init(jsonColumns count: Int) { (headerRecords, columnCount) = (0, count) }

  /// Finds what the options do not say.
  ///
  /// A record counts as a header if it differs from the rows below in what the types of these show, and as none if
  /// nothing speaks for it; where nothing speaks for either, the first record is the header.
  ///
  /// - Parameters:
  ///   - sample: The beginning of the text.
  ///   - isWhole: It is all of the text.
  ///   - dialect: How it is written.
  ///   - options: What is known.
  ///   - skippedLines: The lines that are known to come before the first record.
  init(
    of sample: UnsafeRawBufferPointer, isWhole: Bool, _ dialect: CSVDialect, _ options: RecordSource.Options,
    skippedLines: Int
  ) {
    self.init(options, skippedLines: skippedLines)
    func records(behindLine line: Int) -> LayoutRecords {
      LayoutRecords(SampleRecord.all(in: sample, isWhole: isWhole, dialect, skippedLines: line))
    }
    var found = records(behindLine: skippedLines)
    if hasHeader, let first = found.records.first, let defect = first.defect {
      let rest = records(behindLine: first.line)
      if rest.areRegular {
        let line = first.raw.prefix { $0 != UInt8(ascii: "\n") }
        setUnusable(first, "the header can't be read: \(defect)", Array(line))
        found = rest
      }
    } else if hasHeader {
      findHeader(&found, options)
    }
    columnCount = found.width
    quotesFields = found.records.contains { $0.quotesFields }
    if options.keepsSample { self.sample = found }
  }

  private mutating func setUnusable(_ record: SampleRecord, _ reason: String, _ raw: [UInt8]) {
    unusableHeader = UnusableHeader(line: record.line, reason: reason, record: raw)
    hasHeader = false
    skippedLines = record.line
  }

  private mutating func findHeader(_ found: inout LayoutRecords, _ options: RecordSource.Options) {
    // What was said is not doubted.
    let isPlaceKnown = options.skippedLines != nil || options.hasHeader == true
    let start = isPlaceKnown ? min(1, found.bodyStart) : found.bodyStart
    if start > 0, found.hasBody(from: start) {
      let before = found.records[start - 1]
      if before.count == found.width - 1, found.rowsEndWithDelimiter(from: start) {
        endsRowsWithDelimiter = true
        found.drop(start - 1)
      } else if before.count == found.width + 1, before.fields.last?.isEmpty == true {
        endsHeaderWithDelimiter = true
        found.drop(start - 1)
      } else if options.doubtsHeaderOfOtherWidth, found.isUnusableHeader(start - 1) {
        let reason = "the header has \(before.count) names, and the rows have \(found.width) fields"
        setUnusable(before, reason, before.raw)
        return found.drop(start)
      } else if !isPlaceKnown, found.isPreamble(start) {
        found.drop(start)
      }
    } else if !isPlaceKnown, let title = found.titleCount {
      found.drop(title)
    }
    guard let header = found.records.first else { return }
    if found.isCut { skippedLines = header.line - 1 }
    let isKnown = options.knows(header.fields)
    if options.hasHeader == nil, !isKnown, !endsRowsWithDelimiter, !endsHeaderWithDelimiter, found.beginsWithRow {
      hasHeader = false
    } else {
      // One record was said to be the header, or is all that is known.
      headerRecords = options.hasHeader == true || isKnown ? 1 : found.headerRecordCount
    }
  }
}
