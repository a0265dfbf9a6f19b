#if Jobs
import GRDB
@_spi(JobStore) import HeadwayJobs

/// The tables of a store.
enum Schema {
  static let migrations = [Migration0001.migration]

  /// Updates the tables to the newest version, in a transaction of the caller.
  ///
  /// - Returns: The versions of the tables before and after the update; 0 if there were no tables.
  /// - Throws: `JobError` with the code `newerSchema`.
  static func migrate(_ database: Database) throws -> (before: Int64, after: Int64) {
    let stored = try storedVersion(database)
    for migration in try migrations.missing(after: stored, orUse: "another database") {
      try database.execute(sql: migration.sql)
      try database.execute(sql: MetaSQL.set, arguments: ["schema", migration.number])
    }
    return (stored, max(stored, migrations.version))
  }

  private static func storedVersion(_ database: Database) throws -> Int64 {
    guard try Int.fetchOne(database, sql: MetaSQL.hasTables) == 1 else { return 0 }
    return try Int64.fetchOne(database, sql: MetaSQL.find, arguments: ["schema"]) ?? 0
  }
}
#endif
