@_spi(JobStore) extension JobRows {
  /// Records endings, as if they arrived one after another.
  ///
  /// - Parameter endings: The endings to record, in order.
  /// - Returns: The result for each ending.
  /// - Throws: An error of the store.
  public func end(_ endings: [JobEnding]) throws -> [JobExchangeAnswer.Verdict] {
    let ids = endings.map(\.fence.id)
    let order = Dictionary(zip(ids, ids.indices), uniquingKeysWith: { first, _ in first })
    func find(where isIncluded: (JobEnding) -> Bool) throws -> [JobID: JobRecord] {
      let ids = endings.filter(isIncluded).map(\.fence.id)
      let found = ids.isEmpty ? [] : try self.find(ids)
      return Dictionary(found.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    }
    var jobs = try find { !$0.isSuccess }
    // The order of endings matters if a job has several, or needs a key again that a job releases when it succeeds.
    let isOrdered = order.count < ids.count || jobs.values.contains { $0.settings.unique?.scope == .waiting }
    let successes = isOrdered ? [:] : try succeed(endings)
    try jobs.merge(find { $0.isSuccess && successes[$0.fence.id] == nil }, uniquingKeysWith: { first, _ in first })
    var (changed, released, failures) = ([JobID](), Set<JobID>(), [FailedAttempt]())
    let verdicts = try endings.map { ending -> JobExchangeAnswer.Verdict in
      let id = ending.fence.id
      if let success = successes[id] {
        try note(success, of: ending)
        return .recorded
      }
      guard var job = jobs[id] else { return .refused }
      let claimed = job.claimedTime
      switch JobTransitions.end(&job, ending, at: now) {
      case .refused: return .refused
      case .alreadyRecorded: return .recorded
      case .recorded:
        jobs[id] = job
        changed.append(id)
        if ending.action == .release { released.insert(id) }
        if let error = job.failure(by: ending.action) { failures.append(FailedAttempt(job, error)) }
        try note(ending.action, of: job.queue)
        noteActivity(ending.action, queue: job.queue, kind: job.kind, claimedAt: claimed)
        return .recorded
      }
    }
    guard !changed.isEmpty else { return verdicts }
    var unwritten = changed.compactMap { jobs[$0] }
    try note(failures, in: &unwritten)
    try wakeIfSignalled(&unwritten)
    try place(&unwritten) { !$0.state.isFinished && !released.contains($0.id) }
    try put(unwritten)
    if !successes.isEmpty, ended.count > 1 {
      ended.sort { order[$0.id, default: -1] < order[$1.id, default: -1] }
    }
    return verdicts
  }

  /// Notes what a success that was recorded without reading the job changes elsewhere.
  private func note(_ success: JobSuccess, of ending: JobEnding) throws {
    if success.hasDependents { ended.append(JobGraph.Standing(id: ending.fence.id, state: .succeeded)) }
    try note(ending.action, of: success.queue)
    if try queues()[success.queue]?.settings.maxRunningJobCount != nil { hints.claimableQueues.insert(success.queue) }
    hints.finished.append(ending.fence.id)
    noteActivity(ending.action, queue: success.queue, kind: success.kind, claimedAt: success.claimedTime)
    activity.note(.ended(.succeeded), queue: success.queue, kind: success.kind)
  }

  /// Returns jobs of a worker that has died or stopped to their queues, or ends them.
  ///
  /// - Returns: The IDs of the given jobs.
  public func rescue(_ jobs: [JobRecord], isCrash: Bool) throws -> [JobID] {
    var rescued = jobs
    for index in rescued.indices {
      JobTransitions.rescue(&rescued[index], isCrash: isCrash, at: now)
      if isCrash { activity.note(.crashed, of: rescued[index]) }
    }
    if isCrash { try note(rescued.map { FailedAttempt($0, .crash) }, in: &rescued) }
    try put(rescued)
    return jobs.map(\.id)
  }

  /// Records the endings of attempts, gives back jobs that the worker does not run, and claims jobs.
  ///
  /// - Parameters:
  ///   - exchange: The endings and claims of the worker.
  ///   - isRegistered: Returns whether the worker can have jobs.
  ///   - claim: Claims jobs for each claim in order. Use ``JobExchange/claimed(_:)``.
  /// - Throws: ``JobError``, or an error of the store.
  /// - Returns: The result for each ending, and the claimed jobs.
  public func exchange(
    _ exchange: JobExchange, isRegistered: () throws -> Bool, claim: () throws -> [[JobRecord]]
  ) throws -> JobExchangeAnswer {
    let verdicts = try end(exchange.endings)
    // The claims can return jobs that have waited for the jobs that end here.
    try settle()
    let isWorking = !exchange.claims.isEmpty || exchange.running != nil
    guard isWorking, try isRegistered() else {
      return JobExchangeAnswer(verdicts: verdicts, claimed: exchange.claims.map { _ in [] })
    }
    if let running = exchange.running { try releaseAll(of: exchange.worker, except: running) }
    let claimed = try claim()
    for jobs in claimed { noteWaits(of: jobs) }
    return JobExchangeAnswer(verdicts: verdicts, claimed: claimed)
  }

  /// Gives back the claimed jobs of a worker that it does not run.
  private func releaseAll(of worker: WorkerID, except known: Set<JobFence>) throws {
    let unknown = try runningJobs(of: worker).compactMap(\.fence).filter { !known.contains($0) }
    _ = try end(unknown.map { JobEnding($0, .release) })
  }

  /// Executes a write of a running attempt.
  public func write(_ write: FencedWrite) throws -> FencedAnswer {
    guard try isRun(by: write.fence) else { return .refused }
    let id = write.fence.id
    switch write.content {
    case .checkpoint(let name, let value): try putCheckpoints([(id, name, value)])
    case .wait(let wait, let number, let limit): return try self.wait(for: wait, number: number, limit: limit, of: id)
    case .progress(let progress): try setProgress(progress, of: id)
    case .log(let text):
      guard var job = try findUnfinished([id]).first else { return .refused }
      job.history.append(JobTransition(time: now, state: .running, worker: job.owner, note: text))
      try put([job])
    case .enqueue(let new):
      do {
        return .enqueued(try enqueue([new], beforeDependentsOf: nil)[0])
      } catch let error as JobError where error.code == .queueFull {
        return .queueFull
      }
    case .enqueueBatch(let new, let isBefore):
      do {
        return .enqueuedBatch(try enqueue(new, beforeDependentsOf: isBefore ? id : nil))
      } catch let error as JobError where error.code == .queueFull {
        return .queueFull
      }
    }
    return .written
  }
}

extension JobEnding {
  /// Whether the job succeeds.
  fileprivate var isSuccess: Bool { if case .succeed = action { true } else { false } }
}
