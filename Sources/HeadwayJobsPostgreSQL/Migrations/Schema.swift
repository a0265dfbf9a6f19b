#if PostgreSQL
@_spi(JobStore) import HeadwayJobs

/// The tables of a store.
enum Schema {
  static let migrations = [Migration0001.migration]

  /// The versions of the tables before and after an update; 0 if there were no tables.
  typealias Versions = (before: Int64, after: Int64)

  /// Updates the tables to the newest version.
  ///
  /// - Throws: `JobError` with the code `newerSchema`.
  static func migrate(_ session: PostgresSession, _ schema: SchemaName) throws -> Versions {
    if try storedVersion(session, schema) >= migrations.version { return try check(session, schema) }
    _ = try session.run([PostgresSession.begin] + session.transactionSettings)
    let before: Int64
    do {
      _ = try session.run(Statement(LockSQL.lock, schema.lockClass, StoreLock.migration.rawValue))
      let stored = try storedVersion(session, schema)
      // Creating the schema requires a privilege for the database, even if the schema exists.
      if try stored == 0 && !exists(session, schema) {
        _ = try session.run(Statement("CREATE SCHEMA IF NOT EXISTS \(schema.name)"))
      }
      for migration in try migrations.missing(after: stored, orUse: "another schema") {
        for sql in migration.statements { _ = try session.run(Statement(schema.sql(sql))) }
        _ = try session.run(Statement(schema.sql(MetaSQL.setVersion), migration.number))
      }
      _ = try session.run(Statement("COMMIT"))
      before = stored
    } catch {
      TransactionRunner.rollBack(session)
      throw error
    }
    return (before, try check(session, schema).after)
  }

  /// Checks that this version of Headway can use the tables.
  static func check(_ session: PostgresSession, _ schema: SchemaName) throws -> Versions {
    let stored = try storedVersion(session, schema)
    guard stored >= migrations.version else {
      throw JobError(
        .unusableStore,
        "The schema \(schema.name) of the database has \(stored == 0 ? "no tables of jobs" : "version \(stored)"), but "
          + "this program needs version \(migrations.version). Run `headway jobs migrate\(schema.option)`, or open the "
          + "store with `migration: .automatic`.")
    }
    _ = try migrations.missing(after: stored, orUse: "another schema")
    return (stored, stored)
  }

  /// Rejects a database that can't store every text.
  static func checkEncoding(_ session: PostgresSession) throws {
    let encoding = try session.run(Statement(MetaSQL.encoding)).first?.text(0) ?? ""
    guard encoding == "UTF8" || encoding == "SQL_ASCII" else {
      throw JobError(
        .unusableStore,
        "The database has the encoding \(encoding), which can't store every text. Create one with the encoding UTF8.")
    }
  }

  private static func exists(_ session: PostgresSession, _ schema: SchemaName) throws -> Bool {
    try !session.run(Statement(MetaSQL.hasSchema, schema.name)).isEmpty
  }

  private static func storedVersion(_ session: PostgresSession, _ schema: SchemaName) throws -> Int64 {
    guard try !session.run(Statement(MetaSQL.hasTables, schema.name)).isEmpty else { return 0 }
    return try session.run(Statement(schema.sql(MetaSQL.version))).first?.int64(0) ?? 0
  }
}
#endif
