#if PostgreSQL
@_spi(JobStore) import HeadwayJobs

extension JobTransaction {
  // MARK: Workers

  /// Returns whether a worker can claim jobs.
  ///
  /// The caller holds the lock of the store, and a rescue holds it exclusively. Therefore, the worker is not removed
  /// before the end of this transaction.
  func isAlive(_ worker: WorkerID) throws -> Bool { try !run(WorkerSQL.isAlive, worker.rawValue).isEmpty }

  /// Returns jobs of a worker that has stopped to their queues, and deletes the worker if it has no other jobs.
  ///
  /// - Returns: The jobs, up to a limit; none if the worker was already deleted.
  func remove(_ worker: WorkerID, limit: Int) throws -> [JobID] {
    guard try !run(WorkerSQL.lock, worker.rawValue).isEmpty else { return [] }
    let left = try rescue(runningJobs(of: worker, limit: limit), isCrash: false)
    // If its process ends before the other jobs have been returned, the end does not count as a crash.
    runLater(WorkerSQL.stop, worker.rawValue)
    try run(WorkerSQL.deleteIdle, for: [worker]) { $1.add($0.rawValue) }
    return left
  }

  /// Returns jobs of workers whose lease has expired to their queues, up to a limit.
  ///
  /// A crash is counted for a job unless its worker had already stopped. A worker remains until all of its jobs are
  /// rescued.
  func rescue(limit: Int) throws -> [JobID] {
    let dead = try rows(WorkerSQL.lockDead, { $0.add(limit) }) { (worker: $0.worker(0), isStopped: $0.bool(1)) }
    let stopped = Set(dead.lazy.filter(\.isStopped).map(\.worker))
    let jobs = try rows(
      WorkerSQL.jobsOfDead, for: dead, { $1.add($0.worker.rawValue) }, constants: { $0.add(limit) }
    ) { JobRow.read($0) }
    func isStopped(_ job: JobRecord) -> Bool { job.owner.map(stopped.contains) ?? false }
    _ = try rescue(jobs.filter { !isStopped($0) }, isCrash: true)
    _ = try rescue(jobs.filter(isStopped), isCrash: false)
    try run(WorkerSQL.deleteIdle, for: dead) { $1.add($0.worker.rawValue) }
    return jobs.map(\.id)
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
    try continueCascades()
    let (hasMoreLate, hasMoreDue) = (try expireLateJobs(limit: limit), try startDueJobs(limit: limit))
    return try hasMoreTicks || hasMoreLate || hasMoreDue || !cascades().isEmpty
  }
}
#endif
