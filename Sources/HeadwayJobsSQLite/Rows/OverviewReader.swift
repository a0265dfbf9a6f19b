#if Jobs
import GRDB
@_spi(JobStore) import HeadwayJobs

/// Reads an overview by indexes, all in one transaction, and counts only up to a limit.
struct OverviewReader {
  private let database: Database
  private let limit: Int

  init(_ database: Database, limit: Int) { (self.database, self.limit) = (database, limit) }

  func overview(at now: StoreTime, workers: () throws -> [JobWorkerSnapshot]) throws -> JobsOverview {
    let waiting = try waitingJobs()
    var counts = try counts()
    for (queue, jobs) in waiting {
      counts[queue, default: JobQueueCounts()].byState[.waiting] = jobs.reduce(0) { $0 + $1.count }
    }
    let snapshot = JobsSnapshot(
      time: now, counts: counts, waiting: waiting, workers: try workers(), failures: try failures())
    var overview = JobsOverview(
      countLimit: limit, snapshot: snapshot, failedCount: try count(of: .failed),
      cancelledCount: try count(of: .cancelled), endings: try endings(at: now))
    overview.noteFailures(try latestFailures())
    return overview
  }

  private func statement(_ sql: String) throws -> SQLStatement { try SQLStatement(sql, database) }

  // MARK: Counts

  /// Returns the numbers of jobs, except waiting ones.
  private func counts() throws -> [String: JobQueueCounts] {
    var counts: [String: JobQueueCounts] = [:]
    for (name, queue) in try QueueRow.readAll(database) { counts[name] = JobQueueCounts(queue) }
    for (state, condition) in JobSearch.parts where ![.running, .waiting].contains(state) {
      for queue in try queues(where: condition) {
        let number = try count(in: queue, where: condition)
        counts[queue, default: JobQueueCounts()].byState[state, default: 0] += number
      }
    }
    // There are few running jobs: those in the slots of workers, and those claimed ahead.
    let running = try statement("SELECT queue, count(*) FROM headway_job WHERE state = 3 GROUP BY queue")
    try running.forEachRow { counts[$0.text(0), default: JobQueueCounts()].byState[.running] = $0.int(1) }
    return counts
  }

  /// Returns the queues in an index, and skips their jobs.
  private func queues(where condition: String) throws -> [String] {
    let next = try statement(
      "SELECT queue FROM headway_job WHERE \(condition) AND queue > ?1 ORDER BY queue LIMIT 1")
    let first = try statement("SELECT queue FROM headway_job WHERE \(condition) ORDER BY queue LIMIT 1")
    var queues: [String] = []
    func read(_ row: SQLStatement) throws -> Bool {
      defer { row.reset() }
      guard try row.step() else { return false }
      queues.append(row.text(0))
      return true
    }
    guard try read(first) else { return [] }
    repeat { next.bind(queues.last, at: 1) } while try read(next)
    return queues
  }

  private func count(in queue: String, where condition: String) throws -> Int {
    let rows = try statement(
      "SELECT count(*) FROM (SELECT 1 FROM headway_job WHERE \(condition) AND queue = ?1 LIMIT ?2)")
    defer { rows.reset() }
    rows.bind(queue, at: 1)
    rows.bind(limit + 1, at: 2)
    return try rows.step() ? rows.int(0) : 0
  }

  private func count(of state: JobState) throws -> Int {
    let rows = try statement(
      """
      SELECT count(*) FROM (SELECT 1 FROM headway_done WHERE state > 4 AND state = \(state.rawValue) LIMIT ?1)
      """)
    defer { rows.reset() }
    rows.bind(limit + 1, at: 1)
    return try rows.step() ? rows.int(0) : 0
  }

  // MARK: Waiting jobs

  private typealias Group = WaitingGroups.Group

  /// Returns the waiting jobs by queue, kind and version.
  private func waitingJobs() throws -> [String: [WaitingJobs]] {
    var waiting = WaitingGroups()
    for (state, condition) in JobSearch.parts where state == .waiting {
      for group in try groups(where: condition) { try add(group, where: condition, to: &waiting) }
    }
    let reader = SnapshotReader(database)
    return try waiting.waitingJobs { try $0.compactMap { try reader.job($0.rawValue) } }
  }

  /// Returns the queues, kinds and versions in an index, and skips their jobs.
  private func groups(where condition: String) throws -> [Group] {
    // Two statements, because SQLite would read all jobs of the last group for a comparison of rows.
    let selection = "SELECT kind, version FROM headway_job WHERE \(condition) AND queue = ?1"
    let nextKind = try statement("\(selection) AND kind > ?2 ORDER BY kind, version LIMIT 1")
    let nextVersion = try statement("\(selection) AND kind = ?2 AND version > ?3 ORDER BY version LIMIT 1")
    var groups: [Group] = []
    func read(_ row: SQLStatement, in queue: String) throws -> Bool {
      defer { row.reset() }
      guard try row.step() else { return false }
      groups.append(Group(queue: queue, kind: row.text(0), version: row.int(1)))
      return true
    }
    for queue in try queues(where: condition) {
      var isFound = true
      var last = Group(queue: queue, kind: "", version: .min)
      while isFound {
        for row in [nextVersion, nextKind] {
          row.bind(queue, at: 1)
          row.bind(last.kind, at: 2)
        }
        nextVersion.bind(last.version, at: 3)
        isFound = try read(nextVersion, in: queue) || read(nextKind, in: queue)
        if isFound, let found = groups.last { last = found }
      }
    }
    return groups
  }

  /// Counts the jobs of a group in an index, and finds the one that became ready first.
  private func add(_ group: Group, where condition: String, to waiting: inout WaitingGroups) throws {
    func bind(_ rows: SQLStatement) {
      rows.bind(group.queue, at: 1)
      rows.bind(group.kind, at: 2)
      rows.bind(group.version, at: 3)
    }
    let isMember = "\(condition) AND queue = ?1 AND kind = ?2 AND version = ?3"
    let rows = try statement("SELECT count(*) FROM (SELECT 1 FROM headway_job WHERE \(isMember) LIMIT ?4)")
    bind(rows)
    rows.bind(limit + 1, at: 4)
    try rows.forEachRow { waiting.add($0.int(0), to: group) }
    // A priority begins with its oldest job, unless the index has keys before the positions.
    let first = try statement(
      """
      SELECT id, min(position), priority FROM (SELECT id, position, priority FROM headway_job
      WHERE \(isMember) AND priority = (SELECT max(priority) FROM headway_job WHERE \(isMember) AND priority < ?4)
      \(condition.hasSuffix("limit_key IS NULL") ? "ORDER BY position LIMIT 1" : "LIMIT \(limit + 1)"))
      """)
    var priority = Int.max
    while true {
      bind(first)
      first.bind(priority, at: 4)
      defer { first.reset() }
      guard try first.step(), !first.isNull(0) else { return }
      waiting.note(JobID(rawValue: first.int64(0)), at: first.int64(1), in: group)
      priority = first.int(2)
    }
  }

  // MARK: Finished jobs

  private func failures() throws -> [FailedJobs] {
    var failures: [FailedJobs] = []
    let rows = try statement(
      """
      SELECT kind, count(*), id, max(finished) FROM
      (SELECT kind, id, finished FROM headway_done WHERE state > 4 AND state = 5 ORDER BY id DESC LIMIT ?1)
      GROUP BY kind
      """)
    rows.bind(limit + 1, at: 1)
    try rows.forEachRow { row in
      failures.append(
        FailedJobs(
          kind: JobKind(rawValue: row.text(0)), count: row.int(1), last: JobID(rawValue: row.int64(2)),
          time: StoreTime(microseconds: row.int64(3))))
    }
    return failures
  }

  /// Returns the jobs that failed last, among the failed jobs with the highest numbers.
  private func latestFailures() throws -> [(id: JobID, finished: StoreTime)] {
    var failures: [(id: JobID, finished: StoreTime)] = []
    let rows = try statement(
      """
      SELECT id, finished FROM
      (SELECT id, finished FROM headway_done WHERE state > 4 AND state = 5 ORDER BY id DESC LIMIT ?1)
      ORDER BY finished DESC, id DESC LIMIT ?2
      """)
    rows.bind(limit + 1, at: 1)
    rows.bind(JobsOverview.maxLatestFailureCount, at: 2)
    try rows.forEachRow { failures.append((JobID(rawValue: $0.int64(0)), StoreTime(microseconds: $0.int64(1)))) }
    return failures
  }

  private func endings(at now: StoreTime) throws -> [EndedJob] {
    var endings: [EndedJob] = []
    let rows = try statement(
      """
      SELECT id, queue, kind, state, ready, claimed, finished FROM headway_done WHERE finished > ?1
      ORDER BY finished DESC, id DESC LIMIT ?2
      """)
    rows.bind((now + (.zero - JobsOverview.endingsInterval)).microseconds, at: 1)
    rows.bind(limit, at: 2)
    try rows.forEachRow { row in
      guard let state = JobState(rawValue: row.int(3)) else { return }
      endings.append(
        EndedJob(
          id: JobID(rawValue: row.int64(0)), kind: JobKind(rawValue: row.text(2)), queue: row.text(1), state: state,
          ready: StoreTime(microseconds: row.int64(4)),
          claimed: row.isNull(5) ? nil : StoreTime(microseconds: row.int64(5)),
          finished: StoreTime(microseconds: row.int64(6))))
    }
    return endings
  }
}
#endif
