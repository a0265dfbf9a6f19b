// MARK: New jobs

@_spi(JobStore) extension JobRows {
  /// Adds all jobs, or none if a queue is full or a dependency is unknown.
  ///
  /// - Parameters:
  ///   - batch: The new jobs.
  ///   - parent: A running job whose dependents also wait for the new jobs; nil for none.
  /// - Returns: The number of each job.
  /// - Throws: ``JobError``, or an error of the store. The rows might have changed: undo the transaction.
  public func enqueue(_ batch: [NewJob], beforeDependentsOf parent: JobID? = nil) throws -> [Enqueued] {
    try requireRoom(for: batch, fullQueues(for: batch))
    return try addAll(batch, beforeDependentsOf: parent)
  }

  /// Returns the queues of new jobs that have reached their pending limits, with the limits.
  public func fullQueues(for batch: [NewJob]) throws -> [String: Int] {
    let limits = try queues().compactMapValues(\.settings.maxPendingJobCount)
    guard !limits.isEmpty else { return [:] }
    let names = Set(batch.map(\.queue))
    return try limits.filter { queue, limit in try names.contains(queue) && hasPending(limit, in: queue) }
  }

  /// Throws an error if a job needs room in a full queue: one whose key is held needs none.
  public func requireRoom(for batch: [NewJob], _ full: [String: Int]) throws {
    guard !full.isEmpty else { return }
    for new in batch {
      guard let limit = full[new.queue] else { continue }
      if try new.settings.unique.flatMap(holder) == nil { throw JobError(full: new.queue, limit: limit) }
    }
  }

  /// Adds a job, unless another one holds its key.
  ///
  /// - Parameters:
  ///   - new: The job.
  ///   - dependencies: The requirements of the job, with the states of the jobs that it depends on.
  ///   - hasDependents: Whether other jobs of the same batch wait for the job.
  /// - Returns: The new job, or the one that holds its key.
  /// - Throws: An error of the store.
  public func add(
    _ new: NewJob, _ dependencies: [JobGraph.Requirement], hasDependents: Bool
  ) throws -> Enqueued {
    if let unique = new.settings.unique, let other = try holder(of: unique) {
      if unique.conflict == .replace, let old = try find(other) { try replace(old, with: new) }
      return Enqueued(id: other, isNew: false)
    }
    let (id, position) = try nextNumbers()
    var job = JobRecord(id: id, new, at: now)
    (job.position, job.readyTime) = (position, now)
    if let unique = job.settings.unique {
      if let duration = unique.duration {
        _ = try hold(unique.key, by: id, until: now + duration)
      } else {
        job.holdsKey = true
      }
    }
    try insertEdges(of: &job, dependencies)
    job.hasDependents = hasDependents && !job.state.isFinished
    if job.state.isFinished {
      try put(job)
    } else {
      try insert(job)
      try noteUnfinished(job)
    }
    return Enqueued(id: id, isNew: true)
  }

  /// Replaces a job that holds the key of a new one, unless the job has started.
  public func replace(_ old: JobRecord, with new: NewJob) throws {
    var job = old
    guard JobTransitions.replace(&job, with: new, at: now) else { return }
    // The job becomes ready now, so it comes after those that were already ready.
    if old.state == .scheduled, job.state == .waiting { try place(&job) }
    try put(job)
  }
}

// MARK: Changed jobs

@_spi(JobStore) extension JobRows {
  /// Writes a changed job.
  public func put(_ changed: JobRecord) throws {
    var job = changed
    if job.needsKey, let unique = job.settings.unique {
      if let other = try holder(of: unique), other != job.id {
        JobTransitions.supersede(&job, by: other, at: now)
      } else {
        job.holdsKey = true
      }
    }
    guard let damage = job.damage else { return try write(job) }
    if !job.state.isFinished, job.state != .running { JobTransitions.fail(&job, because: damage, at: now) }
    try preservingParts(of: job) { try write(job) }
  }

  private func write(_ job: JobRecord) throws {
    guard job.state.isFinished else {
      try putUnfinished(job)
      return try noteUnfinished(job)
    }
    hints.finished.append(job.id)
    try noteLimits(of: job)
    if job.hasDependents { ended.append(JobGraph.Standing(job)) }
    // Dependents might read the result.
    let isForgotten = !job.hasDependents && job.expirationTime.map { $0 <= job.finishedTime ?? now } ?? false
    // Failed and cancelled jobs can be run again, and must not repeat their steps.
    if job.state == .succeeded || isForgotten { try deleteCheckpoints(of: job.id) }
    if isForgotten { try forget(job.id) } else { try putFinished(job) }
  }

  /// Notes what observers have to know about a job that has not ended.
  public func noteUnfinished(_ job: JobRecord) throws {
    try noteLimits(of: job)
    if job.state == .scheduled { hints.hasScheduled = true }
    if job.state == .waiting { hints.claimableQueues.insert(job.queue) }
  }

  /// Notes the queues in which a changed job might allow other jobs to be claimed or added.
  public func noteLimits(of job: JobRecord) throws {
    let settings = try queues()[job.queue]?.settings
    if job.state != .running, job.settings.limits != nil || settings?.maxRunningJobCount != nil {
      hints.claimableQueues.insert(job.queue)
    }
    if !job.state.isPending, settings?.maxPendingJobCount != nil { hints.queuesWithRoom.insert(job.queue) }
  }

  /// Moves a job that waits again to the end of its queue, unless it keeps its place.
  public func place(_ job: inout JobRecord) throws {
    if !job.keepsPlace { (job.position, job.readyTime) = (try nextPositions(1)[0], now) }
  }

  /// Writes changed jobs, and moves those that are ready now to the end of their queue, unless they keep their place.
  func putAtEnd(_ jobs: [JobRecord]) throws {
    guard !jobs.isEmpty else { return }
    for (var job, position) in zip(jobs, try nextPositions(jobs.count)) {
      if job.state == .waiting, !job.keepsPlace { (job.position, job.readyTime) = (position, now) }
      try put(job)
    }
  }

  /// Changes the record of a queue.
  ///
  /// - Returns: The number of changes.
  @discardableResult
  public func changeQueue(_ name: String, _ body: (inout JobQueueRecord) -> Void) throws -> Int {
    let old = try lockedQueue(name) ?? JobQueueRecord()
    var queue = old
    body(&queue)
    guard queue != old else { return 0 }
    try put(queue, named: name)
    if queue.mayClaimMore(than: old) { hints.claimableQueues.insert(name) }
    if queue.settings.maxPendingJobCount != old.settings.maxPendingJobCount { hints.queuesWithRoom.insert(name) }
    return 1
  }
}

// MARK: Time

@_spi(JobStore) extension JobRows {
  /// Cancels jobs that have missed their deadline, up to a limit.
  ///
  /// - Returns: Whether there might be more.
  public func expireLateJobs(limit: Int) throws -> Bool {
    let late = try lateJobs(limit: limit)
    for var job in late {
      JobTransitions.expire(&job, at: now)
      try put(job)
    }
    try settle()
    return late.count == limit
  }

  /// Makes scheduled jobs that are due wait for a worker, up to a limit.
  ///
  /// - Returns: Whether there might be more.
  public func startDueJobs(limit: Int) throws -> Bool {
    var due = try dueJobs(limit: limit)
    for index in due.indices { JobTransitions.becomeWaiting(&due[index], at: now) }
    try putAtEnd(due)
    try settle()
    return due.count == limit
  }
}
