#if PostgreSQL
@_spi(JobStore) import HeadwayJobs

extension PostgresJobStore {
  /// A permission to use the jobs of a store, for a role of the server.
  public enum Privilege: String, CaseIterable, Hashable, Sendable {
    /// Read everything: for dashboards and monitoring.
    case read
    /// Add jobs, but neither read nor change jobs of other roles: for programs without workers.
    ///
    /// Such a role can add jobs only through the function `enqueue` of the schema, which the store calls. The role can
    /// read the settings of queues, and the number of jobs that wait in a queue. If a job's unique key is held, the
    /// role receives the ID of the holder. Jobs with dependencies, and unique keys with `replace`, require ``work``,
    /// because they change other jobs.
    case enqueue
    /// Everything except changing the tables themselves: for workers.
    case work
  }

  /// Grants a role what it needs to open this store and use it.
  ///
  /// If there is no such role, it is created without the right to log in: make the users of your programs members of
  /// it, for example with `GRANT job_workers TO app`. The role keeps its other privileges. In programs that connect as
  /// such a role, open the store with ``Migration/manual``. Call this method again after an update of the tables.
  ///
  /// - Parameters:
  ///   - privilege: What the role can do with the jobs.
  ///   - role: The name of the role, as in the table `pg_roles`.
  /// - Throws: `JobError` if this connection may not create roles or grant privileges, or if the name is not valid. In
  ///   that case, nothing is changed.
  public func grant(_ privilege: Privilege, to role: String) async throws {
    let name = try QuotedName(role)
    let (schema, grants) = (schema, privilege.grants)
    try await change(on: connections.control) { transaction in
      if try transaction.run(PrivilegeSQL.role, role).isEmpty {
        transaction.runLater(Statement(PrivilegeSQL.create(role: name.sql)))
      }
      for grant in grants { transaction.runLater(grant.statement(role: name, schema: schema)) }
      // If this role has a privilege without the right to grant it, the server grants nothing, and only warns.
      for grant in grants {
        guard let (privilege, object) = try grant.missing(role: role, transaction) else { continue }
        throw PostgresError(
          sqlState: "42501",
          message: "permission denied to grant \(privilege) on \(object): connect as the owner of the tables",
          isConnectionLost: false)
      }
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
  fileprivate var grants: [PrivilegeGrant] {
    let functions = ["enqueue", "notify", "pending_count", "read_receipt", "write_receipt"]
    let common = [PrivilegeGrant(["USAGE"], .schema)]
    switch self {
    case .read: return common + [PrivilegeGrant(["SELECT"], .tables)]
    case .enqueue:
      return common + [
        PrivilegeGrant(["EXECUTE"], .functions, functions),
        PrivilegeGrant(["SELECT"], .tables, ["meta", "queue"]),
      ]
    case .work:
      return common + [
        PrivilegeGrant(["USAGE"], .sequences),
        PrivilegeGrant(["EXECUTE"], .functions, functions + ["signal", "meet", "stored_duration", "finish"]),
        PrivilegeGrant(["SELECT", "INSERT", "UPDATE", "DELETE"], .tables),
      ]
    }
  }
}

/// Privileges for the schema, or for objects in it.
private struct PrivilegeGrant {
  enum Kind: String {
    case schema, tables, sequences, functions
  }

  let privileges: [String]
  let kind: Kind
  /// The names of the objects; empty for all.
  let names: [String]

  init(_ privileges: [String], _ kind: Kind, _ names: [String] = []) {
    (self.privileges, self.kind, self.names) = (privileges, kind, names)
  }

  func statement(role: QuotedName, schema: SchemaName) -> Statement {
    Statement(PrivilegeSQL.grant(privileges, on: objects(schema), to: role.sql))
  }

  private func objects(_ schema: SchemaName) -> String {
    guard kind != .schema else { return "SCHEMA \(schema.name)" }
    guard !names.isEmpty else { return "ALL \(kind.rawValue) IN SCHEMA \(schema.name)" }
    return "\(kind.rawValue.dropLast()) \(JobSQL.list(names.map { "\(schema.name).\($0)" }))"
  }

  /// Returns a privilege that the role does not have, and the object.
  func missing(role: String, _ transaction: JobTransaction) throws -> (privilege: String, object: String)? {
    let (objects, check) =
      switch kind {
      case .schema: (PrivilegeSQL.schemas, "has_schema_privilege")
      case .tables: (PrivilegeSQL.relations("'r', 'p', 'v', 'm', 'f'"), "has_table_privilege")
      case .sequences: (PrivilegeSQL.relations("'S'"), "has_sequence_privilege")
      case .functions: (PrivilegeSQL.functions, "has_function_privilege")
      }
    var statement = Statement(PrivilegeSQL.missing(objects, check: check), role, transaction.schema.name)
    for texts in [privileges, names] { statement.add(array: texts) }
    return try transaction.run(statement).first.map { ($0.text(0), $0.text(1)) }
  }
}
#endif
