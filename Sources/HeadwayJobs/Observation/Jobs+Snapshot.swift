extension Jobs {
  /// Returns the current queues, workers and failures of the store.
  ///
  /// - Parameter parts: The parts to read. Reading all parts takes O(*n*) in the number of jobs.
  /// - Returns: A snapshot with the requested parts. It can be encoded, for example as JSON.
  /// - Throws: ``JobError``.
  public func snapshot(_ parts: JobsSnapshot.Parts = .all) async throws -> JobsSnapshot {
    try await backend.snapshot(parts)
  }

  /// Returns a sentence that explains why a job does not run, or how it ended.
  ///
  /// For example, `job 7 (resize) waits because no worker serves the queue “images”`. It describes the current state in
  /// all processes and does not end with a period.
  ///
  /// - Parameter id: The ID of the job.
  /// - Returns: A sentence in English.
  /// - Throws: ``JobError``.
  public func diagnose(_ id: JobID) async throws -> String {
    // The workers are read first. If a new worker claims the job before the job is read, the workers are read again.
    var snapshot = try await snapshot([.workers])
    guard let job = try await job(id) else { return "job \(id) is not in the store: it was deleted or never existed" }
    if job.state == .running, !snapshot.workers.contains(where: { $0.id == job.owner }) {
      snapshot = try await self.snapshot([.workers])
    }
    var diagnosis = JobDiagnosis(job: job, snapshot: snapshot)
    if job.state == .held {
      let edges = try await backend.edges(of: [id])
      diagnosis.unmet = edges.filter { $0.dependent == id && $0.status == .unmet }.map(\.dependency)
    } else if job.state == .waiting, let limits = job.settings.limits {
      diagnosis.running = try await runningJobs(in: snapshot, withKeys: Set(limits.map(\.storedKey)))
    }
    return diagnosis.sentence
  }

  /// The maximum number of running jobs that a diagnosis reads, in total and at a time.
  private static let (maxRunningCount, maxPartCount) = (10_000, 500)

  /// Returns the jobs that run on the workers of a snapshot and have a limit with one of the keys.
  private func runningJobs(in snapshot: JobsSnapshot, withKeys keys: Set<String>) async throws -> [JobRecord] {
    var rest = snapshot.workers.flatMap { $0.running.map(\.id) }.prefix(Self.maxRunningCount)
    var jobs: [JobRecord] = []
    while !rest.isEmpty {
      let part = Array(rest.prefix(Self.maxPartCount))
      rest = rest.dropFirst(part.count)
      let running = try await backend.jobs(JobFilter(ids: part, states: [.running]), after: nil, limit: part.count)
      jobs += running.filter { job in job.settings.limits?.contains { keys.contains($0.storedKey) } == true }
    }
    return jobs
  }
}

extension JobRecord {
  /// When a waiting job began to wait for a worker.
  public var waitStartTime: StoreTime {
    history.waitStartTime(enqueuedAt: enqueuedTime, readyAt: readyTime)
  }
}

extension JobHistory {
  /// Returns when a waiting job with this history began to wait for a worker.
  func waitStartTime(enqueuedAt enqueuedTime: StoreTime, readyAt readyTime: StoreTime) -> StoreTime {
    max(transitions.last { $0.state == .waiting }?.time ?? enqueuedTime, readyTime)
  }
}
