internal import HeadwayLines

/// Reads a file in chunks and delivers its rows as batches.
///
/// Every form of ``CSVReader`` uses this engine.
///
/// It owns one ``RowBatch``. If no other object refers to the batch when the next batch is requested, the batch is
/// filled again. The source fails only after it has delivered all rows before the failure, so an error loses no row
/// that has been read.
struct RowSource: BatchSource, ~Copyable {
  private let reader: CSVReader
  /// Nil before the file is opened, and after the last batch or an error.
  private var records: RecordSource?
  private var header: CSVHeader?
  private var batch: RowBatch?
  /// The error to throw after the rows that have been delivered.
  private var failure: CSVReaderError?
  private(set) var isFinished = false
  /// The number of records in the header.
  private var headerRecordCount = 0

  /// How many bytes have been read from the file.
  private(set) var bytesRead = 0

  init(_ reader: CSVReader) { self.reader = reader }

  /// Returns the column names and the format of the file, without reading rows.
  mutating func detectLayout() throws(CSVReaderError) -> CSVLayout {
    let (records, header) = try records(of: reader.open())
    return CSVLayout(records, columns: header.names)
  }

  mutating func finish() {
    isFinished = true
    (records, header, batch, failure) = (nil, nil, nil, nil)
  }

  // MARK: Opening

  private mutating func open(_ check: () throws -> Void) throws -> (RecordSource, CSVHeader) {
    if let records, let header { return (records, header) }
    let bytes = try reader.open()
    try bytes.waitUntilReadable(check)
    return try records(of: bytes)
  }

  /// Reads the beginning of the file.
  private mutating func records(of bytes: any ByteSource) throws(CSVReaderError) -> (RecordSource, CSVHeader) {
    let records = try RecordSource(bytes, RecordSource.Options(reader.options))
    let header = CSVHeader(try names(of: records))
    headerRecordCount = records.count
    (self.records, self.header) = (records, header)
    return (records, header)
  }

  private func names(of records: RecordSource) throws(CSVReaderError) -> [String] {
    if case .names(let names) = reader.options.header { return Header.distinct(names, by: { $0 }).names }
    if let unusable = records.layout.unusableHeader {
      throw CSVReaderError(
        .badHeader, path: reader.path, lineNumber: unusable.lineNumber, context: "No header: \(unusable.reason).")
    }
    return try records.header() ?? []
  }

  // MARK: Rows

  mutating func nextBatch(_ check: () throws -> Void) throws -> RowBatch? {
    if let failure { throw failure }
    try check()
    let (records, header) = try open(check)
    defer { bytesRead = records.bytesRead }
    let batch = writableBatch(header)
    let (first, path) = (headerRecordCount, reader.path)
    let expected = reader.options.raggedRowPolicy == .throw ? header.count : nil
    let dropsLast = records.layout.endsRowsWithDelimiter
    while true {
      do {
        let parsed = try records.parse { record in
          var count = record.count
          if dropsLast, count == header.count + 1, record.unsafeBytes(at: count - 1).isEmpty { count -= 1 }
          if let expected, count != expected {
            throw CSVReaderError(
              raggedRow: count, columns: expected, path: path, lineNumber: record.lineNumber,
              rowNumber: record.recordNumber - first)
          }
          batch.append(record, count: count, rowNumber: record.recordNumber - first)
          return batch.isFull ? .stop : .continue
        } malformed: { record in
          throw CSVReaderError(record.error, path: path, rowNumber: record.recordNumber - first)
        }
        // Deliver the rows that have been read before waiting for more.
        guard case .needsInput = parsed, batch.count == 0 else { return batch.count > 0 ? batch : nil }
        try records.waitUntilReadable(check)
        try records.fill()
      } catch let error as CSVReaderError {
        guard batch.count > 0 else { throw error }
        failure = error
        return batch
      }
    }
  }

  /// Returns a batch that no other object refers to.
  private mutating func writableBatch(_ header: CSVHeader) -> RowBatch {
    if isKnownUniquelyReferenced(&batch), let batch, !batch.isOversized {
      batch.removeAll()
      return batch
    }
    let fresh = RowBatch(header, path: reader.path)
    batch = fresh
    return fresh
  }
}

extension CSVReaderError {
  init(raggedRow count: Int, columns: Int, path: String, lineNumber: Int, rowNumber: Int) {
    self.init(
      .raggedRow, path: path, lineNumber: lineNumber, rowNumber: rowNumber,
      context: RaggedRow.message(fields: count, columns: columns))
  }

  init(_ defect: CSVError, path: String, rowNumber: Int) {
    self.init(
      .malformedRecord, path: path, lineNumber: defect.lineNumber, rowNumber: rowNumber,
      context: defect.context,
      underlyingError: defect)
  }
}
