#if SQLite
  import Foundation
  import GRDB
  public import Headway
  import HeadwayCSV
  import Synchronization

  /// Writes the rows of a table, or of a view, to a CSV file.
  ///
  /// ```swift
  /// let export = ExportOperation(table: "stops", ofDatabase: "vbb.sqlite", to: "stops.csv")
  /// OperationQueue().addOperation(export)
  /// try await export.finished()
  /// print(export.rowCount)
  /// ```
  ///
  /// - **Reading.** The operation has a connection of its own, which only reads, and sees one state of the database
  ///   from the first row to the last, whatever is written meanwhile. It holds one row in memory.
  /// - **The file** gets its name when all rows are in it; after an error or a cancellation there is what was there
  ///   before. The path `-` is standard output.
  /// - **Values.** Integers and text are written as they are, and real numbers with the fewest digits that read as the
  ///   same number. A blob is written as SQLite's literal, such as `X'00FF'`.
  ///
  /// The operation fails with an ``ImportError`` about the database, or with a `CSVWriterError` about the file.
  public final class ExportOperation: Headway.Operation, @unchecked Sendable {  // Constants, and an atomic.
    /// The table or view.
    public let table: String
    /// Where the database is.
    public let database: String
    /// The file that is written.
    public let file: String
    /// How it is written.
    public let options: ExportOptions

    private let rows = Atomic<Int>(0)

    /// Creates an operation, which opens nothing before it starts.
    ///
    /// - Parameters:
    ///   - table: The table or view.
    ///   - database: Where the database is.
    ///   - file: The file to write; `-` for standard output.
    ///   - options: How it is written.
    public init(table: String, ofDatabase database: String, to file: String, options: ExportOptions = ExportOptions()) {
      (self.table, self.database, self.file, self.options) = (table, database, file, options)
      super.init()
      name = "export \(table)"
    }

    /// How many rows have been written so far, from any thread.
    public var rowCount: Int { rows.load(ordering: .relaxed) }

    /// Writes the file.
    public override func main() throws {
      do { try export() } catch let error as DatabaseError {
        throw ImportError(.database, path: database, message: "The database can't be read.", underlying: error)
      }
    }

    private func export() throws {
      guard FileManager.default.fileExists(atPath: database) else {
        throw ImportError(.database, path: database, message: "There is no such database.")
      }
      var configuration = Configuration()
      configuration.readonly = true
      configuration.busyMode = .timeout(10)
      configuration.label = "headway export"
      let queue = try DatabaseQueue(path: database, configuration: configuration)
      // One transaction, so that all rows are of one state.
      try queue.read { connection in
        let columns = try columns(connection)
        let writer = try CSVWriter(path: file, columns: columns, options: options.csv)
        let cursor = try Row.fetchCursor(
          connection, sql: "SELECT \(SQL.names(columns)) FROM \(SQL.name(table))")
        while let row = try cursor.next() {
          // The writer removes what it has written when it is released.
          guard !isCancelled else { return }
          try writer.write(row.databaseValues.map(field))
          rows.wrappingAdd(1, ordering: .relaxed)
        }
        try writer.finish()
      }
    }

    /// The names of the columns to write, as the table spells them.
    private func columns(_ connection: Database) throws -> [String] {
      guard try connection.tableExists(table) || connection.viewExists(table) else {
        throw ImportError(.unsuitableTable, path: database, message: "There is no table \(table).")
      }
      let all = try connection.columns(in: table).map(\.name)
      guard !options.columns.isEmpty else { return all }
      return try options.columns.map { wanted in
        guard let name = all.first(where: { $0.isSameName(as: wanted) }) else {
          throw ImportError(
            .unsuitableTable, path: database,
            message: "The table \(table) has no column \(wanted), but \(all.joined(separator: ", ")).")
        }
        return name
      }
    }

    private func field(_ value: DatabaseValue) -> String {
      switch value.storage {
      case .null: options.nullText
      case .int64(let number): "\(number)"
      case .double(let number): "\(number)"
      case .string(let text): text
      case .blob(let bytes): "X'\(bytes.map { String(format: "%02X", $0) }.joined())'"
      }
    }
  }
#endif
