#if SQLite
import Foundation
import GRDB
import GRDBSQLite
public import Headway
import HeadwayCSV
import HeadwayFiles
import Synchronization

/// Writes the rows of a table, or of a view, to a CSV file.
///
/// ```swift
/// let export = ExportOperation(table: "stops", ofDatabase: "vbb.sqlite", to: "stops.csv")
/// OperationQueue().addOperation(export)
/// try await export.untilFinished()
/// print(export.rowCount)
/// ```
///
/// - **Reading.** The operation has its own read-only connection. From the first row to the last, it sees one state of
///   the database, even if others write to it at the same time. It holds one row in memory.
/// - **The file** gets its name when it contains all rows. After an error or a cancellation, an existing file is
///   unchanged. The path `-` means standard output.
/// - **Values.** Integers and text are written as they are, and real numbers with the fewest digits that read as the
///   same number. Text is written with all of its bytes, even if they are not UTF-8. A blob is written as an SQLite
///   literal, such as `X'00FF'`, and an infinite number as `9.0e+999`.
///
/// The operation fails with an ``ImportError`` about the database, whose code is `cannotReadFile` if it does not exist,
/// or with a `CSVWriterError` about the file.
public final class ExportOperation: Headway.Operation, @unchecked Sendable {  // Constants, and an atomic.
  /// The table or view to export.
  public let table: String
  /// The path of the database.
  public let database: String
  /// The path of the file that is written.
  public let file: String
  /// How the file is written.
  public let options: ExportOptions

  private let rows = Atomic<Int>(0)

  /// Creates an operation.
  ///
  /// It opens no file before it starts.
  ///
  /// - Parameters:
  ///   - table: The table or view to export.
  ///   - database: The path of the database.
  ///   - file: The path of the file to write; `-` for standard output.
  ///   - options: How the file is written.
  public init(table: String, ofDatabase database: String, to file: String, options: ExportOptions = ExportOptions()) {
    (self.table, self.database, self.file, self.options) = (table, database, file, options)
    super.init()
    name = "export \(table)"
  }

  /// The number of rows written so far.
  ///
  /// You can read it from any thread.
  public var rowCount: Int { rows.load(ordering: .relaxed) }

  /// Writes the file.
  public override func main() throws {
    do { try export() } catch let error as DatabaseError {
      throw ImportError(.database, path: database, context: "The database can't be read.", underlyingError: error)
    }
  }

  private func export() throws {
    guard FileSystem.kind(of: database) != nil else {
      throw ImportError(.cannotReadFile, path: database, context: "There is no such file.")
    }
    var configuration = Configuration()
    configuration.readonly = true
    configuration.busyMode = .timeout(10)
    configuration.label = "headway export"
    let queue = try DatabaseQueue(path: database.databaseName, configuration: configuration)
    // A single transaction, so that all rows are from the same state.
    try queue.read { connection in
      let columns = try columns(connection)
      let writer = try CSVWriter(path: file, columns: columns, options: options.csv)
      let statement = try connection.makeStatement(sql: "SELECT \(SQL.names(columns)) FROM \(SQL.name(table))")
      let cursor = try Row.fetchCursor(statement)
      while try cursor.next() != nil {
        // The writer removes the incomplete file when it is released.
        guard !isCancelled else { return }
        try writer.writeRow(count: columns.count) {
          for position in columns.indices { append(position, of: statement.sqliteStatement, to: writer) }
        }
        rows.wrappingAdd(1, ordering: .relaxed)
      }
      try writer.finish()
    }
  }

  /// The column names to write, as the table spells them.
  private func columns(_ connection: Database) throws -> [String] {
    guard try connection.tableExists(table) || connection.viewExists(table) else {
      throw ImportError(.unsuitableTable, path: database, context: "There is no table \(table).")
    }
    let all = try connection.columns(in: table).map(\.name)
    guard !options.columns.isEmpty else { return all }
    return try options.columns.map { wanted in
      guard let name = all.first(where: { $0.isSameName(as: wanted) }) else {
        throw ImportError(
          .unsuitableTable, path: database,
          context: Spelling.missing("The table \(table) has no column", wanted, among: all, "Its columns are"))
      }
      return name
    }
  }

  /// Appends a value of a statement's current row.
  ///
  /// It does not use a `String`, which would end at the first NUL byte of a text, and would change the bytes of text
  /// that is not UTF-8.
  private func append(_ position: Int, of statement: OpaquePointer, to writer: CSVWriter) {
    let column = Int32(position)
    func bytes(_ start: UnsafeRawPointer?) -> UnsafeRawBufferPointer {
      // SQLite counts the bytes of the representation that was requested last.
      UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column)))
    }
    switch sqlite3_column_type(statement, column) {
    case SQLITE_NULL: writer.append(options.nullText, at: position)
    case SQLITE_INTEGER: writer.append("\(sqlite3_column_int64(statement, column))", at: position)
    case SQLITE_FLOAT:
      let number = sqlite3_column_double(statement, column)
      // SQLite reads this spelling of an infinite number.
      let text = number.isFinite ? "\(number)" : number < 0 ? "-9.0e+999" : "9.0e+999"
      writer.append(text, at: position)
    case SQLITE_BLOB:
      let digits = bytes(sqlite3_column_blob(statement, column)).map { String(format: "%02X", $0) }.joined()
      writer.append("X'\(digits)'", at: position)
    default:
      let start = sqlite3_column_text(statement, column)
      writer.append(bytes(UnsafeRawPointer(start)), at: position)
    }
  }
}
#endif
