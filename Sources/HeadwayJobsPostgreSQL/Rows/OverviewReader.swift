#if PostgreSQL
@_spi(JobStore) import HeadwayJobs

/// Reads an overview by indexes, all in one transaction, and counts only up to a limit.
struct OverviewReader {
  private let reader: JobReader
  private let limit: Int

  init(_ reader: JobReader, limit: Int) { (self.reader, self.limit) = (reader, limit) }

  func overview() throws -> JobsOverview {
    reader.avoidTableScans()
    let counts = try counts()
    let waitingCount = counts.values.reduce(0) { $0 + $1[.waiting] }
    let snapshot = JobsSnapshot(
      time: reader.now, counts: counts, waiting: try waitingJobs(among: waitingCount), workers: try reader.workers(),
      failures: try failures())
    var overview = JobsOverview(
      countLimit: limit, snapshot: snapshot, failedCount: try count(of: .failed),
      cancelledCount: try count(of: .cancelled), endings: try endings())
    overview.noteFailures(try latestFailures())
    return overview
  }

  private func run(_ sql: String, _ values: any BinaryValue...) throws -> [ResultRow] {
    var statement = Statement(sql)
    for value in values { statement.add(any: value) }
    return try reader.run(statement).rows
  }

  // MARK: Counts

  /// Returns the numbers of unfinished jobs.
  ///
  /// The indexes contain the queues, so the server reads few rows of the table.
  private func counts() throws -> [String: JobQueueCounts] {
    var counts = try reader.counts(includesJobs: false)
    // There are few running jobs: those in the slots of workers, and those claimed ahead.
    for row in try run("SELECT queue, count(*) FROM headway.job WHERE state = 3 GROUP BY queue") {
      counts[row.text(0), default: JobQueueCounts()].byState[.running] = row.int(1)
    }
    for part in JobPart.all where part.state != .running {
      // Each step of the recursion finds the next queue in the index, and skips the jobs of the last one.
      let rows = try run(
        """
        WITH RECURSIVE q AS (
          (SELECT queue FROM headway.job WHERE \(part.condition) ORDER BY queue LIMIT 1)
          UNION ALL
          SELECT n.queue FROM q CROSS JOIN LATERAL (SELECT queue FROM headway.job
          WHERE \(part.condition) AND queue > q.queue ORDER BY queue LIMIT 1) n)
        SELECT queue, (SELECT count(*) FROM (SELECT FROM headway.job j
        WHERE \(part.condition) AND j.queue = q.queue LIMIT $1) counted) FROM q
        """, limit + 1)
      for row in rows { counts[row.text(0), default: JobQueueCounts()].byState[part.state, default: 0] += row.int(1) }
    }
    return counts
  }

  private func count(of state: JobState) throws -> Int {
    try run(
      """
      SELECT count(*) FROM (SELECT FROM headway.done WHERE state > 4 AND state = \(state.rawValue) LIMIT $1) counted
      """, limit + 1
    ).first?.int(0) ?? 0
  }

  // MARK: Waiting jobs

  /// Returns the waiting jobs by queue, kind and version.
  ///
  /// The indexes do not contain the kinds, so rows are read. If there are more than the limit, about as many are read:
  /// the first jobs of each priority of a queue, in equal shares. Jobs whose kind no worker supports are among these,
  /// because they remain in the queue.
  private func waitingJobs(among count: Int) throws -> [String: [WaitingJobs]] {
    var groups = WaitingGroups()
    for part in JobPart.all where part.state == .waiting {
      for row in try waitingJobs(part, limit: count > limit ? limit : .max) {
        let group = WaitingGroups.Group(queue: row.text(0), kind: row.text(1), version: row.int(2))
        groups.add(row.int(3), to: group)
        groups.note(row.id(5), at: row.int64(4), in: group)
      }
    }
    return try groups.waitingJobs { try reader.jobs(JobFilter(ids: $0), after: nil, limit: .max) }
  }

  private func waitingJobs(_ part: JobPart, limit: Int) throws -> [ResultRow] {
    // Each step of the recursion finds the next priority of the queue, or else the next queue.
    try run(
      """
      WITH RECURSIVE q AS (
        (SELECT queue, priority FROM headway.job WHERE \(part.condition) ORDER BY queue, priority DESC LIMIT 1)
        UNION ALL
        SELECT n.queue, n.priority FROM q CROSS JOIN LATERAL (
          (SELECT queue, priority FROM headway.job WHERE \(part.condition) AND queue = q.queue
          AND priority < q.priority ORDER BY priority DESC LIMIT 1)
          UNION ALL (SELECT queue, priority FROM headway.job WHERE \(part.condition) AND queue > q.queue
          ORDER BY queue, priority DESC LIMIT 1) LIMIT 1) n)
      SELECT q.queue, w.kind, w.version, w.number, w.position, w.id FROM q CROSS JOIN LATERAL (
        SELECT kind, version, count(*) AS number, min(position) AS position,
        (array_agg(id ORDER BY position))[1] AS id FROM (
          SELECT id, kind, version, position FROM headway.job j
          WHERE \(part.condition) AND j.queue = q.queue AND j.priority = q.priority
          ORDER BY \(part.order) LIMIT (SELECT greatest($1 / count(*), 1) FROM q)) counted
        GROUP BY kind, version) w
      """, limit)
  }

  // MARK: Finished jobs

  private func failures() throws -> [FailedJobs] {
    try run(
      """
      SELECT DISTINCT ON (kind) kind, count(*) OVER (PARTITION BY kind), id, finished FROM (
        SELECT kind, id, finished FROM headway.done WHERE state > 4 AND state = 5 ORDER BY id DESC LIMIT $1) counted
      ORDER BY kind, finished DESC, id DESC
      """, limit + 1
    ).map {
      FailedJobs(kind: JobKind(rawValue: $0.text(0)), count: $0.int(1), last: $0.id(2), time: $0.time(3))
    }
  }

  /// Returns the jobs that failed last, among the failed jobs with the highest numbers.
  private func latestFailures() throws -> [(id: JobID, finished: StoreTime)] {
    try run(
      """
      SELECT id, finished FROM (
        SELECT id, finished FROM headway.done WHERE state > 4 AND state = 5 ORDER BY id DESC LIMIT $1) counted
      ORDER BY finished DESC, id DESC LIMIT $2
      """, limit + 1, JobsOverview.maxLatestFailureCount
    ).map { ($0.id(0), $0.time(1)) }
  }

  private func endings() throws -> [EndedJob] {
    try run(
      """
      SELECT id, queue, kind, state, ready, claimed, finished FROM headway.done WHERE finished > $1
      ORDER BY finished DESC, id DESC LIMIT $2
      """, reader.now + (.zero - JobsOverview.endingsInterval), limit
    ).compactMap { row in
      guard let state = JobState(rawValue: row.int(3)) else { return nil }
      return EndedJob(
        id: row.id(0), kind: JobKind(rawValue: row.text(2)), queue: row.text(1), state: state, ready: row.time(4),
        claimed: row.optional(5, row.time), finished: row.time(6))
    }
  }
}
#endif
