#if PostgreSQL
import HeadwayJobs

extension JobTransaction {
  /// Claims jobs for a worker.
  ///
  /// - Parameters:
  ///   - claim: The queue and the maximum number of jobs.
  ///   - worker: The worker.
  ///   - mark: Where the waiting jobs begin. The new value is valid only after the transaction was committed.
  /// - Throws: `PostgresError`.
  /// - Returns: The claimed jobs.
  func claim(_ claim: JobClaim, by worker: WorkerID, after mark: inout ClaimMark) throws -> [JobRecord] {
    let queue = try queues()[claim.queue] ?? JobQueueRecord()
    var count = claim.count
    guard count > 0, !queue.isPaused else { return [] }
    if let limit = queue.settings.limit {
      try lockLimits()
      count = min(count, limit - (try runningCount(ofQueue: claim.queue)))
      guard count > 0 else { return [] }
    }
    let claimed = try take(claim, count, queue, by: worker, after: &mark)
    if !claimed.isEmpty, queue.settings.pendingLimit != nil { hints.queuesWithRoom.insert(claim.queue) }
    return claimed
  }

  private func take(
    _ claim: JobClaim, _ count: Int, _ queue: JobQueueRecord, by worker: WorkerID, after mark: inout ClaimMark
  ) throws -> [JobRecord] {
    let parts = try run(
      """
      SELECT EXISTS (SELECT FROM headway.job WHERE state = 2 AND crashes = 0 AND limit_key IS NOT NULL AND queue = $1),
      EXISTS (SELECT FROM headway.job WHERE state = 2 AND crashes > 0 AND queue = $1),
      pg_snapshot_xmin(snapshot)::text::bigint, pg_snapshot_xmax(snapshot)::text::bigint
      FROM pg_current_snapshot() snapshot
      """, claim.queue
    ).first
    let (hasKeys, hasSuspects) = (parts?.bool(0) ?? false, parts?.bool(1) ?? false)
    if let parts { mark.note(ClaimMark.Snapshot(oldest: parts.int64(2), next: parts.int64(3))) }
    var jobs = ClaimableJobs(self, claim, worker, queue)
    guard hasKeys || (hasSuspects && claim.allowsSuspect) || queue.settings.aging != nil else {
      return try jobs.takePlain(count, after: &mark)
    }
    // A suspect can have a key too.
    if hasKeys || hasSuspects { try lockLimits() }
    try jobs.open(hasKeys: hasKeys)
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
