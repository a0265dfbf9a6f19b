#if PostgreSQL
import FoundationEssentials
@_spi(JobStore) import HeadwayJobs

/// The state of a store at one moment.
struct JobReader {
  let session: PostgresSession
  let schema: SchemaName
  let now: StoreTime

  func run(_ statement: Statement) throws -> QueryResult { try session.run(statement.translated(for: schema)) }

  private func run(_ sql: String) throws -> QueryResult { try run(Statement(sql, isFrequent: true)) }

  /// Makes the statements of this transaction read by index, even if the statistics of the server are old.
  ///
  /// A bitmap contains all rows of an index that meet a condition, even if the statement needs only the first ones.
  func avoidTableScans() {
    session.runLater(
      Statement("SELECT set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true)"))
  }

  // MARK: Jobs

  func jobs(_ filter: JobFilter, after id: JobID?, limit: Int) throws -> [JobRecord] {
    let selection = JobSelection(filter)
    let unfinished = try selection.jobs(areFinished: false, after: id, limit: limit, locks: false, run)
    let finished = try selection.jobs(areFinished: true, after: id, limit: limit, locks: false, run)
    return Array((unfinished + finished).sorted { $0.id < $1.id }.prefix(limit))
  }

  func edges(of ids: [JobID]) throws -> [JobEdge] {
    var select = Statement(
      """
      SELECT \(JobRow.edge) FROM headway.edge WHERE dependency = ANY($1)
      UNION SELECT \(JobRow.edge) FROM headway.edge WHERE dependent = ANY($1) ORDER BY 1, 2
      """, isFrequent: true)
    select.add(array: ids.map(\.rawValue))
    return try run(select).rows.map { try JobRow.readEdge($0) }
  }

  func waitingQueues(after name: String?, limit: Int) throws -> [String] {
    avoidTableScans()
    return try run(Statement(ClaimSQL.queueNames, isFrequent: true, name ?? "", limit)).rows.map { $0.text(0) }
  }

  func checkpoint(_ name: String, of id: JobID) throws -> JobPayload? {
    guard !name.utf8.contains(0) else { return nil }
    let select = Statement(
      "SELECT value FROM headway.checkpoint WHERE job = $1 AND name = $2", isFrequent: true, id.rawValue, name)
    return try run(select).first.map { JobPayload(bytes: $0.bytes(0)) }
  }

  func schedules() throws -> [ScheduleRecord] {
    try run("SELECT \(ScheduleRow.columns) FROM headway.schedule").rows.map { try ScheduleRow.read($0) }
      .sorted { $0.name < $1.name }
  }

  // MARK: Snapshots

  func snapshot(_ parts: JobsSnapshot.Parts) throws -> JobsSnapshot {
    JobsSnapshot(
      time: now, counts: try counts(includesJobs: parts.contains(.counts)),
      waiting: parts.contains(.waiting) ? try waitingJobs() : [:],
      workers: parts.contains(.workers) ? try workers() : [],
      failures: parts.contains(.failures) ? try failures() : [])
  }

  /// Returns the number of jobs of each queue in each state, and the settings of queues.
  func counts(includesJobs: Bool) throws -> [String: JobQueueCounts] {
    let queues = try run(LimitSQL.queues).rows.map { QueueRow.read($0) }
    var counts = Dictionary(uniqueKeysWithValues: queues.map { ($0.name, JobQueueCounts($0.queue)) })
    guard includesJobs else { return counts }
    let rows = try run(
      """
      SELECT queue, state, count(*) FROM headway.job GROUP BY queue, state
      UNION ALL SELECT queue, state, count(*) FROM headway.done GROUP BY queue, state
      """)
    for row in rows.rows {
      guard let state = JobState(rawValue: row.int(1)) else { continue }
      counts[row.text(0), default: JobQueueCounts()].byState[state, default: 0] += row.int(2)
    }
    return counts
  }

  /// Returns the waiting jobs by queue, kind and version, with the first job of each group.
  private func waitingJobs() throws -> [String: [WaitingJobs]] {
    let rows = try run(
      """
      SELECT \(JobSQL.list(JobSQL.columns(of: "j"))), n.number FROM (
        SELECT queue, kind, version, count(*) AS number, min(position) AS position FROM headway.job WHERE state = 2
        GROUP BY queue, kind, version) n
      JOIN headway.job j ON j.state = 2 AND j.queue = n.queue AND j.kind = n.kind AND j.version = n.version
      AND j.position = n.position
      """)
    var waiting: [String: [WaitingJobs]] = [:]
    for row in rows.rows {
      let first = JobRow.read(row)
      waiting[first.queue, default: []].append(
        WaitingJobs(
          kind: first.kind, version: first.version, count: row.int(JobSQL.columnCount), first: first.id,
          since: first.waitingSince))
    }
    return waiting
  }

  func workers() throws -> [JobWorkerSnapshot] {
    var running: [WorkerID: [RunningJob]] = [:]
    let jobs = try run(
      "SELECT owner, id, kind, queue, attempt, claimed, progress, progress_text FROM headway.job WHERE state = 3")
    for row in jobs.rows {
      let progress = row.isNull(6) ? nil : JobProgress(fraction: row.double(6), text: row.optional(7, row.text))
      running[WorkerID(rawValue: row.int64(0)), default: []].append(
        RunningJob(
          id: row.id(1), kind: JobKind(rawValue: row.text(2)), queue: row.text(3), attempt: row.int(4),
          claimed: row.time(5), progress: progress))
    }
    let workers = try run("SELECT id, started, lease > clock_timestamp(), stopped, info FROM headway.worker")
    return try workers.rows.map { row in
      let id = WorkerID(rawValue: row.int64(0))
      return JobWorkerSnapshot(
        id: id, description: try JSONDecoder().decode(WorkerDescription.self, from: Data(row.bytes(4))),
        started: row.time(1), isAlive: row.bool(2), isStopped: row.bool(3), running: running[id] ?? [])
    }
  }

  private func failures() throws -> [FailedJobs] {
    try run(
      """
      SELECT DISTINCT ON (kind) kind, count(*) OVER (PARTITION BY kind), id, finished FROM headway.done WHERE state = 5
      ORDER BY kind, finished DESC, id DESC
      """
    ).rows.map {
      FailedJobs(kind: JobKind(rawValue: $0.text(0)), count: $0.int(1), last: $0.id(2), time: $0.time(3))
    }
  }
}
#endif
