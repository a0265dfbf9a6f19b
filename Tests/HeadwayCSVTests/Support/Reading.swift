import HeadwayCSV
import Testing

/// A form of reading.
enum ReadingForm: CaseIterable, Sendable {
  case synchronous, stopping, asynchronous

  /// The delivered rows, and the error that ends them.
  func read(_ reader: CSVReader) async -> (rows: [CSVRow], error: (any Error)?) {
    var rows: [CSVRow] = []
    do {
      switch self {
      case .synchronous: try reader.forEachRow { rows.append($0) }
      case .stopping: try reader.forEachRow { row, _ in rows.append(row) }
      case .asynchronous: for try await row in reader.rows { rows.append(row) }
      }
      return (rows, nil)
    } catch {
      return (rows, error)
    }
  }
}

/// All rows.
func rows(_ reader: CSVReader) throws -> [CSVRow] {
  var rows: [CSVRow] = []
  try reader.forEachRow { rows.append($0) }
  return rows
}

/// All fields of all rows.
func fields(_ reader: CSVReader) throws -> [[String]] { try rows(reader).map { try $0.fields } }

/// The error that ends a reading.
func readerError(_ body: () throws -> Void) throws -> CSVReaderError {
  try #require(throws: CSVReaderError.self) { try body() }
}
