import HeadwayCSV

/// The records of a file: reads it piece by piece into one buffer and parses what is there.
final class RecordSource {
  private var text: TextSource
  private var parser: CSVParser
  private let hasHeader: Bool
  /// The first line says which the delimiter is.
  private var hasSeparatorLine = false
  private var buffer: UnsafeMutableRawBufferPointer
  private var filled = 0
  private var isAtEnd = false

  private static let initialCapacity = 256 * 1024

  /// Opens the file and finds in its beginning what the options do not say: the encoding and the dialect.
  ///
  /// - Throws: ``ImportError`` with the code `cannotReadFile` or `foreignContent`.
  init(path: String, options: ImportOptions) throws(ImportError) {
    text = try TextSource(path: path, encoding: options.encoding)
    buffer = .allocate(byteCount: Self.initialCapacity, alignment: 16)
    hasHeader = options.hasHeader
    parser = CSVParser(dialect: options.dialect ?? CSVDialect())
    try fill()
    if options.dialect == nil {
      let sample = UnsafeRawBufferPointer(rebasing: buffer[..<filled])
      let separator = Self.separator(in: sample)
      hasSeparatorLine = separator != nil
      parser = CSVParser(dialect: .sniffed(from: sample, delimiter: options.delimiter ?? separator))
    }
  }

  deinit { buffer.deallocate() }

  /// The delimiter, if the first line says it as Excel writes and reads it: `sep=;`.
  private static func separator(in sample: UnsafeRawBufferPointer) -> UInt8? {
    let text = sample.starts(with: [0xEF, 0xBB, 0xBF]) ? sample.dropFirst(3) : sample[...]
    let line = text.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
    guard line.count == 5, line.count < text.count, line.starts(with: "sep=".utf8), let delimiter = line.last,
      delimiter != UInt8(ascii: "\"")
    else { return nil }
    return delimiter
  }

  var path: String { text.path }
  /// The size of the file, if it is a regular one.
  var size: Int? { text.size }
  var encoding: TextEncoding { text.encoding }
  var dialect: CSVDialect { parser.dialect }
  /// The place in the file up to which it has been parsed.
  var offset: Int { fileOffset(ofText: parser.byteOffset) }
  /// How many records there were so far, the header included.
  var count: Int { parser.recordCount }

  /// The place in the file that belongs to a place in the text.
  func fileOffset(ofText offset: Int) -> Int { text.fileOffset(ofText: offset) }

  /// The names of the fields: the first record, or made up from their number.
  ///
  /// Nil when there is no record.
  func readHeader() throws(ImportError) -> [String]? {
    if hasSeparatorLine {
      drop(
        parser.parse(UnsafeRawBufferPointer(rebasing: buffer[..<filled]), isFinal: isAtEnd) { _ in
          .stop
        } malformed: { _ in
          .stop
        })
    }
    var header: [String]?
    var failure: ImportError?
    let path = text.path
    // Without a header, the first record is looked at and left for later.
    var lookAhead = CSVParser(dialect: parser.dialect)
    while header == nil, failure == nil {
      func record(_ record: borrowing CSVRecord) -> CSVFlow {
        do { header = try Header.names(of: record, isHeader: hasHeader, path: path) } catch { failure = error }
        return .stop
      }
      func malformed(_ record: borrowing CSVMalformedRecord) -> CSVFlow {
        failure = ImportError(
          .badHeader, path: path, line: record.line, message: "The first record is malformed: \(record.error).")
        return .stop
      }
      let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<filled])
      if hasHeader {
        let consumed = parser.parse(bytes, isFinal: isAtEnd, record, malformed: malformed)
        drop(consumed)
      } else {
        _ = lookAhead.parse(bytes, isFinal: isAtEnd, record, malformed: malformed)
        lookAhead = CSVParser(dialect: parser.dialect)
      }
      guard header == nil, failure == nil else { break }
      if isAtEnd { return nil }
      try fill()
    }
    if let failure { throw failure }
    return header
  }

  /// The names of the fields, where there must be some.
  func requireHeader() throws(ImportError) -> [String] {
    guard let header = try readHeader() else {
      throw ImportError(.badHeader, path: path, line: 1, message: "The file has no header: it is empty.")
    }
    return header
  }

  /// Hands out the records that are left, until one of the closures says to stop.
  func forEach(
    _ record: (borrowing CSVRecord) throws -> CSVFlow, malformed: (borrowing CSVMalformedRecord) throws -> CSVFlow
  ) throws {
    var isStopped = false
    func watched(_ flow: CSVFlow) -> CSVFlow {
      if flow == .stop { isStopped = true }
      return flow
    }
    func handOut(_ each: borrowing CSVRecord) throws -> CSVFlow { watched(try record(each)) }
    func handOutMalformed(_ each: borrowing CSVMalformedRecord) throws -> CSVFlow { watched(try malformed(each)) }
    while true {
      let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<filled])
      drop(try parser.parse(bytes, isFinal: isAtEnd, handOut, malformed: handOutMalformed))
      if isStopped || isAtEnd { return }
      try fill()
    }
  }

  /// Moves what was not consumed to the front.
  private func drop(_ consumed: Int) {
    filled -= consumed
    guard filled > 0, let start = buffer.baseAddress else { return }
    start.copyMemory(from: start + consumed, byteCount: filled)
  }

  /// Reads what fits into the buffer, which grows when one record fills it.
  private func fill() throws(ImportError) {
    // A decoder needs some room for a character.
    if buffer.count - filled < 16 {
      let larger = UnsafeMutableRawBufferPointer.allocate(
        byteCount: min(buffer.count * 2, max(parser.requiredCapacity, buffer.count) + 16), alignment: 16)
      larger.copyMemory(from: UnsafeRawBufferPointer(buffer))
      buffer.deallocate()
      buffer = larger
    }
    let count = try text.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]))
    filled += count
    isAtEnd = count == 0
  }
}
