#if SQLite
import Foundation
import GRDB

/// A group of imports that append rows, which the database records as one run.
///
/// If one of the imports does not complete, the completed ones do not append their rows again.
///
/// When the run is repeated, a completed import is treated like any other import of the run. It checks that the file
/// begins with the added records and that their rows exist. Then it adds the records that the file has gained in the
/// meantime.
struct AppendingRun: Sendable {
  /// The identifier of the run in the database.
  let identifier: String
  /// The history entries of the imports that have completed before, by their position.
  let finished: [Int: Int64]
}

extension ImportDatabase {
  /// Returns the run to complete, or a new one.
  ///
  /// - Parameters:
  ///   - imports: The tables and files.
  ///   - completesLast: Whether the last run is completed.
  /// - Returns: The last run of these imports, if not all of them completed in it; otherwise a new run.
  /// - Throws: ``ImportError`` with the code `database`.
  func appendingRun(of imports: [(table: String, file: String)], completesLast: Bool) throws -> AppendingRun {
    let new = AppendingRun(identifier: UUID().uuidString, finished: [:])
    guard completesLast else { return new }
    let histories = imports.map { ImportHistory(target: $0.table, file: $0.file, isRegular: true) }
    return try read { connection in
      // Not read through GRDB's schema methods, because GRDB would cache that the table does not exist.
      let columns = try String.fetchAll(
        connection, sql: "SELECT name FROM pragma_table_info(?)", arguments: [ImportHistory.table])
      guard columns.contains("run") else { return new }
      let last = try histories.compactMap { try $0.lastEntry(connection) }.max { $0.identifier < $1.identifier }
      guard let run = last?.run else { return new }
      var finished: [Int: Int64] = [:]
      for (position, history) in histories.enumerated() {
        // A file that is listed twice is added twice.
        let entries = try history.finishedEntries(in: run, connection)
        finished[position] = entries.first { !finished.values.contains($0) }
      }
      return finished.count == imports.count ? new : AppendingRun(identifier: run, finished: finished)
    }
  }
}

extension ImportHistory {
  /// The last import of the file into the table.
  fileprivate func lastEntry(_ database: Database) throws -> (identifier: Int64, run: String?)? {
    try Row.fetchOne(
      database,
      sql: "SELECT id, run FROM \(Self.table) WHERE \"table\" = ? AND source = ? ORDER BY id DESC LIMIT 1",
      arguments: [target, source]
    ).map { ($0["id"], $0["run"]) }
  }

  /// The history entries of the imports that have appended the file in a run, if the table has not been emptied since.
  fileprivate func finishedEntries(in run: String, _ database: Database) throws -> [Int64] {
    try Int64.fetchAll(
      database,
      sql: """
        SELECT id FROM \(Self.table) WHERE "table" = :target AND source = :source AND run = :run
          AND outcome = 'finished' AND id >= (
            SELECT coalesce(max(id), 0) FROM \(Self.table) WHERE "table" = :target AND began_empty) ORDER BY id
        """, arguments: ["target": target, "source": source, "run": run])
  }
}
#endif
