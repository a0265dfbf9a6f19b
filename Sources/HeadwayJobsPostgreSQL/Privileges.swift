#if PostgreSQL
import HeadwayJobs

extension PostgresJobStore {
  /// A permission to use the jobs of a store, for a role of the server.
  public enum Privilege: String, CaseIterable, Hashable, Sendable {
    /// Read everything: for dashboards and monitoring.
    case read
    /// Add jobs, but neither read nor change those of others: for programs without workers.
    ///
    /// Jobs with dependencies, and unique keys with `replace`, require ``work``, because they change other jobs.
    case enqueue
    /// Everything except changing the tables themselves: for workers.
    case work
  }

  /// Grants a role what it needs to open this store and use it.
  ///
  /// If there is no such role, it is created without the right to log in: make the users of your programs members of
  /// it, for example with `GRANT job_workers TO app`. The role keeps its other privileges. Open the store with
  /// ``Migration/manual`` in programs that connect as such a role, and call this method again after an update of the
  /// tables.
  ///
  /// - Parameters:
  ///   - privilege: The privilege.
  ///   - role: The name of the role, as in the table `pg_roles`.
  /// - Throws: `JobError` if this connection may not create roles or grant privileges, or if the name is not valid.
  ///   Nothing is changed then.
  public func grant(_ privilege: Privilege, to role: String) async throws {
    let name = try QuotedName(role)
    let statements = privilege.statements(role: name, schema: schema)
    try await change(on: connections.control) { transaction in
      if try transaction.run("SELECT FROM pg_catalog.pg_roles WHERE rolname = $1", role).isEmpty {
        transaction.runLater(Statement("CREATE ROLE \(name.sql) NOLOGIN"))
      }
      for sql in statements { transaction.runLater(Statement(sql)) }
    }
  }
}

/// A name in quotes, as in a statement that can't have parameters.
private struct QuotedName: Sendable {
  let sql: String

  init(_ name: String) throws {
    // The server would cut a longer name without an error.
    guard (1...63).contains(name.utf8.count), !name.utf8.contains(0) else {
      throw JobError(.storeFailed, "\(name) can't be the name of a role. Use 1 to 63 bytes of UTF-8.")
    }
    sql = "\"\(name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\""))\""
  }
}

extension PostgresJobStore.Privilege {
  fileprivate func statements(role: QuotedName, schema: SchemaName) -> [String] {
    ["GRANT USAGE ON SCHEMA \(schema.name) TO \(role.sql)"]
      + grants(schema).map { "GRANT \($0.privileges) ON \(schema.sql($0.objects)) TO \(role.sql)" }
  }

  private func grants(_ schema: SchemaName) -> [(privileges: String, objects: String)] {
    let sequences = (privileges: "USAGE", objects: "ALL SEQUENCES IN SCHEMA \(schema.name)")
    switch self {
    case .read: return [("SELECT", "ALL TABLES IN SCHEMA \(schema.name)")]
    case .enqueue:
      return [
        sequences, ("SELECT", "headway.meta, headway.queue"),
        ("SELECT, INSERT, UPDATE", "headway.key, headway.receipt"),
        ("INSERT, SELECT (id, queue, state, crashes, limit_key, unique_key)", "headway.job"),
      ]
    case .work:
      return [
        sequences, ("SELECT, INSERT, UPDATE, DELETE", "ALL TABLES IN SCHEMA \(schema.name)"),
      ]
    }
  }
}
#endif
