#if Jobs
import GRDB
import GRDBSQLite
@_spi(JobStore) import HeadwayJobs

/// Sets whether commits of the writing connection wait for the disk, and restores the application's setting.
struct DurabilitySetting {
  private let former: [(pragma: String, value: Int)]

  private static let full = 2
  private static let normal = 1

  /// Changes the setting, outside of a transaction.
  init(isDurable: Bool, _ database: Database) throws {
    var wanted = [("synchronous", isDurable ? Self.full : Self.normal)]
    #if canImport(Darwin)
    if isDurable { wanted.append(("fullfsync", 1)) }
    #endif
    former = try wanted.compactMap { pragma, value in
      let former = try Self.value(of: pragma, database)
      guard former != value else { return nil }
      try Self.set(pragma, value, database)
      guard try Self.value(of: pragma, database) == value else {
        throw JobError(
          .unusableStore,
          "SQLite does not accept PRAGMA \(pragma) = \(value), so jobs would not be durable. Use another library.")
      }
      return (pragma, former)
    }
  }

  func restore(_ database: Database) { for (pragma, value) in former { try? Self.set(pragma, value, database) } }

  private static func value(of pragma: String, _ database: Database) throws -> Int {
    // The statement is compiled each time, because SQLite reads the setting while it compiles the statement.
    let statement = try SQLStatement(separate: SessionSQL.setting(pragma), database)
    defer { statement.reset() }
    return try statement.step() ? statement.int(0) : -1
  }

  /// Changes a setting without the statement cache, because SQLite applies the change while it compiles the statement.
  private static func set(_ pragma: String, _ value: Int, _ database: Database) throws {
    let code = sqlite3_exec(database.sqliteConnection, SessionSQL.set(pragma, to: "\(value)"), nil, nil, nil)
    guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
  }
}
#endif
