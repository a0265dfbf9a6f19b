#if PostgreSQL
@_spi(JobStore) import HeadwayJobs

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
    let left = try rescue(running(by: worker, skipsLocked: isDead, limit: limit), isCrash: isDead && !isStopped)
    // If its process ends before the other jobs have been returned, the end does not count as a crash.
    if !isDead { runLater("UPDATE headway.worker SET stopped = true WHERE id = $1", worker.rawValue) }
    runLater(
      """
      DELETE FROM headway.worker WHERE id = $1 AND NOT EXISTS (SELECT FROM headway.job WHERE state = 3 AND owner = $1)
      """, worker.rawValue)
    return left
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

  func runningJobs(of worker: WorkerID) throws -> [JobRecord] { try running(by: worker) }

  private func running(
    by worker: WorkerID, skipsLocked: Bool = false, limit: Int = .max
  ) throws -> [JobRecord] {
    try run(
      """
      SELECT \(JobSQL.unfinishedColumns) FROM headway.job WHERE state = 3 AND owner = $1 ORDER BY id
      LIMIT $2 FOR UPDATE \(skipsLocked ? "SKIP LOCKED" : "")
      """, worker.rawValue, limit
    ).rows.map { JobRow.read($0) }
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
    let hasMoreTicks = try addDueJobs(limit: limit)
    newRows.numbers = []
    try continueCascades()
    let (hasMoreLate, hasMoreDue) = (try expireLateJobs(limit: limit), try startDueJobs(limit: limit))
    return try hasMoreTicks || hasMoreLate || hasMoreDue || !cascades().isEmpty
  }

  func lateJobs(limit: Int) throws -> [JobRecord] {
    try jobs("deadline <= $1 AND deadline IS NOT NULL AND state < 3 ORDER BY deadline, id LIMIT \(limit)")
  }

  func dueJobs(limit: Int) throws -> [JobRecord] {
    try jobs("state = 1 AND due <= $1 ORDER BY due, id LIMIT \(limit)")
  }

  private func jobs(_ condition: String) throws -> [JobRecord] {
    try run("SELECT \(JobSQL.unfinishedColumns) FROM headway.job WHERE \(condition) FOR UPDATE SKIP LOCKED", now)
      .rows.map { JobRow.read($0) }
  }
}
#endif
