/// A query that must return no rows, and a description of the rows that it returns.
@_spi(JobStore) public struct AuditRule: Sendable {
  /// A description of the returned rows, in the plural.
  let what: String
  /// A query that returns the IDs of jobs.
  let sql: String

  /// Creates a rule.
  ///
  /// - Parameters:
  ///   - what: A description of the returned rows, in the plural.
  ///   - sql: A query that returns the IDs of jobs, in the form of a ``StoreStatement``.
  public init(_ what: String, _ sql: String) { (self.what, self.sql) = (what, sql) }
}

@_spi(JobStore) extension StoreReader {
  /// Checks that the store's tables are consistent with each other.
  ///
  /// - Parameter others: Rules that only this store has.
  /// - Throws: The error of the database.
  /// - Returns: Descriptions of the defects; empty if there are none.
  public func defects(_ others: [AuditRule] = []) throws -> [String] {
    try (AuditSQL.rules + others).compactMap(defect) + unreadableJobs() + statisticsDefects()
  }

  private func defect(_ rule: AuditRule) throws -> String? {
    let ids = try rows(StoreStatement("\(rule.sql) ORDER BY 1")) { $0.int64(0) }
    guard !ids.isEmpty else { return nil }
    let examples = ids.prefix(5).map(String.init).joined(separator: ", ")
    return "\(ids.count) \(rule.what): \(examples)\(ids.count > 5 ? ", …" : "")"
  }

  /// Finds jobs whose settings or history can't be decoded, or that hold a wrong key.
  private func unreadableJobs() throws -> [String] {
    var defects: [String] = []
    for (columns, table) in [(Search.unfinishedColumns, "headway.job"), (Search.finishedColumns, "headway.done")] {
      try forEachRow(StoreStatement(AuditSQL.all(columns, table))) { row in
        let (job, key) = (JobRow.read(row), JobRow.uniqueKey(row))
        if let damage = job.damage {
          defects.append("job \(job.id) can't be read: \(damage)")
          return
        }
        if let key, key != job.settings.unique?.key {
          defects.append("job \(job.id) holds a key that is not its own: \(key)")
        }
        if job.needsKey { defects.append("job \(job.id) has lost its key \(job.settings.unique?.key ?? "")") }
      }
    }
    return defects
  }
}
