#if SQLite
import Foundation
import GRDB
import Headway
@testable import HeadwayImport
import Testing

/// Undamaged rows that are not imported, because they are ignored or violate constraints of the table.
@Suite("Import: ignored and rejected rows", .hangLimit)
struct IgnoredRowsTests {
  enum Format: String, CaseIterable {
    case csv, jsonl

    /// The text of a file with the columns `id` and `n`.
    func text(_ rows: [(id: Int, value: String)]) -> String {
      switch self {
      case .csv: "id,n\n" + rows.map { "\($0.id),\($0.value)\n" }.joined()
      case .jsonl:
        rows.map { "{\"id\": \($0.id), \"n\": \(Int($0.value).map { "\($0)" } ?? "\"\($0.value)\"")}\n" }.joined()
      }
    }

    /// A line that is not a row.
    var damagedLine: String { self == .csv ? "4\n" : "{\"id\": 4\n" }
  }

  private func imported(
    _ text: String, _ format: Format, into sql: String, key: [String] = ["id"], _ options: ImportOptions,
    times: Int = 1, _ body: (ImportDatabase, ImportOperation, [RowIssue]) throws -> Void
  ) throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      try database.pool.write { try $0.execute(sql: sql) }
      for _ in 0..<times {
        let operation = ImportOperation(
          file: try workspace.write(text, to: "t.\(format)"), table: TableSchema(name: "t", columns: [], key: key),
          into: database, options: options, rejectedRows: workspace.rejectedRowsFile())
        run(operation)
        let hasIssues = operation.report.rejectedRowsPath != nil
        try body(database, operation, hasIssues ? try parsedRowIssues(workspace.bytes(of: "rejected-rows.csv")) : [])
      }
    }
  }

  private static let table = """
    CREATE TABLE t (id INTEGER PRIMARY KEY, n TEXT CHECK (n <> 'bad'));
    INSERT INTO t VALUES (1, 'a'), (2, 'b')
    """

  @Test("I22: rows whose key exists can be ignored, and are counted", arguments: Format.allCases)
  func ignored(format: Format) throws {
    let text =
      format.text([(1, "x"), (3, "c"), (3, "d")]) + format.damagedLine
      + format.text([(5, "e")]).replacing("id,n\n", with: "")
    let options = ImportOptions(existingRowPolicy: .ignore)
    var counts: [[Int]] = []
    try imported(text, format, into: Self.table, options, times: 2) { (database, operation, issues) throws in
      let report = operation.report
      #expect(operation.error == nil && report.isComplete)
      #expect(issues.count == 1 && issues[0].status == .rejected)
      #expect(try database.strings("SELECT * FROM t") == ["1|a", "2|b", "3|c", "5|e"])
      counts.append([report.rowCount, report.ignoredRowCount, report.rejectedRowCount])
    }
    #expect(counts == [[2, 2, 1], [0, 4, 1]])
  }

  @Test("I22: a strict import skips ignored rows, and stops at a rejected row", arguments: Format.allCases)
  func strict(format: Format) throws {
    let options = ImportOptions(stopsAtFirstMalformedRow: true, existingRowPolicy: .ignore)
    try imported(format.text([(1, "x"), (3, "c"), (2, "y")]), format, into: Self.table, options) {
      (database, operation, issues) throws in
      #expect(operation.error == nil && issues.isEmpty)
      #expect(operation.report.rowCount == 1 && operation.report.ignoredRowCount == 2)
      #expect(try database.strings("SELECT * FROM t") == ["1|a", "2|b", "3|c"])
    }
    try imported(format.text([(1, "x"), (3, "c"), (4, "bad"), (5, "e")]), format, into: Self.table, options) {
      (database, operation, issues) throws in
      let error = try importError(operation)
      #expect(error.code == .malformedRow && error.lineNumber == (format == .csv ? 4 : 3))
      let report = operation.report
      #expect([report.rowCount, report.ignoredRowCount, report.rejectedRowCount] == [1, 1, 1] && issues.count == 1)
      #expect(try database.strings("SELECT * FROM t") == ["1|a", "2|b", "3|c"])
    }
  }

  @Test("I22: without a key, rows can't be ignored") func noKey() throws {
    try imported("id,n\n1,x\n", .csv, into: "", key: [], ImportOptions(existingRowPolicy: .ignore)) {
      (database, operation, _) throws in
      #expect(try importError(operation).code == .unsuitableTable)
      #expect(try !database.hasTable("t"))
    }
  }

  @Test(
    "I23: a row that violates a constraint of an app's table is rejected, and the import continues",
    arguments: [ImportOptions.ExistingRowPolicy.update, .append, .ignore, .replace], Format.allCases)
  func constraints(policy: ImportOptions.ExistingRowPolicy, format: Format) throws {
    let table = """
      CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER NOT NULL CHECK (n < 10) UNIQUE) STRICT;
      CREATE TRIGGER seven BEFORE INSERT ON t WHEN new.n = 7 BEGIN SELECT RAISE(ABORT, 'seven'); END
      """
    let text = format.text([(1, "5"), (2, "50"), (3, "x"), (4, "7"), (5, "5"), (6, "6")])
    try imported(text, format, into: table, ImportOptions(existingRowPolicy: policy)) {
      (database, operation, issues) throws in
      #expect(operation.error == nil)
      #expect(operation.report.rowCount == 2 && operation.report.rejectedRowCount == 4)
      let first = format == .csv ? 3 : 2
      #expect(issues.filter { $0.status == .rejected }.map(\.lineNumber).sorted() == Array(first..<first + 4))
      #expect(try database.strings("SELECT * FROM t") == ["1|5", "6|6"])
    }
  }
}
#endif
