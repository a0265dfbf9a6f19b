#if PostgreSQL
@_spi(JobStore) public import HeadwayJobs

extension PostgresJobStore {
  /// Checks the database: the version and the settings of the server, its connections, old transactions, dead rows,
  /// notifications, and the privileges of the role.
  ///
  /// - Parameter measuresCommit: Whether to commit a small change, in order to measure how long that takes.
  /// - Returns: The results of the checks.
  /// - Throws: `JobError` if the database can't be read, or if the change fails.
  @_spi(JobStore) public func findings(measuringCommit measuresCommit: Bool) async throws -> [JobsHealth.Finding] {
    var findings = try await read { try DatabaseFindings(reader: $0).all() }
    findings.append(notifications)
    if measuresCommit { findings.append(JobsHealth.Finding(commitTook: try await commitTime())) }
    return findings
  }

  private var notifications: JobsHealth.Finding {
    lacksNotifications == true
      ? .warning(
        "Notifications",
        "A pooler or a standby prevents notifications, so workers find new jobs only once per second.")
      : .good("Notifications", "Workers are notified of new jobs.")
  }

  /// Measures a commit that writes to the log of the server, but to no table.
  private func commitTime() async throws -> Duration {
    do {
      return try await connections.control.run { session in
        // Opens the connection if necessary.
        _ = try session.run(Statement(FindingsSQL.nothing))
        let start = ContinuousClock.now
        _ = try session.run(session.requestSettings + [Statement(FindingsSQL.message)])
        return ContinuousClock.now - start
      }
    } catch {
      throw JobError(error, "The time of a commit can't be measured.")
    }
  }
}

/// Reads the condition of the server.
private struct DatabaseFindings {
  let reader: JobReader

  /// A transaction that is older than this is a finding.
  private static let oldTransaction = 300.0
  /// A number of dead rows that is a finding if there are fewer live ones.
  private static let deadRowCount = 100_000
  /// The used fraction of connections that is a finding.
  private static let maxConnectionPart = 0.8

  func all() throws -> [JobsHealth.Finding] {
    [try version(), try durability(), try connections(), try transactions(), try rows(), try privileges()]
  }

  private func row(_ sql: String) throws -> ResultRow? { try reader.run(Statement(sql)).first }

  private func version() throws -> JobsHealth.Finding {
    let version = try row(FindingsSQL.version)?.text(0) ?? "?"
    return .good("Version", "PostgreSQL \(version).")
  }

  private func durability() throws -> JobsHealth.Finding {
    let off = try reader.run(Statement(FindingsSQL.unsafeSettings)).rows.map { $0.text(0) }
    return off.isEmpty
      ? .good("Durability", "A commit is synced to the disk.")
      : .bad(
        "Durability",
        "The server runs with \(off.map { "\($0) = off" }.joined(separator: " and ")). A loss of power can "
          + "destroy the database.")
  }

  /// The number of connections is visible to all roles, unlike the kinds of the server's processes.
  private func connections() throws -> JobsHealth.Finding {
    let row = try row(FindingsSQL.connections)
    let (used, limit) = (row?.int(0) ?? 0, row?.int(1) ?? 0)
    return JobsHealth.Finding(
      level: Double(used) > Double(limit) * Self.maxConnectionPart ? .warning : .good, name: "Connections",
      text: "\(Readable.number(used)) of \(Readable.count(limit, "connection")) are in use.")
  }

  /// Old transactions keep old versions of rows, which slow down claims.
  private func transactions() throws -> JobsHealth.Finding {
    let oldest = try row(FindingsSQL.oldestTransaction)
    guard let oldest, oldest.double(2) > Self.oldTransaction else {
      let visibility = try row(FindingsSQL.visibility)
      let text =
        visibility?.bool(0) == true
        ? "No transaction has been open for a long time."
        : "No transaction of the role “\(visibility?.text(1) ?? "?")” has been open for a long time. The role can't "
          + "see the transactions of other roles. Grant it pg_read_all_stats to check them, too."
      return .good("Transactions", text)
    }
    let name = oldest.text(1).isEmpty ? "" : " (\(oldest.text(1)))"
    return .warning(
      "Transactions",
      "The server process \(oldest.int(0))\(name) has had a transaction open for "
        + "\(Readable.duration(.seconds(oldest.double(2)))). It keeps dead rows, which slow down claims. End it.")
  }

  private func rows() throws -> JobsHealth.Finding {
    let row = try row(FindingsSQL.rows)
    let (living, dead) = (row?.int(0) ?? 0, row?.int(1) ?? 0)
    let text = "The table of unfinished jobs has \(Readable.count(dead, "dead row"))."
    return dead > max(Self.deadRowCount, living)
      ? .warning("Vacuum", text + " Check whether autovacuum is on and keeps up.")
      : .good("Vacuum", text)
  }

  private func privileges() throws -> JobsHealth.Finding {
    let row = try row(FindingsSQL.privileges)
    let role = row?.text(0) ?? "?"
    return .good(
      "Privileges",
      row?.bool(1) == true ? "The role “\(role)” can run jobs." : "The role “\(role)” can read jobs, but not run them.")
  }
}
#endif
