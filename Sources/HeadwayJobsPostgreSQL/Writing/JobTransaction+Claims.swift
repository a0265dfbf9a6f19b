#if PostgreSQL
@_spi(JobStore) import HeadwayJobs

extension JobTransaction {
  /// Claims jobs for a worker.
  ///
  /// - Parameters:
  ///   - claim: The queue and the maximum number of jobs.
  ///   - worker: The worker.
  ///   - queues: The queues that have waiting jobs.
  ///   - mark: Where the waiting jobs begin. The new value is valid only after the transaction was committed.
  /// - Throws: `PostgresError`.
  /// - Returns: The claimed jobs.
  func claim(
    _ claim: JobClaim, by worker: WorkerID, in queues: WaitingQueues, after mark: inout ClaimMark
  ) throws -> [JobRecord] {
    let queue = try self.queues()[claim.queue] ?? JobQueueRecord()
    var count = claim.count
    guard count > 0, !queue.isPaused, let waiting = queues.queues[claim.queue] else { return [] }
    if let limit = queue.settings.maxRunningJobCount {
      try lockLimits()
      count = min(count, limit - (try runningCount(ofQueue: claim.queue)))
      guard count > 0 else { return [] }
    }
    let claimed = try take(claim, count, queue, waiting, by: worker, after: &mark, queues.snapshot)
    if !claimed.isEmpty, queue.settings.maxPendingJobCount != nil { hints.queuesWithRoom.insert(claim.queue) }
    return claimed
  }

  private func take(
    _ claim: JobClaim, _ count: Int, _ queue: JobQueueRecord, _ waiting: WaitingQueues.Queue, by worker: WorkerID,
    after mark: inout ClaimMark, _ snapshot: ClaimMark.Snapshot?
  ) throws -> [JobRecord] {
    if let snapshot { mark.note(snapshot) }
    var jobs = ClaimableJobs(self, claim, worker, queue)
    guard waiting.hasKeys || (waiting.hasSuspects && claim.allowsSuspect) || queue.settings.agingInterval != nil else {
      return try jobs.takePlain(count, after: &mark)
    }
    // A suspect can have a key too.
    if waiting.hasKeys || waiting.hasSuspects { try lockLimits() }
    try jobs.open(hasKeys: waiting.hasKeys)
    try ClaimSelection.run(&jobs, claim, count: count)
    return try jobs.takeAll()
  }

  /// Claims jobs whose rows are locked; damaged ones fail.
  ///
  /// - Returns: The claimed jobs.
  func take(_ jobs: [JobRecord], by worker: WorkerID) throws -> [JobRecord] {
    var claimed: [JobRecord] = []
    for var job in jobs {
      if max(job.epoch, job.attempt) == JobRow.numbers.upperBound { job.damage = "it was claimed too often" }
      guard job.damage == nil else {
        try put(job)
        continue
      }
      JobTransitions.claim(&job, by: worker, at: now)
      claimed.append(job)
    }
    guard !claimed.isEmpty else { return [] }
    var update = statement(
      """
      UPDATE headway.job SET state = 3, owner = $2, claimed = $3, first_claimed = coalesce(first_claimed, $3),
      epoch = epoch + 1, attempt = attempt + 1,
      unique_key = CASE WHEN flags & \(JobRow.holdsKeyUntilClaim) <> 0 THEN NULL ELSE unique_key END
      WHERE id = ANY($1)
      """)
    update.add(array: claimed.map(\.id.rawValue))
    update.add(worker.rawValue)
    update.add(now)
    runLater(update)
    return claimed
  }
}
#endif
