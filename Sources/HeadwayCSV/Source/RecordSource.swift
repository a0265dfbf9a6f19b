/// The records of a file.
///
/// Reads the file in pieces into one buffer and parses the available bytes.
package final class RecordSource {
  private let text: TextSource
  private var parser: CSVParser
  /// The parser for JSON Lines; nil for CSV.
  private var jsonLines: JSONLinesParser?
  private var buffer: UnsafeMutableRawBufferPointer
  /// The position in the buffer of the first unconsumed byte, and the position after the last byte.
  private var start = 0
  private var filled = 0
  private var isAtEnd = false
  private let nameKey: @Sendable (String) -> String
  /// The positions of the header and the rows.
  package private(set) var layout: FileLayout
  /// The fields of the header's first record.
  package private(set) var headerFields: [[UInt8]] = []
  /// The physical line of that record.
  package private(set) var headerLineNumber: Int?
  /// The original column names, by new name, if columns were renamed because another column has the same name.
  package private(set) var renamedColumns: [String: String] = [:]

  /// The same text for reading ahead, and the number of its bytes that have been read.
  private var ahead: TextSource?
  private var aheadOffset = 0

  private static let initialCapacity = 256 * 1024
  private let maxRecordLength: Int
  /// The number of bytes that are examined to detect the format of a file.
  private static let sampleSize = 64 * 1024
  /// The number of bytes that are examined to find the columns of JSON Lines that can be read only once.
  private static let jsonSampleSize = 1 << 20

  /// Detects the properties that the options do not specify from the beginning of the file.
  ///
  /// - Parameters:
  ///   - file: The file to read.
  ///   - options: The known properties of the file.
  /// - Throws: ``CSVReaderError`` with the code `cannotRead` or `foreignContent`.
  package init(_ file: any ByteSource, _ options: Options) throws(CSVReaderError) {
    text = try TextSource(file, encoding: options.encoding, acceptsJSONLines: options.acceptsJSONLines)
    nameKey = options.nameKey
    buffer = .allocate(byteCount: Self.initialCapacity, alignment: 16)
    // Stored properties must have values before anything is read.
    layout = FileLayout(options, skippedLineCount: 0)
    maxRecordLength = options.maxRecordLength
    parser = CSVParser(maxRecordLength: maxRecordLength)
    if text.isJSONLines {
      try openJSONLines(options)
      return
    }
    while options.needsSample, filled < Self.sampleSize, !isAtEnd { try fill() }
    let sample = UnsafeRawBufferPointer(rebasing: buffer[..<min(filled, Self.sampleSize)])
    let separator = options.dialect == nil ? Self.separator(in: sample) : nil
    let skippedLineCount = options.skippedLineCount ?? (separator == nil ? 0 : 1)
    let dialect =
      options.dialect
      ?? .detected(
        from: sample, delimiter: options.delimiter ?? separator, quote: options.quote, escape: options.escape,
        comment: options.comment, skippedLineCount: skippedLineCount)
    let isWhole = isAtEnd && filled == sample.count
    layout =
      options.findsLayout
      ? FileLayout(of: sample, isWhole: isWhole, dialect, options, skippedLineCount: skippedLineCount)
      : FileLayout(options, skippedLineCount: skippedLineCount)
    parser = makeParser(dialect)
    if layout.headerRecordCount > 1, !isWhole { try confirmHeader() }
  }

  deinit { buffer.deallocate() }

  /// Uses only the first record as the header if the other header records might be rows.
  ///
  /// They might be rows if a later row has text in a column that seemed to contain none, or if the file can be read
  /// only once.
  private func confirmHeader() throws(CSVReaderError) {
    guard let whole = try text.reopened() else { return layout.keepFirstHeaderRecord() }
    let columns = layout.typedColumns
    var lookAhead = makeParser(parser.dialect)
    var (count, hasText) = (0, false)
    let (width, header) = (layout.columnCount, layout.headerRecordCount)
    lookAhead.scanner.decidesLongQuotes = false
    var bytes: [UInt8] = []
    let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.initialCapacity, alignment: 16)
    defer { chunk.deallocate() }
    var length = 0
    repeat {
      length = try whole.read(into: chunk)
      bytes.append(contentsOf: chunk[..<length])
      let consumed = bytes.withUnsafeBytes { bytes in
        lookAhead.parse(bytes, isFinal: length == 0) { record in
          count += 1
          guard count > header, record.count == width else { return .continue }
          hasText = columns.contains { column in
            let field = Array(record.unsafeBytes(at: column))
            return ValueKind(field) == nil && !ValueKind.isMissing(field)
          }
          return hasText ? .stop : .continue
        } malformed: { _ in
          count += 1
          return .continue
        }
      }
      bytes.removeFirst(consumed)
    } while length > 0 && !hasText
    if hasText { layout.keepFirstHeaderRecord() }
  }

  /// Finds the columns in the whole file, or in the first megabyte of a file that can be read only once.
  private func openJSONLines(_ options: Options) throws(CSVReaderError) {
    var columns = JSONLinesColumns(maxRecordLength: maxRecordLength)
    if let whole = try text.reopened() {
      let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.initialCapacity, alignment: 16)
      defer { chunk.deallocate() }
      var count = 0
      repeat {
        count = try whole.read(into: chunk)
        columns.add(UnsafeRawBufferPointer(rebasing: chunk[..<count]), isFinal: count == 0)
      } while count > 0
      while filled < Self.sampleSize, !isAtEnd { try fill() }
    } else {
      while filled < Self.jsonSampleSize, !isAtEnd { try fill() }
      columns.add(UnsafeRawBufferPointer(rebasing: buffer[..<filled]), isFinal: isAtEnd)
    }
    layout = FileLayout(jsonColumns: columns.names.count)
    jsonLines = JSONLinesParser(columns: columns.names, maxRecordLength: maxRecordLength)
    if options.keepsSample {
      layout.sample = LayoutRecords(SampleRecord.all(inJSONLines: pending, isWhole: isAtEnd, columns.names))
    }
  }

  /// Returns the delimiter, if the first line specifies it in the form that Excel writes and reads: `sep=;`.
  private static func separator(in sample: UnsafeRawBufferPointer) -> UInt8? {
    let text = sample.starts(with: [0xEF, 0xBB, 0xBF]) ? sample.dropFirst(3) : sample[...]
    let line = text.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
    guard line.count == 5, line.count < text.count, line.starts(with: "sep=".utf8), let delimiter = line.last,
      delimiter != UInt8(ascii: "\"")
    else { return nil }
    return delimiter
  }

  /// The file's name in errors.
  package var path: String { text.path }
  /// The size of the file, if it is known.
  package var size: Int? { text.size }
  /// The specified or detected encoding.
  package var encoding: CSVTextEncoding { text.encoding }
  /// Whether the encoding is a guess, based on the characters of the text.
  package var isEncodingAssumed: Bool { text.isAssumed }
  /// The specified or detected dialect.
  package var dialect: CSVDialect { parser.dialect }
  /// The end of the part of the file that has been parsed.
  package var offset: Int { fileOffset(ofText: jsonLines?.byteOffset ?? parser.byteOffset) }
  /// The number of records so far, including the header.
  ///
  /// In JSON Lines, the names count as one record.
  package var count: Int { jsonLines?.recordCount ?? parser.recordCount }
  /// Whether the file is JSON Lines.
  package var isJSONLines: Bool { text.isJSONLines }
  /// The number of these records that form the header.
  package var headerCount: Int { jsonLines == nil ? headerRecordCount : 1 }
  private var headerRecordCount = 0
  /// The number of bytes that have been read from the file.
  var bytesRead: Int { text.bytesRead }

  /// Returns the position in the file that corresponds to a position in the text.
  ///
  /// - Parameter offset: The position in the text.
  /// - Returns: The position in the file. It is approximate if the encoding is not UTF-8, or if the file is compressed.
  package func fileOffset(ofText offset: Int) -> Int { text.fileOffset(ofText: offset) }

  /// Returns the records at the beginning of the file, starting with the header, and releases them.
  ///
  /// Nil if they were not requested.
  package func takeSample() -> LayoutRecords? {
    defer { layout.sample = nil }
    return layout.sample
  }

  private func makeParser(_ dialect: CSVDialect) -> CSVParser {
    var parser = CSVParser(
      dialect: dialect, maxRecordLength: maxRecordLength, skippedLineCount: layout.skippedLineCount)
    parser.scanner.decidesLongQuotes = true
    return parser
  }

  /// Finds the end of a record whose quotes are open at the maximum length.
  private func decideLongQuote() throws(CSVReaderError) {
    parser.scanner.awaitsLongQuote = false
    if text.canBeReopened { try readAhead() } else { try passOver() }
  }

  /// Skips a record in text that can be read only once, up to the bytes that follow the record.
  ///
  /// Its window is kept.
  private func passOver() throws(CSVReaderError) {
    var record = LongRecord(parser.dialect, fieldCount: 0, canGoBack: false)
    record.add(pending)
    if let extent = record.found { return parser.scanner.longQuote = .closed(extent) }
    moveToFront()
    filled = parser.requiredCapacity
    if buffer.count < filled + Self.initialCapacity { resize(to: filled + Self.initialCapacity) }
    while !record.isDecided {
      let passed = record.extent.length
      let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[parser.requiredCapacity...])
      let count = isAtEnd ? 0 : try text.read(into: rest)
      if count == 0 {
        isAtEnd = true
        record.finish()
      }
      record.add(rest[..<count])
      let following = record.extent.length - passed..<count
      rest.copyMemory(from: UnsafeRawBufferPointer(rebasing: rest[following]))
      filled = parser.requiredCapacity + following.count
    }
    parser.scanner.longQuote = .passedOver(record.extent, isOpen: record.isOpen)
  }

  /// Reads ahead to the end of a record.
  private func readAhead() throws(CSVReaderError) {
    let start = parser.byteOffset
    if aheadOffset > start { ahead = nil }
    if ahead == nil { (ahead, aheadOffset) = (try text.reopened(), 0) }
    guard let ahead else { return parser.scanner.longQuote = .stray }
    let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.initialCapacity, alignment: 16)
    defer { chunk.deallocate() }
    var record = LongRecord(parser.dialect, fieldCount: layout.columnCount, canGoBack: true)
    while !record.isDecided {
      let count = try ahead.read(into: chunk)
      if count == 0 { record.finish() }
      record.add(chunk[max(0, min(start - aheadOffset, count))..<count])
      aheadOffset += count
    }
    parser.scanner.longQuote = record.found.map { .closed($0) } ?? .stray
  }

  /// Returns the field names: the names in the header, or names that are generated from their numbers.
  ///
  /// - Returns: The names, one per column. Nil if there is no record.
  /// - Throws: ``CSVReaderError`` with the code `badHeader` or `cannotRead`.
  package func header() throws(CSVReaderError) -> [String]? {
    if let columns = jsonLines?.columns {
      let (names, renamed) = Header.distinct(columns, by: nameKey)
      renamedColumns = renamed
      return names.isEmpty ? nil : names
    }
    guard layout.hasHeader else {
      // The first record is examined but not consumed.
      var lookAhead = makeParser(parser.dialect)
      let fields = try nextFields(&lookAhead)
      // The first row might have too few fields.
      let count = layout.unusableHeader == nil ? fields?.count : layout.columnCount
      return fields.flatMap { _ in count }.map { Header.names(of: [Array(repeating: "", count: $0)]) }
    }
    if let repaired = layout.repairedHeader {
      headerLineNumber = repaired.lineNumber
      let (names, renamed) = Header.distinct(repaired.names, by: nameKey)
      renamedColumns = renamed
      return names
    }
    var records: [[String]] = []
    while records.count < layout.headerRecordCount, let fields = try nextFields(&parser) { records.append(fields) }
    guard !records.isEmpty else { return nil }
    var names = Header.names(of: records)
    if layout.hasSurplusNames {
      let isNamed = (records[0].indices).map { column in records.contains { column < $0.count && !$0[column].isEmpty } }
      names = zip(names, isNamed).filter(\.1).map(\.0)
    }
    if layout.namesSurplusFields, names.count < layout.columnCount {
      names += (names.count + 1...layout.columnCount).map { Header.name(ofColumn: $0) }
    }
    (names, renamedColumns) = Header.distinct(names, by: nameKey)
    return names
  }

  /// Returns the fields of the next record for the header.
  ///
  /// Nil at the end.
  private func nextFields(_ parser: inout CSVParser) throws(CSVReaderError) -> [String]? {
    let (path, isHeader, quote) = (text.path, layout.hasHeader, parser.dialect.quote)
    while true {
      var fields: [String]?
      var failure: CSVReaderError?
      var (contents, lineNumber) = ([[UInt8]](), 0)
      let consumed = parser.parse(pending, isFinal: isAtEnd) { record in
        do throws(CSVReaderError) {
          fields = try Header.fields(of: record, isHeader: isHeader, quote: quote, path: path)
        } catch { failure = error }
        lineNumber = record.lineNumber
        contents = (0..<record.count).map { Array(record.unsafeBytes(at: $0)) }
        return .stop
      } malformed: { record in
        failure = CSVReaderError(
          .badHeader, path: path, lineNumber: record.lineNumber,
          context: "The first record is malformed: \(record.error.reason).")
        return .stop
      }
      if isHeader {
        start += consumed
        if fields != nil { headerRecordCount += 1 }
        if headerLineNumber == nil, fields != nil { (headerFields, headerLineNumber) = (contents, lineNumber) }
      }
      if let failure { throw failure }
      if parser.scanner.awaitsLongQuote {
        // No header is this long.
        (parser.scanner.awaitsLongQuote, parser.scanner.longQuote) = (false, .stray)
        continue
      }
      if fields != nil || isAtEnd { return fields }
      if !isHeader { parser = makeParser(parser.dialect) }
      try fill()
    }
  }

  /// Delivers the remaining records, until one of the closures stops the call.
  ///
  /// After that, you can call this method again. It continues after the last record.
  ///
  /// - Parameters:
  ///   - record: Receives each well-formed record.
  ///   - malformed: Receives each malformed record.
  /// - Throws: ``CSVReaderError`` with the code `cannotRead`, or the error that a closure throws.
  package func forEach(
    _ record: (borrowing CSVRecord) throws -> CSVParser.IterationControl,
    malformed: (borrowing CSVParser.MalformedRecord) throws -> CSVParser.IterationControl
  ) throws {
    while true {
      switch try parse(record, malformed: malformed) {
      case .stopped, .ended: return
      case .needsInput: try fill()
      }
    }
  }

  /// The reason why parsing the available bytes has ended.
  enum Parsed {
    /// A closure stopped the call.
    case stopped
    /// All available records have been delivered, and more bytes must be read for the next one.
    case needsInput
    /// All records have been delivered.
    case ended
  }

  /// Delivers the records that have been read, until one of the closures stops the call.
  func parse(
    _ record: (borrowing CSVRecord) throws -> CSVParser.IterationControl,
    malformed: (borrowing CSVParser.MalformedRecord) throws -> CSVParser.IterationControl
  ) throws -> Parsed {
    var isStopped = false
    func watched(_ flow: CSVParser.IterationControl) -> CSVParser.IterationControl {
      if flow == .stop { isStopped = true }
      return flow
    }
    func handOut(_ each: borrowing CSVRecord) throws -> CSVParser.IterationControl { watched(try record(each)) }
    func handOutMalformed(_ each: borrowing CSVParser.MalformedRecord) throws -> CSVParser.IterationControl {
      watched(try malformed(each))
    }
    let consumed = try jsonLines?.parse(pending, isFinal: isAtEnd, handOut, malformed: handOutMalformed)
    if let consumed {
      start += consumed
    } else {
      start += try parser.parse(pending, isFinal: isAtEnd, handOut, malformed: handOutMalformed)
      while parser.scanner.awaitsLongQuote, !isStopped {
        try decideLongQuote()
        start += try parser.parse(pending, isFinal: isAtEnd, handOut, malformed: handOutMalformed)
      }
    }
    return isStopped ? .stopped : isAtEnd ? .ended : .needsInput
  }

  /// The unconsumed bytes.
  private var pending: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: buffer[start..<filled]) }

  /// Moves the unconsumed bytes to the front.
  private func moveToFront() {
    filled -= start
    if start > 0, filled > 0, let front = buffer.baseAddress {
      front.copyMemory(from: front + start, byteCount: filled)
    }
    start = 0
  }

  /// Blocks until reading would not block and checks for a cancellation from time to time.
  func waitUntilReadable(_ check: () throws -> Void) throws { try text.waitUntilReadable(check) }

  /// Reads as many bytes as fit into the buffer.
  ///
  /// The buffer grows if one record fills it, and shrinks after that record.
  func fill() throws(CSVReaderError) {
    moveToFront()
    if buffer.count > Self.initialCapacity, filled < Self.initialCapacity / 2 { resize(to: Self.initialCapacity) }
    // Room for the parser's largest record, and for a character that is decoded.
    if buffer.count - filled < 16 {
      resize(to: min(buffer.count * 2, max(maxRecordLength + 2, buffer.count) + 16))
    }
    // A buffer that has grown is still filled in chunks, so that a cancellation waits for one chunk only, and the
    // buffer can shrink.
    let room = min(buffer.count, filled + Self.initialCapacity)
    let count = try text.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[filled..<room]))
    filled += count
    isAtEnd = count == 0
  }

  private func resize(to capacity: Int) {
    let other = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 16)
    other.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[..<filled]))
    buffer.deallocate()
    buffer = other
  }
}
