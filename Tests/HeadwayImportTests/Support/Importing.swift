#if SQLite
import Foundation
import GRDB
import Headway
@testable import HeadwayImport
import Testing

extension Workspace {
  func database(_ durability: Durability = .normal) throws -> ImportDatabase {
    try ImportDatabase(path: path("test.sqlite"), durability: durability)
  }

  /// Writes a file of lines under a header and returns an operation that imports it.
  func operation(
    _ lines: [String], header: String = "id,name", table: TableSchema = .people, into database: ImportDatabase,
    options: ImportOptions = ImportOptions(), rejectedRows: RejectedRowsFile? = nil
  ) throws -> ImportOperation {
    let file = try write(([header] + lines).map { $0 + "\n" }.joined(), to: "\(table.name).csv")
    return ImportOperation(file: file, table: table, into: database, options: options, rejectedRows: rejectedRows)
  }

  /// The contents of the files in the folder that contains a feed's rejected rows.
  func feedRowIssues(in folder: String = "rejected-rows") throws -> [RowIssue] {
    let files = try FileManager.default.contentsOfDirectory(atPath: path(folder)).sorted()
    return try files.flatMap { try parsedRowIssues(bytes(of: "\(folder)/\($0)")) }
  }

  /// The only file of rejected rows: an earlier one is removed.
  func rejectedRowsFile() -> RejectedRowsFile {
    try? FileManager.default.removeItem(atPath: path("rejected-rows.csv"))
    return RejectedRowsFile(path: path("rejected-rows.csv"))
  }
}

extension TableSchema {
  /// A table with a text key.
  static let people = TableSchema(
    name: "people", columns: [ColumnSchema(name: "id", isRequired: true), ColumnSchema(name: "name")], key: ["id"])
  /// A table without a description.
  static let log = TableSchema(name: "log", columns: [])
}

/// Lines such as `7,name 7`.
func people(_ numbers: some Sequence<Int>) -> [String] { numbers.map { "\($0),name \($0)" } }

/// Runs operations to their end.
func run(_ operations: [Headway.Operation]) {
  Headway.OperationQueue().addOperations(operations, waitUntilFinished: true)
}

func run(_ operation: Headway.Operation) { run([operation]) }

extension ImportDatabase {
  func strings(_ sql: String) throws -> [String] {
    try pool.read { try Row.fetchAll($0, sql: sql).map { $0.databaseValues.map(\.text).joined(separator: "|") } }
  }

  func count(_ table: String) throws -> Int {
    try pool.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM \(SQL.name(table))") ?? -1 }
  }

  func hasTable(_ name: String) throws -> Bool { try pool.read { try $0.tableExists(name) } }

  func columns(_ table: String) throws -> [String] {
    try pool.read { try String.fetchAll($0, sql: "SELECT name FROM pragma_table_info(?)", arguments: [table]) }
  }

  /// All tables with all rows, each by its row number, and the statements that created tables and indices.
  func contents() throws -> [String: [String]] {
    try pool.read { connection in
      let tables = try String.fetchAll(
        connection,
        sql: """
          SELECT name FROM sqlite_master
          WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> 'grdb_headway_imports'
          """)
      var contents: [String: [String]] = [:]
      for table in tables {
        let rows = try Row.fetchAll(connection, sql: "SELECT rowid, * FROM \(SQL.name(table)) ORDER BY rowid")
        contents[table] = rows.map { $0.databaseValues.map(\.text).joined(separator: "|") }
      }
      contents["schema"] = try String.fetchAll(
        connection, sql: "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name")
      return contents
    }
  }

  func isIntact() throws -> Bool { try strings("PRAGMA integrity_check") == ["ok"] }
}

extension DatabaseValue {
  /// The value such that different values differ: text in quotes, numbers without quotes.
  fileprivate var text: String {
    switch storage {
    case .null: "NULL"
    case .string(let text): text
    case .int64(let number): "\(number)"
    case .double(let number): "\(number)"
    case .blob(let data): "blob of \(data.count)"
    }
  }
}

/// The error as the import's own.
func importError(
  _ operation: Headway.Operation, _ location: SourceLocation = #_sourceLocation
) throws -> ImportError {
  try #require(operation.error as? ImportError, sourceLocation: location)
}

extension ImportOperation {
  /// Blocks the writing thread at the gate after each committed batch.
  func stop(at gate: Checkpoint) { commitHandler = { _ in gate.pass() } }
}
#endif
