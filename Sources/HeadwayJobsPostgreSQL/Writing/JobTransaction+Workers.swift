#if PostgreSQL
import HeadwayJobs

extension JobTransaction {
  // MARK: Workers

  /// Returns whether a worker can claim jobs.
  ///
  /// The caller holds the lock of the store, and a rescue holds it exclusively. Therefore, the worker is not removed
  /// before the end of this transaction.
  func isAlive(_ worker: WorkerID) throws -> Bool {
    try !run("SELECT FROM headway.worker WHERE id = $1 AND lease > clock_timestamp()", worker.rawValue).isEmpty
  }

  /// Returns jobs of a worker to their queues, and deletes the worker if it has no other jobs.
  ///
  /// - Parameters:
  ///   - worker: The worker.
  ///   - isDead: Whether the worker has died. This counts as a crash unless the worker had already stopped.
  ///   - limit: The maximum number of jobs.
  /// - Throws: `PostgresError`.
  /// - Returns: The jobs; none if the worker was already deleted.
  func remove(_ worker: WorkerID, isDead: Bool, limit: Int) throws -> [JobID] {
    let found = try run("SELECT stopped FROM headway.worker WHERE id = $1 FOR UPDATE", worker.rawValue)
    guard let isStopped = found.first?.bool(0) else { return [] }
    // A rescue must not wait for a transaction of the application that has locked a job. The worker remains until all
    // of its jobs are rescued.
    let left = try running(by: worker, skipsLocked: isDead, limit: limit)
    for var job in left {
      JobTransitions.rescue(&job, isCrash: isDead && !isStopped, at: now)
      try put(job)
    }
    // If its process ends before the other jobs have been returned, the end does not count as a crash.
    if !isDead { runLater("UPDATE headway.worker SET stopped = true WHERE id = $1", worker.rawValue) }
    runLater(
      """
      DELETE FROM headway.worker WHERE id = $1 AND NOT EXISTS (SELECT FROM headway.job WHERE state = 3 AND owner = $1)
      """, worker.rawValue)
    return left.map(\.id)
  }

  /// Returns jobs of workers whose lease has expired to their queues, up to a limit.
  func rescue(limit: Int) throws -> [JobID] {
    let dead = try run(
      "SELECT id FROM headway.worker WHERE lease <= clock_timestamp() ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED",
      limit)
    var rescued: [JobID] = []
    for row in dead.rows where rescued.count < limit {
      rescued += try remove(WorkerID(rawValue: row.int64(0)), isDead: true, limit: limit - rescued.count)
    }
    return rescued
  }

  /// Gives back the jobs of a worker that the worker does not know of.
  func releaseAll(of worker: WorkerID, except known: Set<JobFence>) throws {
    let unknown = try running(by: worker).compactMap(\.fence).filter { !known.contains($0) }
    _ = try end(unknown.map { JobEnding($0, .release) })
  }

  private func running(
    by worker: WorkerID, skipsLocked: Bool = false, limit: Int = .max
  ) throws -> [JobRecord] {
    try run(
      """
      SELECT \(JobRow.unfinishedColumns) FROM headway.job WHERE state = 3 AND owner = $1 ORDER BY id
      LIMIT $2 FOR UPDATE \(skipsLocked ? "SKIP LOCKED" : "")
      """, worker.rawValue, limit
    ).rows.map(JobRow.read)
  }

  // MARK: Time

  /// Adds the jobs of due ticks, cancels jobs that have missed their deadline, makes due jobs wait for a worker, and
  /// continues to cancel the dependents of failed jobs.
  ///
  /// It skips jobs that a transaction of the application has locked, instead of making all workers wait for it.
  ///
  /// - Returns: Whether there might be more to do.
  func advance() throws -> Bool {
    let limit = JobCommand.maxChangedCount
    let hasMoreTicks = try advanceSchedules(limit: limit)
    try continueAllCascades()
    let late = try jobs(
      "deadline <= $1 AND deadline IS NOT NULL AND state < 3 ORDER BY deadline, id LIMIT \(limit)")
    for var job in late {
      JobTransitions.expire(&job, at: now)
      try put(job)
    }
    try settleAll()
    let due = try jobs("state = 1 AND due <= $1 ORDER BY due, id LIMIT \(limit)")
    let positions = try nextPositions(due.count)
    for (var job, position) in zip(due, positions) {
      JobTransitions.becomeWaiting(&job, at: now)
      if !job.keepsPlace { (job.position, job.ready) = (position, now) }
      try put(job)
    }
    try settleAll()
    return try hasMoreTicks || late.count == limit || due.count == limit || !cascades().isEmpty
  }

  private func jobs(_ condition: String) throws -> [JobRecord] {
    try run("SELECT \(JobRow.unfinishedColumns) FROM headway.job WHERE \(condition) FOR UPDATE SKIP LOCKED", now)
      .rows.map(JobRow.read)
  }
}
#endif
