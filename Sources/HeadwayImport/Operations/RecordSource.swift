import HeadwayCSV
import HeadwayLines

/// The records of a file: reads it piece by piece into one buffer and parses what is there.
final class RecordSource {
  private var file: FileSource
  private var parser: CSVParser
  private let hasHeader: Bool
  private var buffer: UnsafeMutableRawBufferPointer
  private var filled = 0
  private var isAtEnd = false

  private static let initialCapacity = 256 * 1024

  /// Opens the file and, if no dialect is given, finds the delimiter in its beginning.
  ///
  /// - Throws: ``ImportError`` with the code `cannotReadFile`.
  init(path: String, options: ImportOptions) throws(ImportError) {
    file = try Self.open(path)
    buffer = .allocate(byteCount: Self.initialCapacity, alignment: 16)
    hasHeader = options.hasHeader
    parser = CSVParser(dialect: options.dialect ?? CSVDialect())
    try fill()
    if options.dialect == nil {
      parser = CSVParser(dialect: .sniffed(from: UnsafeRawBufferPointer(rebasing: buffer[..<filled])))
    }
  }

  private static func open(_ path: String) throws(ImportError) -> FileSource {
    do { return try FileSource(path: path) } catch { throw failure(error) }
  }

  deinit { buffer.deallocate() }

  var path: String { file.path }
  /// The size of the file, if it is a regular one.
  var size: Int? { file.size }
  /// How many bytes have been parsed.
  var offset: Int { parser.byteOffset }
  /// How many records there were so far, the header included.
  var count: Int { parser.recordCount }

  /// The names of the fields: the first record, or made up from their number.
  ///
  /// Nil when there is no record.
  func readHeader() throws(ImportError) -> [String]? {
    var header: [String]?
    var failure: ImportError?
    let path = file.path
    // Without a header, the first record is looked at and left for later.
    var lookAhead = CSVParser(dialect: parser.dialect)
    while header == nil, failure == nil {
      func record(_ record: borrowing CSVRecord) -> CSVFlow {
        header = record.fields
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
    guard let fields = header else { return nil }
    return fields.enumerated().map { position, field in
      let name = hasHeader ? field.trimmingBlanks : ""
      return name.isEmpty ? "column_\(position + 1)" : name
    }
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
    if filled == buffer.count {
      let larger = UnsafeMutableRawBufferPointer.allocate(
        byteCount: min(buffer.count * 2, max(parser.requiredCapacity, buffer.count + 1)), alignment: 16)
      larger.copyMemory(from: UnsafeRawBufferPointer(buffer))
      buffer.deallocate()
      buffer = larger
    }
    do {
      let count = try file.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]))
      filled += count
      isAtEnd = count == 0
    } catch { throw Self.failure(error) }
  }

  private static func failure(_ error: LineReaderError) -> ImportError {
    ImportError(.cannotReadFile, path: error.path, message: "The file can't be read.", underlying: error)
  }
}

extension String {
  fileprivate var trimmingBlanks: String {
    var name = Substring(self)
    while name.first == " " { name.removeFirst() }
    while name.last == " " { name.removeLast() }
    return String(name)
  }
}
