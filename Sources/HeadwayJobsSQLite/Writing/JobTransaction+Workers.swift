#if Jobs
import GRDB
@_spi(JobStore) import HeadwayJobs

extension JobTransaction {
  // MARK: Workers

  func insert(_ worker: WorkerID, _ description: [UInt8]) throws {
    let statement = try statement("INSERT INTO headway_worker (id, started, info) VALUES (?1, ?2, ?3)")
    statement.bind(worker.rawValue, at: 1)
    statement.bind(now.microseconds, at: 2)
    statement.bind(description, at: 3)
    try statement.run()
  }

  func workers() throws -> Set<WorkerID> {
    var workers: Set<WorkerID> = []
    try statement("SELECT id FROM headway_worker").forEachRow { workers.insert(WorkerID(rawValue: $0.int64(0))) }
    return workers
  }

  func isRegistered(_ worker: WorkerID) throws -> Bool {
    let statement = try statement("SELECT 1 FROM headway_worker WHERE id = ?1")
    defer { statement.reset() }
    statement.bind(worker.rawValue, at: 1)
    return try statement.step()
  }

  /// Notes that the worker has stopped, so that the end of its process is not a crash.
  func noteStopped(_ worker: WorkerID) throws {
    let statement = try statement("UPDATE headway_worker SET stopped = 1 WHERE id = ?1")
    statement.bind(worker.rawValue, at: 1)
    try statement.run()
  }

  /// Returns jobs of a worker to their queues, and deletes the worker if it has no other jobs.
  ///
  /// - Parameters:
  ///   - worker: The worker.
  ///   - isDead: Whether the worker has died. This counts as a crash unless the worker had already stopped.
  ///   - limit: The maximum number of jobs.
  /// - Throws: GRDB's `DatabaseError`.
  /// - Returns: The jobs; none if the worker was already deleted.
  func remove(_ worker: WorkerID, isDead: Bool, limit: Int) throws -> [JobID] {
    let row = try statement("SELECT stopped FROM headway_worker WHERE id = ?1")
    row.bind(worker.rawValue, at: 1)
    var isStopped: Bool?
    try row.forEachRow { isStopped = $0.int(0) != 0 }
    guard let isStopped else { return [] }
    let left = try rescue(running(by: worker, limit: limit), isCrash: isDead && !isStopped)
    if left.count < limit {
      try delete(worker)
    } else if !isDead {
      // If its process ends before the other jobs have been returned, the end does not count as a crash.
      try noteStopped(worker)
    }
    return left
  }

  private func delete(_ worker: WorkerID) throws {
    let deletion = try statement("DELETE FROM headway_worker WHERE id = ?1")
    deletion.bind(worker.rawValue, at: 1)
    try deletion.run()
  }

  /// Returns jobs of dead workers to their queues, up to a limit.
  ///
  /// - Returns: The jobs, and the number of workers that were removed.
  func rescue(_ dead: [WorkerID], limit: Int) throws -> (jobs: [JobID], count: Int) {
    var jobs: [JobID] = []
    for (index, worker) in dead.enumerated() {
      let rest = limit - jobs.count
      jobs += try remove(worker, isDead: true, limit: rest)
      // The worker might have other jobs.
      if jobs.count == limit { return (jobs, index) }
    }
    return (jobs, dead.count)
  }

  func runningJobs(of worker: WorkerID) throws -> [JobRecord] { try running(by: worker, limit: .max) }

  private func running(by worker: WorkerID, limit: Int) throws -> [JobRecord] {
    let rows = try statement(
      "SELECT \(JobSQL.unfinishedColumns) FROM headway_job WHERE state = 3 AND owner = ?1 ORDER BY id LIMIT ?2")
    rows.bind(worker.rawValue, at: 1)
    rows.bind(limit, at: 2)
    var running: [JobRecord] = []
    try rows.forEachRow { running.append(JobRow.read($0)) }
    return running
  }

  // MARK: Time

  /// The parts of advancing a store, in order.
  ///
  /// Each part has its own transaction, so that no transaction is long.
  enum Advance: CaseIterable {
    /// Adds the jobs of due ticks.
    case ticks
    /// Continues to settle the dependents of jobs that have ended.
    case cascades
    /// Cancels jobs that have missed their deadline.
    case late
    /// Makes due jobs wait for a worker.
    case due

    /// The condition that there is something to do at the time `?1`.
    private var condition: String {
      switch self {
      case .ticks: "SELECT 1 FROM headway_schedule WHERE next <= ?1"
      case .cascades: "SELECT 1 FROM headway_cascade WHERE ?1 NOT NULL"
      case .late: "SELECT 1 FROM headway_job WHERE deadline <= ?1 AND deadline NOT NULL AND state < 3"
      case .due: "SELECT 1 FROM headway_job WHERE state = 1 AND due <= ?1"
      }
    }

    func isNecessary(_ database: Database, _ now: StoreTime) throws -> Bool {
      let find = try SQLStatement("\(condition) LIMIT 1", database)
      defer { find.reset() }
      find.bind(now.microseconds, at: 1)
      return try find.step()
    }
  }

  /// Executes a part of advancing the store.
  ///
  /// - Returns: Whether there might be more to do.
  func advance(_ part: Advance) throws -> Bool {
    let limit = JobCommand.maxChangedCount
    switch part {
    case .ticks: return try addDueJobs(limit: limit)
    case .cascades:
      try continueCascades()
      return false
    case .late: return try expireLateJobs(limit: limit)
    case .due: return try startDueJobs(limit: limit)
    }
  }

  func lateJobs(limit: Int) throws -> [JobRecord] {
    try jobs("deadline <= ?1 AND deadline NOT NULL AND state < 3 ORDER BY deadline, id LIMIT \(limit)")
  }

  func dueJobs(limit: Int) throws -> [JobRecord] {
    try jobs("state = 1 AND due <= ?1 ORDER BY due, id LIMIT \(limit)")
  }

  private func jobs(_ condition: String) throws -> [JobRecord] {
    let rows = try statement("SELECT \(JobSQL.unfinishedColumns) FROM headway_job WHERE \(condition)")
    rows.bind(now.microseconds, at: 1)
    var jobs: [JobRecord] = []
    try rows.forEachRow { jobs.append(JobRow.read($0)) }
    return jobs
  }
}
#endif
