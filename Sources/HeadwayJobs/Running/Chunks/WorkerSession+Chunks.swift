import Headway
import Synchronization

extension WorkerSession {
  /// Starts the jobs of a claim: each as an operation, or several as one operation.
  ///
  /// A job that was running during a crash runs alone, so that another crash is attributed to the right job.
  func start(_ jobs: [JobRecord], lane: Int) {
    var chunk: [JobRecord] = []
    for job in jobs {
      if job.crashCount == 0, runners[job.kind]?.chunk != nil { chunk.append(job) } else { start(job, lane: lane) }
    }
    guard let kind = chunk.first?.kind, let runner = runners[kind]?.chunk else { return }
    start(chunk, of: kind, runner, lane: lane)
  }

  private func start(_ jobs: [JobRecord], of kind: JobKind, _ runner: ChunkRunner, lane: Int) {
    let run = ChunkRun(
      jobs.compactMap { job in
        job.fence.map { ChunkRun.Member(context: JobContext(job, $0, self.jobs), result: AttemptResult()) }
      })
    let operation = runner.makeOperation(run)
    configure(operation, for: jobs, of: kind)
    let added = clock.elapsed()
    let attempts = run.members.enumerated().map { index, member in
      member.context.noteOperation(operation)
      return WorkerState.Attempt(
        operation: operation, job: member.context.job, context: member.context, result: member.result, lane: lane,
        isSuspect: false, added: added, chunk: run, holdsSlot: index == 0)
    }
    let cancelled = state.withLock { state in attempts.filter { state.start($0) != nil } }
    for attempt in cancelled { attempt.cancel() }
    state.withLock { $0.operationQueue(ofLane: lane) }.addOperation(operation)
    operation.callWhenEnded { [self] in
      for member in run.members { noteEnded(member.context) }
    }
  }

  private func configure(_ operation: Operation, for jobs: [JobRecord], of kind: JobKind) {
    operation.name = "\(kind) × \(jobs.count)"
    if let priority = jobs.map(\.priority).max().flatMap(Operation.QueuePriority.init(rawValue:)) {
      operation.queuePriority = priority
    }
    if let quality = jobs.lazy.compactMap(\.settings.qualityOfService).first { operation.qualityOfService = quality }
    if let timeout = jobs.compactMap(\.settings.timeout).min() { operation.policy.timeout = max(timeout, .zero) }
  }

  /// Rings the bell when a chunk has waited long enough for further jobs.
  func ringForChunk(at time: Duration) {
    let isNew = chunkTime.withLock { pending in
      if let pending, pending <= time { return false }
      pending = time
      return true
    }
    guard isNew else { return }
    // The wait can be long and must not keep a stopped worker and its store in memory.
    Task { [weak self, clock] in
      try? await clock.sleep(max(.zero, time - clock.elapsed()))
      self?.endChunkWait(until: time)
    }
  }

  private func endChunkWait(until time: Duration) {
    chunkTime.withLock { if $0 == time { $0 = nil } }
    exchangeBell.ring()
  }
}
