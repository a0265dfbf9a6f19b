// MARK: New jobs

@_spi(JobStore) extension JobRows {
  /// Adds all jobs, or none if a queue is full or a dependency is unknown.
  ///
  /// - Parameters:
  ///   - batch: The jobs to add, in order.
  ///   - parent: A running job whose dependents also wait for the new jobs; nil for none.
  /// - Returns: The ID of each job.
  /// - Throws: ``JobError``, or an error of the store. The rows might have changed: undo the transaction.
  public func enqueue(_ batch: [NewJob], beforeDependentsOf parent: JobID? = nil) throws -> [Enqueued] {
    try requireRoom(for: batch, fullQueues(for: batch))
    return try addBatch(batch, beforeDependentsOf: parent)
  }

  /// Returns the queues of new jobs that have reached their pending limits, with the limits.
  public func fullQueues(for batch: [NewJob]) throws -> [String: Int] {
    let limits = try queues().compactMapValues(\.settings.maxPendingJobCount)
    guard !limits.isEmpty else { return [:] }
    let names = Set(batch.map(\.queue))
    let full = try fullQueues(limits.filter { names.contains($0.key) })
    return limits.filter { full.contains($0.key) }
  }

  /// Throws an error if a job needs room in a full queue: one whose key is held needs none.
  public func requireRoom(for batch: [NewJob], _ full: [String: Int]) throws {
    guard !full.isEmpty else { return }
    let new = batch.filter { full[$0.queue] != nil }
    var keys = JobKeys()
    try keys.read(new.compactMap(\.settings.unique), in: self)
    for new in new where new.settings.unique.flatMap({ keys[$0] }) == nil {
      throw JobError(full: new.queue, limit: full[new.queue] ?? 0)
    }
  }
}

// MARK: Changed jobs

@_spi(JobStore) extension JobRows {
  /// Writes changed jobs, as if they were written one after another.
  public func put(_ changed: [JobRecord]) throws {
    guard !changed.isEmpty else { return }
    var rest: [JobRecord] = []
    for job in try holdingKeys(changed) {
      guard let damage = job.damage else {
        rest.append(job)
        continue
      }
      try write(rest)
      rest = []
      var failed = [job]
      if !job.state.isFinished, job.state != .running {
        JobTransitions.fail(&failed[0], because: damage, at: now)
        let error = JobErrorDescription(JobEndReason(.damaged, damage))
        try note([FailedAttempt(job, error)], in: &failed)
      }
      try preservingParts(of: failed[0]) { try write(failed) }
    }
    try write(rest)
  }

  /// Makes jobs hold the keys that they need, and cancels those whose key is held by another job.
  private func holdingKeys(_ changed: [JobRecord]) throws -> [JobRecord] {
    var (jobs, keys) = (changed, JobKeys())
    let needed = jobs.lazy.filter(\.needsKey).compactMap(\.settings.unique)
    guard !needed.isEmpty else { return jobs }
    try keys.read(Array(needed), in: self)
    for index in jobs.indices {
      let id = jobs[index].id
      guard let unique = jobs[index].settings.unique else { continue }
      if jobs[index].needsKey {
        if let other = keys[unique], other != id {
          JobTransitions.supersede(&jobs[index], by: other, at: now)
        } else {
          jobs[index].holdsKey = true
          keys[unique] = id
        }
      } else if jobs[index].state.isFinished, keys[unique] == id {
        keys[unique] = nil
      }
    }
    return jobs
  }

  /// Writes jobs that can be read and hold their keys.
  private func write(_ jobs: [JobRecord]) throws {
    var (unfinished, finished) = ([JobRecord](), [JobRecord]())
    var (forgotten, withoutCheckpoints) = ([JobID](), [JobID]())
    for job in jobs {
      guard job.state.isFinished else {
        unfinished.append(job)
        try noteUnfinished(job)
        continue
      }
      hints.finished.append(job.id)
      activity.note(.ended(job.state), of: job)
      try noteLimits(of: job)
      if job.hasDependents { ended.append(JobGraph.Standing(job)) }
      // Dependents might read the result.
      let isForgotten = !job.hasDependents && job.expirationTime.map { $0 <= job.finishedTime ?? now } ?? false
      // Failed and cancelled jobs can be run again and must not repeat their steps.
      if job.state == .succeeded || isForgotten { withoutCheckpoints.append(job.id) }
      if isForgotten { forgotten.append(job.id) } else { finished.append(job) }
    }
    if !withoutCheckpoints.isEmpty { try deleteCheckpoints(of: withoutCheckpoints) }
    if !forgotten.isEmpty { try forget(forgotten) }
    // First, because these jobs no longer hold their keys.
    if !finished.isEmpty { try putFinished(finished) }
    if !unfinished.isEmpty { try putUnfinished(unfinished) }
  }

  /// Notes what observers have to know about a job that has not ended.
  public func noteUnfinished(_ job: JobRecord) throws {
    try noteLimits(of: job)
    if job.state.waitsForTime { hints.hasScheduled = true }
    if job.state == .waiting { hints.claimableQueues.insert(job.queue) }
  }

  /// Notes the queues whose other jobs might be claimed or added because of a changed job.
  public func noteLimits(of job: JobRecord) throws {
    let settings = try queues()[job.queue]?.settings
    if job.state != .running, job.settings.limits != nil || settings?.maxRunningJobCount != nil {
      hints.claimableQueues.insert(job.queue)
    }
    if !job.state.isPending, settings?.maxPendingJobCount != nil { hints.queuesWithRoom.insert(job.queue) }
  }

  /// Moves jobs that are ready now to the end of their queues, unless they keep their places.
  func place(_ jobs: inout [JobRecord], where isReady: (JobRecord) -> Bool) throws {
    let moved = jobs.indices.filter { !jobs[$0].keepsPlace && isReady(jobs[$0]) }
    guard !moved.isEmpty else { return }
    for (index, position) in zip(moved, try nextPositions(moved.count)) {
      (jobs[index].position, jobs[index].readyTime) = (position, now)
    }
  }

  /// Writes changed jobs and moves those that wait now to the end of their queues, unless they keep their places.
  func putAtEnd(_ changed: [JobRecord]) throws {
    var jobs = changed
    try place(&jobs) { $0.state == .waiting }
    try put(jobs)
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
    var late = try lateJobs(limit: limit)
    for index in late.indices { JobTransitions.expire(&late[index], at: now) }
    try put(late)
    try settle()
    return late.count == limit
  }

  /// Makes scheduled and retrying jobs that are due wait for a worker, up to a limit.
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
