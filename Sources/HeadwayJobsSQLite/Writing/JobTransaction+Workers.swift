#if Jobs
import GRDB
@_spi(JobStore) import HeadwayJobs

extension JobTransaction {
  // MARK: Workers

  func insert(_ worker: WorkerID, _ description: [UInt8]) throws {
    try run(WorkerSQL.insert) { values in
      values.add(worker.rawValue)
      values.add(now)
      values.add(description)
    }
  }

  func workers() throws -> Set<WorkerID> { Set(try rows(WorkerSQL.all, { _ in }) { $0.worker(0) }) }

  /// Returns whether a worker has stopped; nil if it is not registered.
  func isStopped(_ worker: WorkerID) throws -> Bool? {
    try rows(WorkerSQL.find, { $0.add(worker.rawValue) }) { $0.bool(0) }.first
  }

  /// Notes that the worker has stopped, so that the end of its process is not a crash.
  func noteStopped(_ worker: WorkerID) throws { try run(WorkerSQL.stop) { $0.add(worker.rawValue) } }

  /// Returns jobs of a worker to their queues and deletes the worker if it has no other jobs.
  ///
  /// - Parameters:
  ///   - worker: The worker to remove.
  ///   - isDead: Whether the worker has died. This counts as a crash unless the worker had already stopped.
  ///   - limit: The maximum number of jobs.
  /// - Throws: GRDB's `DatabaseError`.
  /// - Returns: The jobs; none if the worker was already deleted.
  func remove(_ worker: WorkerID, isDead: Bool, limit: Int) throws -> [JobID] {
    guard let isStopped = try isStopped(worker) else { return [] }
    let left = try rescue(runningJobs(of: worker, limit: limit), isCrash: isDead && !isStopped)
    if left.count < limit {
      try run(WorkerSQL.delete) { $0.add(worker.rawValue) }
    } else if !isDead {
      // If its process ends before the other jobs have been returned, the end does not count as a crash.
      try noteStopped(worker)
    }
    return left
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

    /// The statement that finds out whether there is something to do.
    private var search: String {
      switch self {
      case .ticks: WorkerSQL.hasDueTicks
      case .cascades: WorkerSQL.hasCascades
      case .late: WorkerSQL.hasLateJobs
      case .due: WorkerSQL.hasDueJobs
      }
    }

    func isNecessary(_ database: Database, _ now: StoreTime) throws -> Bool {
      let find = try SQLStatement(search, database)
      defer { find.reset() }
      find.bind(now.microseconds, at: 1)
      return try find.step()
    }
  }

  /// Executes one step of advancing the store.
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
}
#endif
