#if Jobs
import GRDB
@_spi(JobStore) import HeadwayJobs

extension JobTransaction {
  func claim(_ claim: JobClaim, by worker: WorkerID) throws -> [JobRecord] {
    let queue = try queues()[claim.queue] ?? JobQueueRecord()
    let count = try maxCount(of: claim, in: queue)
    guard count > 0 else { return [] }
    var jobs = ClaimableJobs(self, claim, worker, queue)
    defer { jobs.close() }
    try jobs.open()
    try ClaimSelection.run(&jobs, claim, count: count)
    return noteClaimed(try jobs.takeAll(), of: claim, in: queue)
  }

  /// Claims a waiting job for a worker.
  ///
  /// - Returns: The job; nil if it is damaged and has failed for this reason.
  func take(_ id: JobID, by worker: WorkerID) throws -> JobRecord? {
    guard var job = try findUnfinished([id]).first else {
      throw JobError(.storeFailed, "Job \(id) is in an index but not in its table. Run PRAGMA integrity_check.")
    }
    let heldKey = job.holdsKey
    guard claim(&job, by: worker) else {
      try put([job])
      return nil
    }
    let update = try statement(heldKey == job.holdsKey ? JobSQL.claim : JobSQL.claimAndReleaseKey)
    update.bind(id.rawValue, at: 1)
    update.bind(worker.rawValue, at: 2)
    update.bind(now.microseconds, at: 3)
    update.bind(job.epoch, at: 4)
    update.bind(job.attempt, at: 5)
    try update.run()
    return job
  }

  // MARK: Limits

  /// Returns the sums of the weights of running jobs by the keys of their further limits.
  func furtherWeights() throws -> [String: Int] {
    JobSettings.furtherWeights(try rows(LimitSQL.furtherCounts, { _ in }) { (group: $0.text(0), count: $0.int(1)) })
  }

  /// Returns the rate of a job whose first limit is a rate; nil if the rate can't be read.
  ///
  /// The job is damaged then and fails when it is claimed.
  func rate(of id: JobID) throws -> JobRate? {
    let settings = try rows(LimitSQL.settings, for: [id]) { $0.bytes(0) }.first
    return settings.flatMap { (try? JobSettings(stored: $0))?.firstLimit?.jobRate }
  }

  func turn(of queue: String, level: Int) throws -> KeyTurn {
    let found = try rows(
      LimitSQL.turn,
      {
        $0.add(queue)
        $0.add(level)
      }, { Self.readTurn($0, at: 0) })
    return found.first ?? KeyTurn()
  }

  func fullQueues(_ limits: [String: Int]) throws -> Set<String> {
    let full = try limits.filter { queue, limit in
      let count = try rows(
        LimitSQL.pendingCount,
        {
          $0.add(queue)
          $0.add(limit)
        }, { $0.int(0) })
      return count.first ?? 0 >= limit
    }
    return Set(full.keys)
  }
}
#endif
