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
    guard let waiting = queues[claim.queue] else { return [] }
    if queue.settings.maxRunningJobCount != nil, claim.count > 0, !queue.isPaused { try lockLimits() }
    let count = try maxCount(of: claim, in: queue)
    guard count > 0 else { return [] }
    let claimed = try take(claim, count, queue, waiting, by: worker, after: &mark, queues.snapshot)
    return noteClaimed(claimed, of: claim, in: queue)
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
    var (claimed, damaged) = ([JobRecord](), [JobRecord]())
    for var job in jobs {
      if claim(&job, by: worker) { claimed.append(job) } else { damaged.append(job) }
    }
    try put(damaged)
    try run(
      JobSQL.claim, for: claimed, { $1.add($0.id.rawValue) },
      constants: {
        $0.add(worker.rawValue)
        $0.add(now)
      })
    return claimed
  }

  // MARK: Limits

  /// Waits until no other claim counts jobs, so that the counts remain true until this transaction ends.
  func lockLimits() throws {
    guard !holdsLimitsLock else { return }
    holdsLimitsLock = true
    runLater(LockSQL.lock, schema.lockClass, StoreLock.limits.rawValue)
  }

  /// Returns the sum for a key, and the sums of the weights of running jobs by the keys of their further limits.
  func runningWeights(ofKey key: String) throws -> (first: Int, further: [String: Int]) {
    let counts = try rows(LimitSQL.runningWeights, { $0.add(key) }) { row in
      (group: row.optional(0, row.text), count: row.int(1))
    }
    let further = counts.compactMap { count in count.group.map { (group: $0, count: count.count) } }
    return (counts.first { $0.group == nil }?.count ?? 0, JobSettings.furtherWeights(further))
  }

  /// Returns the priorities of waiting jobs with keys, highest first, with the turn of each.
  func turns(of queue: String) throws -> [(level: Int, turn: KeyTurn)] {
    try rows(LimitSQL.turns, { $0.add(queue) }) { ($0.int(0), Self.readTurn($0, at: 1)) }
  }

  // MARK: Queues

  func lockedQueue(_ name: String) throws -> JobQueueRecord? {
    // Read again, because others could have changed it before its row was locked.
    try rows(LimitSQL.lockQueue, { $0.add(name) }) { QueueRow.read($0).queue }.first
  }

  /// Notes how an attempt has ended, in the record of its queue.
  func note(_ action: JobEnding.Action, of queue: String) throws {
    guard let known = try queues()[queue], known.settings.maxFailureCount != nil else { return }
    if case .succeed = action, known.failureCount == 0 { return }
    if !hasLockedFailureCounts {
      hasLockedFailureCounts = true
      runLater(LimitSQL.lockFailureCounts)
    }
    try changeQueue(queue) { $0.note(action) }
  }
}
#endif
