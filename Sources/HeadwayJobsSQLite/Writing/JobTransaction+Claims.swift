#if Jobs
import GRDB
@_spi(JobStore) import HeadwayJobs

extension JobTransaction {
  func claim(_ claim: JobClaim, by worker: WorkerID) throws -> [JobRecord] {
    let queue = try queues()[claim.queue] ?? JobQueueRecord()
    var count = claim.count
    if let limit = queue.settings.maxRunningJobCount {
      count = min(count, limit - (try runningCount(ofQueue: claim.queue)))
    }
    guard count > 0, !queue.isPaused else { return [] }
    var jobs = ClaimableJobs(self, claim, worker, queue)
    defer { jobs.close() }
    try jobs.open()
    try ClaimSelection.run(&jobs, claim, count: count)
    let claimed = try jobs.takeAll()
    if !claimed.isEmpty, queue.settings.maxPendingJobCount != nil { hints.queuesWithRoom.insert(claim.queue) }
    return claimed
  }

  /// Claims a waiting job for a worker.
  ///
  /// - Returns: The job; nil if it is damaged and has failed for this reason.
  func take(_ id: JobID, by worker: WorkerID) throws -> JobRecord? {
    guard var job = try findUnfinished(id) else {
      throw JobError(.storeFailed, "Job \(id) is in an index but not in its table. Run PRAGMA integrity_check.")
    }
    if max(job.epoch, job.attempt) == JobRow.numbers.upperBound { job.damage = "it was claimed too often" }
    guard job.damage == nil else {
      try put(job)
      return nil
    }
    let heldKey = job.holdsKey
    JobTransitions.claim(&job, by: worker, at: now)
    let update = try statement(heldKey == job.holdsKey ? Self.take : Self.takeAndReleaseKey)
    update.bind(id.rawValue, at: 1)
    update.bind(worker.rawValue, at: 2)
    update.bind(now.microseconds, at: 3)
    update.bind(job.epoch, at: 4)
    update.bind(job.attempt, at: 5)
    try update.run()
    return job
  }

  private static let take = "UPDATE headway_job SET \(columnsOfTaking) WHERE id = ?1"
  private static let takeAndReleaseKey = "UPDATE headway_job SET \(columnsOfTaking), unique_key = NULL WHERE id = ?1"
  private static let columnsOfTaking = """
    state = 3, owner = ?2, claimed = ?3, first_claimed = coalesce(first_claimed, ?3), epoch = ?4, attempt = ?5
    """
}
#endif
