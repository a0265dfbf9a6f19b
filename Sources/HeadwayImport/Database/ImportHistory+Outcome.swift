#if SQLite
import GRDB

extension ImportDatabase {
  /// Returns whether the last import into the operation's table was one of its file and has finished.
  ///
  /// - Parameter operation: An import into this database.
  /// - Returns: Whether the file is in the database.
  /// - Throws: GRDB's `DatabaseError`.
  package func hasFinished(_ operation: ImportOperation) throws -> Bool {
    let history = ImportHistory(target: operation.table.name, file: operation.file, isRegular: true)
    return try pool.read { database in
      guard let last = try history.entries(sinceEmpty: false, database).last else { return false }
      return last.source == history.source && last.outcome == ImportHistory.Outcome.finished.rawValue
    }
  }
}
#endif
