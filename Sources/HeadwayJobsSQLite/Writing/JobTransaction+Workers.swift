#if Jobs
import GRDB
import HeadwayJobs

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

  /// Deletes a worker, and returns its jobs to their queues.
  ///
  /// - Parameters:
  ///   - worker: The worker.
  ///   - isDead: Whether the worker has died. This counts as a crash unless the worker had already stopped.
  /// - Throws: GRDB's `DatabaseError`.
  /// - Returns: The jobs; none if the worker was already deleted.
  func remove(_ worker: WorkerID, isDead: Bool) throws -> [JobID] {
    let deletion = try statement("DELETE FROM headway_worker WHERE id = ?1 RETURNING stopped")
    deletion.bind(worker.rawValue, at: 1)
    var isStopped: Bool?
    try deletion.forEachRow { isStopped = $0.int(0) != 0 }
    guard let isStopped else { return [] }
    let left = try running(by: worker)
    for var job in left {
      JobTransitions.rescue(&job, isCrash: isDead && !isStopped, at: now)
      try put(job)
    }
    return left.map(\.id)
  }

  /// Gives back the jobs of a worker that the worker does not know of.
  func releaseAll(of worker: WorkerID, except known: Set<JobFence>) throws {
    for job in try running(by: worker) {
      if let fence = job.fence, !known.contains(fence) { _ = try end(JobEnding(fence, .release)) }
    }
  }

  private func running(by worker: WorkerID) throws -> [JobRecord] {
    let rows = try statement(
      "SELECT \(JobRow.unfinishedColumns) FROM headway_job WHERE state = 3 AND owner = ?1 ORDER BY id")
    rows.bind(worker.rawValue, at: 1)
    var running: [JobRecord] = []
    try rows.forEachRow { running.append(JobRow.read($0)) }
    return running
  }

  // MARK: Time

  /// Adds the jobs of due ticks, cancels jobs that have missed their deadline, makes due jobs wait for a worker, and
  /// continues to cancel the dependents of failed jobs.
  ///
  /// - Returns: Whether there might be more to do.
  func advance() throws -> Bool {
    try advanceSchedules()
    try continueAllCascades()
    let limit = JobCommand.maxChangedCount
    let late = try jobs(
      """
      SELECT \(JobRow.unfinishedColumns) FROM headway_job
      WHERE deadline <= ?1 AND deadline NOT NULL AND state < 3 ORDER BY deadline, id LIMIT \(limit)
      """)
    for var job in late {
      JobTransitions.expire(&job, at: now)
      try put(job)
    }
    let due = try jobs(
      """
      SELECT \(JobRow.unfinishedColumns) FROM headway_job WHERE state = 1 AND due <= ?1 ORDER BY due, id LIMIT \(limit)
      """)
    for var job in due {
      JobTransitions.becomeWaiting(&job, at: now)
      try place(&job)
      try put(job)
    }
    try settleAll()
    return try late.count == limit || due.count == limit || !cascades().isEmpty
  }

  private func jobs(_ sql: String) throws -> [JobRecord] {
    let rows = try statement(sql)
    rows.bind(now.microseconds, at: 1)
    var jobs: [JobRecord] = []
    try rows.forEachRow { jobs.append(JobRow.read($0)) }
    return jobs
  }
}
#endif
