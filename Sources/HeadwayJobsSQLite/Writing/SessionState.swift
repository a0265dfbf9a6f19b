#if Jobs
import GRDB
import GRDBSQLite

/// The state of a connection that application code can change and that outlasts the code's transaction.
///
/// The connection can't be replaced, because it belongs to the application's pool and notifies the pool's observers.
/// Therefore, the state is read before the code runs, and restored before other code uses the connection.
struct SessionState {
  private let settings: [String]
  private let isLikeCaseSensitive: Bool
  private let temporaryObjects: Set<[String]>
  private let attachedDatabases: Set<[String]>

  /// The settings that SQLite keeps per connection.
  ///
  /// `wal_autocheckpoint` is not in the list, because the writer installs its hook again. A transaction can read
  /// `temp_store` but can't change it.
  private static let pragmas = [
    "analysis_limit", "automatic_index", "busy_timeout", "cache_size", "cache_spill", "cell_size_check",
    "checkpoint_fullfsync", "count_changes", "defer_foreign_keys", "empty_result_callbacks", "foreign_keys",
    "full_column_names", "fullfsync", "ignore_check_constraints", "journal_mode", "journal_size_limit",
    "legacy_alter_table", "locking_mode", "max_page_count", "mmap_size", "query_only", "read_uncommitted",
    "recursive_triggers", "reverse_unordered_selects", "secure_delete", "short_column_names", "synchronous",
    "temp_store", "threads", "trusted_schema", "writable_schema",
  ]

  /// Reads the state.
  init(_ database: Database) throws {
    settings = try Self.pragmas.map { try Self.value(of: $0, database) }
    isLikeCaseSensitive = try Self.isLikeCaseSensitive(database)
    temporaryObjects = Set(try Self.temporaryObjects(database))
    attachedDatabases = Set(try Self.attachedDatabases(database))
  }

  /// Restores the state.
  ///
  /// Objects of the application that existed before remain, with their rows.
  ///
  /// - Returns: Whether the whole state was restored. In a transaction, databases that the transaction has used can't
  ///   be detached, and some settings can't be changed.
  func restore(_ database: Database) -> Bool {
    do {
      var isComplete = try restoreSettings(database)
      if try Self.isLikeCaseSensitive(database) != isLikeCaseSensitive {
        _ = try Self.rows(SessionSQL.set("case_sensitive_like", to: "\(isLikeCaseSensitive)"), database)
      }
      let new = try Self.temporaryObjects(database).filter { !temporaryObjects.contains($0) }
      if !new.isEmpty {
        // Tables with foreign keys can then be deleted in any order. The first setting has an effect in a transaction,
        // and the second one outside of transactions.
        for (name, value) in [("defer_foreign_keys", "1"), ("foreign_keys", "0")] {
          _ = try Self.rows(SessionSQL.set(name, to: value), database)
        }
        // GRDB executes the statement, because it caches the schema.
        let deletion = Result {
          for object in new { try database.execute(sql: SessionSQL.drop(object[0], Self.quoted(object[1]))) }
        }
        isComplete = try restoreSettings(database) && isComplete
        try deletion.get()
      }
      for name in try Self.attachedDatabases(database) where !attachedDatabases.contains(name) {
        do {
          try database.execute(sql: SessionSQL.detach(Self.quoted(name[0])))
        } catch {
          isComplete = false
        }
      }
      return isComplete
    } catch {
      return false
    }
  }

  /// Restores the settings.
  ///
  /// - Returns: Whether all of them were restored.
  private func restoreSettings(_ database: Database) throws -> Bool {
    var isComplete = true
    for (pragma, former) in zip(Self.pragmas, settings) where try Self.value(of: pragma, database) != former {
      // This setting reads its third value as a number and does not accept that number.
      let value = pragma == "secure_delete" && former == "2" ? "FAST" : former
      _ = try? Self.rows(SessionSQL.set(pragma, to: value), database)
      if try Self.value(of: pragma, database) != former { isComplete = false }
    }
    return isComplete
  }

  /// Unlike GRDB's function, this one doubles quotation marks in the name.
  private static func quoted(_ name: String) -> String {
    "\"\(name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\""))\""
  }

  private static func value(of pragma: String, _ database: Database) throws -> String {
    try rows(SessionSQL.setting(pragma), database).first?.first ?? ""
  }

  private static func isLikeCaseSensitive(_ database: Database) throws -> Bool {
    try rows(SessionSQL.isCaseIgnored, database) == [["0"]]
  }

  /// The types and names of temporary objects.
  private static func temporaryObjects(_ database: Database) throws -> [[String]] {
    try rows(SessionSQL.temporaryObjects, database)
  }

  private static func attachedDatabases(_ database: Database) throws -> [[String]] {
    try rows(SessionSQL.attachedDatabases, database)
  }

  /// Executes a statement that is compiled for each execution, because SQLite reads and changes settings while it
  /// compiles a statement.
  private static func rows(_ sql: String, _ database: Database) throws -> [[String]] {
    var statement: OpaquePointer?
    defer { sqlite3_finalize(statement) }
    var code = sqlite3_prepare_v2(database.sqliteConnection, sql, -1, &statement, nil)
    var rows: [[String]] = []
    while code == SQLITE_OK || code == SQLITE_ROW {
      code = sqlite3_step(statement)
      guard code == SQLITE_ROW else { break }
      rows.append(
        (0..<sqlite3_column_count(statement)).map { column in
          sqlite3_column_text(statement, column).map { String(cString: $0) } ?? ""
        })
    }
    guard code == SQLITE_DONE else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
    return rows
  }
}

extension Database {
  /// Checks that no deferred foreign key is violated.
  ///
  /// Otherwise, the commit would fail for all requests in the transaction.
  ///
  /// - Throws: `DatabaseError`.
  func checkDeferredForeignKeys() throws {
    var (count, highest) = (Int32(0), Int32(0))
    sqlite3_db_status(sqliteConnection, SQLITE_DBSTATUS_DEFERRED_FKS, &count, &highest, 0)
    guard count != 0 else { return }
    throw DatabaseError(resultCode: .SQLITE_CONSTRAINT_FOREIGNKEY, message: "FOREIGN KEY constraint failed")
  }
}
#endif
