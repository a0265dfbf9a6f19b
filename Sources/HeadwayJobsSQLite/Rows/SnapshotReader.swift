#if Jobs
import FoundationEssentials
import GRDB
@_spi(JobStore) import HeadwayJobs

/// Reads the parts of a snapshot, all in one transaction.
struct SnapshotReader {
  private let database: Database

  init(_ database: Database) { self.database = database }

  func snapshot(
    _ parts: JobsSnapshot.Parts, at now: StoreTime, isAlive: (WorkerID) -> Bool
  ) throws -> JobsSnapshot {
    JobsSnapshot(
      time: now, counts: try counts(includesJobs: parts.contains(.counts)),
      waiting: parts.contains(.waiting) ? try waitingJobs() : [:],
      workers: parts.contains(.workers) ? try workers(isAlive: isAlive) : [],
      failures: parts.contains(.failures) ? try failures() : [])
  }

  /// Returns the number of jobs of each queue in each state, and the settings of queues.
  func counts(includesJobs: Bool) throws -> [String: JobQueueCounts] {
    var counts: [String: JobQueueCounts] = [:]
    for (name, queue) in try QueueRow.readAll(database) { counts[name] = JobQueueCounts(queue) }
    guard includesJobs else { return counts }
    let rows = try SQLStatement(
      """
      SELECT queue, state, count(*) FROM headway_job GROUP BY queue, state
      UNION ALL SELECT queue, state, count(*) FROM headway_done GROUP BY queue, state
      """, database)
    try rows.forEachRow { row in
      guard let state = JobState(rawValue: row.int(1)) else { return }
      counts[row.text(0), default: JobQueueCounts()].byState[state, default: 0] += row.int(2)
    }
    return counts
  }

  // MARK: Waiting jobs

  private struct Group: Hashable {
    let queue: String
    let kind: String
    let version: Int
  }

  /// Returns the waiting jobs by queue, kind and version, with the first job of each group.
  private func waitingJobs() throws -> [String: [WaitingJobs]] {
    var groups: [Group: (count: Int, first: Int64, position: Int64)] = [:]
    // Two queries, because each condition has its own index.
    for condition in ["crashes = 0", "crashes > 0"] {
      let rows = try SQLStatement(
        """
        SELECT queue, kind, version, count(*), id, min(position) FROM headway_job WHERE state = 2 AND \(condition)
        GROUP BY queue, kind, version
        """, database)
      try rows.forEachRow { row in
        let group = Group(queue: row.text(0), kind: row.text(1), version: row.int(2))
        var found = groups[group] ?? (0, row.int64(4), row.int64(5))
        found.count += row.int(3)
        if row.int64(5) < found.position { (found.first, found.position) = (row.int64(4), row.int64(5)) }
        groups[group] = found
      }
    }
    var waiting: [String: [WaitingJobs]] = [:]
    for (group, found) in groups {
      guard let first = try job(found.first) else { continue }
      waiting[group.queue, default: []].append(
        WaitingJobs(
          kind: first.kind, version: group.version, count: found.count, first: first.id, since: first.waitingSince))
    }
    return waiting
  }

  func job(_ id: Int64) throws -> JobRecord? {
    let row = try SQLStatement("SELECT \(JobSQL.unfinishedColumns) FROM headway_job WHERE id = ?1", database)
    defer { row.reset() }
    row.bind(id, at: 1)
    return try row.step() ? JobRow.read(row) : nil
  }

  // MARK: Workers

  func workers(isAlive: (WorkerID) -> Bool) throws -> [JobWorkerSnapshot] {
    var running: [WorkerID: [RunningJob]] = [:]
    let jobs = try SQLStatement(
      """
      SELECT owner, id, kind, queue, attempt, claimed, progress, progress_text FROM headway_job WHERE state = 3
      """, database)
    try jobs.forEachRow { row in
      let progress =
        row.isNull(6) ? nil : JobProgress(fraction: row.double(6), text: row.isNull(7) ? nil : row.text(7))
      running[WorkerID(rawValue: row.int64(0)), default: []].append(
        RunningJob(
          id: JobID(rawValue: row.int64(1)), kind: JobKind(rawValue: row.text(2)), queue: row.text(3),
          attempt: row.int(4), claimed: StoreTime(microseconds: row.int64(5)), progress: progress))
    }
    var workers: [JobWorkerSnapshot] = []
    try SQLStatement("SELECT id, started, stopped, info FROM headway_worker", database).forEachRow { row in
      let id = WorkerID(rawValue: row.int64(0))
      workers.append(
        JobWorkerSnapshot(
          id: id, description: try JSONDecoder().decode(WorkerDescription.self, from: Data(row.bytes(3))),
          started: StoreTime(microseconds: row.int64(1)), isAlive: isAlive(id), isStopped: row.int(2) != 0,
          running: running[id] ?? []))
    }
    return workers
  }

  // MARK: Failures

  private func failures() throws -> [FailedJobs] {
    var failures: [JobKind: FailedJobs] = [:]
    try SQLStatement("SELECT kind, id, finished FROM headway_done WHERE state = 5", database).forEachRow { row in
      let (kind, id) = (JobKind(rawValue: row.text(0)), JobID(rawValue: row.int64(1)))
      let time = StoreTime(microseconds: row.int64(2))
      var found = failures[kind] ?? FailedJobs(kind: kind, count: 0, last: id, time: time)
      found.count += 1
      if (found.time, found.last) < (time, id) { (found.time, found.last) = (time, id) }
      failures[kind] = found
    }
    return Array(failures.values)
  }
}
#endif
