#if SQLite
import Foundation
import GRDB

/// Several imports that append rows, of which the database remembers that they belong together: when one of them did
/// not come to its end, those that did are not appended a second time.
///
/// Each of these is completed like the others: it makes sure that the file begins with the records that were added, and
/// that their rows exist, and adds records that the file has got since.
struct AppendingRun: Sendable {
  /// By what the run is known to the database.
  let identifier: String
  /// By the positions of the imports that have come to their end before, how each is noted.
  let finished: [Int: Int64]
}

extension ImportDatabase {
  /// The run that is to be completed, or a new one.
  ///
  /// - Parameters:
  ///   - imports: The tables and files.
  ///   - completesLast: Whether the last run is completed.
  /// - Returns: The last run of these imports, if not all of them have come to their end in it.
  /// - Throws: ``ImportError`` with the code `database`.
  func appendingRun(of imports: [(table: String, file: String)], completesLast: Bool) throws -> AppendingRun {
    let new = AppendingRun(identifier: UUID().uuidString, finished: [:])
    guard completesLast else { return new }
    let histories = imports.map { ImportHistory(target: $0.table, file: $0.file, isRegular: true) }
    return try read { connection in
      // Not asked through GRDB, which remembers that there was none.
      let columns = try String.fetchAll(
        connection, sql: "SELECT name FROM pragma_table_info(?)", arguments: [ImportHistory.table])
      guard columns.contains("run") else { return new }
      let last = try histories.compactMap { try $0.lastEntry(connection) }.max { $0.identifier < $1.identifier }
      guard let run = last?.run else { return new }
      var finished: [Int: Int64] = [:]
      for (position, history) in histories.enumerated() {
        // A file that is named twice is added twice.
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

  /// How the imports are noted that have appended the file in a run, if the table was not emptied since.
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
