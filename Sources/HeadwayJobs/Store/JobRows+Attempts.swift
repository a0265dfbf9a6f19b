@_spi(JobStore) extension JobRows {
  /// Records the ending of an attempt.
  ///
  /// - Parameters:
  ///   - ending: The ending.
  ///   - job: The job; nil if it does not exist.
  /// - Throws: ``JobError``, or an error of the store.
  /// - Returns: Whether the ending is recorded.
  public func end(_ ending: JobEnding, of job: JobRecord?) throws -> JobExchangeAnswer.Verdict {
    guard var job else { return .refused }
    switch JobTransitions.end(&job, ending, at: now) {
    case .refused: return .refused
    case .alreadyRecorded: return .recorded
    case .recorded:
      try wakeIfSignalled(&job)
      if !job.state.isFinished, ending.action != .release { try place(&job) }
      try note(ending.action, of: job.queue)
      try put(job)
      return .recorded
    }
  }

  /// Returns jobs of a worker that has died or stopped to their queues, or ends them.
  ///
  /// - Returns: The jobs.
  public func rescue(_ jobs: [JobRecord], isCrash: Bool) throws -> [JobID] {
    for var job in jobs {
      JobTransitions.rescue(&job, isCrash: isCrash, at: now)
      try put(job)
    }
    return jobs.map(\.id)
  }

  /// Gives back the jobs of a worker that the worker does not know of.
  public func releaseAll(of worker: WorkerID, except known: Set<JobFence>) throws {
    let unknown = try runningJobs(of: worker).compactMap(\.fence).filter { !known.contains($0) }
    _ = try end(unknown.map { JobEnding($0, .release) })
  }

  /// Executes a write of a running attempt.
  public func write(_ write: FencedWrite) throws -> FencedAnswer {
    guard try isRun(by: write.fence) else { return .refused }
    let id = write.fence.id
    switch write.content {
    case .checkpoint(let name, let value): try putCheckpoint(name, value, of: id)
    case .wait(let wait, let number, let limit): return try self.wait(for: wait, number: number, limit: limit, of: id)
    case .progress(let progress): try setProgress(progress, of: id)
    case .log(let text):
      guard var job = try findUnfinished([id]).first else { return .refused }
      job.history.append(JobTransition(time: now, state: .running, worker: job.owner, note: text))
      try put(job)
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
