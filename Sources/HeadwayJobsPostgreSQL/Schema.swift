#if PostgreSQL
@_spi(JobStore) import HeadwayJobs

/// The name of the schema that contains the tables of a store.
///
/// Statements are written with the default name, `headway`.
struct SchemaName: Hashable, Sendable {
  static let defaultName = "headway"
  let name: String

  /// Checks a name.
  ///
  /// Names are part of the text of statements, so only names that need no quotes are valid.
  ///
  /// - Throws: `JobError` with the code `unusableStore`.
  init(_ name: String) throws {
    let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
    let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    let isValid = name.utf8.enumerated().allSatisfy { index, byte in
      letters.contains(byte) || byte == UInt8(ascii: "_") || (index > 0 && digits.contains(byte))
    }
    guard isValid, !name.isEmpty, name.utf8.count <= 31, !name.hasPrefix("pg_") else {
      throw JobError(
        .unusableStore,
        "\(name) can't be the name of a schema. Use up to 31 lowercase letters, digits and underscores, with a letter "
          + "or an underscore first, and not pg_.")
    }
    self.name = name
  }

  /// Replaces the default name of the schema in a statement.
  func sql(_ text: String) -> String {
    guard name != Self.defaultName else { return text }
    var (rest, parts) = (text[...], [Substring]())
    while let range = rest.range(of: "\(Self.defaultName).") {
      parts.append(rest[..<range.lowerBound])
      rest = rest[range.upperBound...]
    }
    return (parts + [rest]).joined(separator: "\(name).")
  }

  /// The option of the tool for this schema.
  var option: String { name == Self.defaultName ? "" : " --schema \(name)" }

  /// The channel of the notifications.
  var channel: String { name == Self.defaultName ? "headway_jobs" : "headway_jobs_\(name)" }

  /// The first part of the keys of the advisory locks, which all databases of a server have in common.
  var lockClass: Int32 {
    var hash: UInt32 = 2_166_136_261
    for byte in "headway.\(name)".utf8 { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
    return Int32(bitPattern: hash)
  }
}

/// The advisory locks of a store, as the second part of their keys.
enum StoreLock: Int32, Sendable {
  /// Transactions that change several jobs hold it exclusively, and exchanges share it. See `JobTransaction`.
  case store = 1
  /// Claims with limits hold it while they count.
  case limits = 2
  /// The process that advances the store holds it.
  case advance = 3
  /// The process that migrates the tables holds it.
  case migration = 4
}

extension Substring {
  /// Finds the first occurrence of a text of ASCII characters.
  fileprivate func range(of text: String) -> Range<Index>? {
    let (bytes, pattern) = (utf8, Array(text.utf8))
    var start = bytes.startIndex
    while let first = bytes[start...].firstIndex(of: pattern[0]) {
      let candidate = bytes[first...].prefix(pattern.count)
      if candidate.elementsEqual(pattern) { return first..<candidate.endIndex }
      start = bytes.index(after: first)
    }
    return nil
  }
}

/// The tables of a store.
///
/// Each change of the schema adds a migration. Missing migrations run in one transaction, and `meta` contains the
/// number of the last one.
enum Schema {
  /// The number of the schema that this version of Headway creates.
  static let version: Int64 = 1

  /// The versions of the tables before and after an update; 0 if there were no tables.
  typealias Versions = (before: Int64, after: Int64)

  /// Updates the tables to the newest version.
  ///
  /// - Throws: `JobError` with the code `newerSchema` if the schema is more than one version newer. Each version works
  ///   with its own schema and with the next one, so that you can update one process after another.
  static func migrate(_ session: PostgresSession, _ schema: SchemaName) throws -> Versions {
    if try storedVersion(session, schema) >= version { return try check(session, schema) }
    _ = try session.run([PostgresSession.begin] + session.transactionSettings)
    let before: Int64
    do {
      _ = try session.run(
        Statement("SELECT pg_advisory_xact_lock($1, $2)", schema.lockClass, StoreLock.migration.rawValue))
      let stored = try storedVersion(session, schema)
      // Creating the schema requires a privilege for the database, even if the schema exists.
      if try stored == 0 && !exists(session, schema) {
        _ = try session.run(Statement("CREATE SCHEMA IF NOT EXISTS \(schema.name)"))
      }
      for (number, statements) in migrations where number > stored {
        for sql in statements { _ = try session.run(Statement(schema.sql(sql))) }
        _ = try session.run(Statement(schema.sql("UPDATE headway.meta SET value = $1 WHERE name = 'schema'"), number))
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
    guard stored >= version else {
      throw JobError(
        .unusableStore,
        "The schema \(schema.name) of the database has \(stored == 0 ? "no tables of jobs" : "version \(stored)"), but "
          + "this program needs version \(version). Run `headway jobs migrate\(schema.option)`, or open the store with "
          + "`migration: .automatic`.")
    }
    guard stored <= version + 1 else {
      throw JobError(
        .newerSchema,
        "The tables of jobs have version \(stored), but this program works with versions up to \(version + 1). Update "
          + "Headway in this program, or use another schema.")
    }
    return (stored, stored)
  }

  /// Refuses a database that can't store every text.
  static func checkEncoding(_ session: PostgresSession) throws {
    let encoding = try session.run(Statement("SELECT current_setting('server_encoding')")).first?.text(0) ?? ""
    guard encoding == "UTF8" || encoding == "SQL_ASCII" else {
      throw JobError(
        .unusableStore,
        "The database has the encoding \(encoding), which can't store every text. Create one with the encoding UTF8.")
    }
  }

  private static func exists(_ session: PostgresSession, _ schema: SchemaName) throws -> Bool {
    try !session.run(Statement("SELECT FROM pg_catalog.pg_namespace WHERE nspname = $1", schema.name)).isEmpty
  }

  private static func storedVersion(_ session: PostgresSession, _ schema: SchemaName) throws -> Int64 {
    // Not to_regclass, which can miss a table that another process has just created.
    let table = """
      SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = $1 AND c.relname = 'meta'
      """
    guard try !session.run(Statement(table, schema.name)).isEmpty else { return 0 }
    return try session.run(Statement(schema.sql("SELECT value FROM headway.meta WHERE name = 'schema'"))).first?.int64(
      0)
      ?? 0
  }

  private static let migrations: [(number: Int64, statements: [String])] = [(1, SchemaVersion1.statements)]
}
#endif
