/// The statements that read error groups.
enum ErrorSQL {
  /// The groups, without their counts.
  static let groups = "SELECT id, kind, type, text, first_seen, note, author, muted FROM headway.error"
  /// The counts of groups: several rows for each group and hour.
  static let counts = "SELECT error, hour, count, last_seen, last_job FROM headway.error_count"

  /// The numbers of jobs that retry, and of jobs that have failed, of groups that meet a condition, up to a limit; by
  /// the indexes `job_error` and `done_error`.
  static func jobCounts(where condition: String) -> String {
    """
    SELECT e.id,
    (SELECT count(*) FROM (
      SELECT 1 FROM headway.job WHERE error = e.id AND \(JobState.retrying.condition) LIMIT $2) retrying),
    (SELECT count(*) FROM (
      SELECT 1 FROM headway.done WHERE error = e.id AND \(JobState.failed.condition) LIMIT $2) failed)
    FROM headway.error e WHERE \(condition)
    """
  }
}

@_spi(JobStore) extension StoreReader {
  func jobCounts(
    ofErrors ids: [JobErrorGroup.ID], upTo limit: Int
  ) throws -> [JobErrorGroup.ID: (retrying: Int, failed: Int)] {
    preferIndexes()
    let counts = StoreStatement(
      ErrorSQL.jobCounts(where: Search.isIn("e.id", "$1")), .integers(ids.map(\.rawValue)), .number(limit))
    let found = try rows(counts) { row in
      (JobErrorGroup.ID(rawValue: row.int64(0)), (retrying: row.int(1), failed: row.int(2)))
    }
    return Dictionary(found, uniquingKeysWith: { first, _ in first })
  }

  /// Returns error groups, in any order.
  ///
  /// - Parameter id: The only group to return; nil for all.
  /// - Throws: The error of the database.
  /// - Returns: The groups, with the counts of the hours until now.
  public func errorGroups(_ id: JobErrorGroup.ID?) throws -> [JobErrorGroup] {
    func statement(_ sql: String, _ column: String) -> StoreStatement {
      id.map { StoreStatement("\(sql) WHERE \(column) = $1", .integer($0.rawValue)) } ?? StoreStatement(sql)
    }
    var groups: [JobErrorGroup.ID: JobErrorGroup] = [:]
    try forEachRow(statement(ErrorSQL.groups, "id")) { row in
      let id = JobErrorGroup.ID(rawValue: row.int64(0))
      groups[id] = JobErrorGroup(
        id: id, kind: row.kind(1), type: row.text(2), text: row.text(3), firstSeenTime: row.time(4),
        lastSeenTime: row.time(4), lastJob: JobID(rawValue: 0), count: 0,
        mute: row.optional(5) {
          JobErrorGroup.Mute(note: row.text($0), author: row.optional(6, row.text), time: row.time(7))
        })
    }
    let last = JobErrorGroup.hour(of: now)
    try forEachRow(statement(ErrorSQL.counts, "error")) { row in
      groups[JobErrorGroup.ID(rawValue: row.int64(0))]?.add(
        row.int(2), in: row.int64(1), lastAt: row.time(3), of: row.id(4), lastHour: last)
    }
    return Array(groups.values)
  }
}
