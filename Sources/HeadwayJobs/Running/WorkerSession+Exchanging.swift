import Headway
import Synchronization

extension WorkerSession {
  func exchangeUntilDone() async {
    var failures = 0
    // Claimed jobs are started in order, while the next request is on its way.
    var starting: Task<Void, Never>?
    exchangeBell.ring()
    while true {
      await exchangeBell.wait()
      while let (exchange, lanes) = nextExchange() {
        do {
          let answer = try await store.exchange(exchange)
          failures = 0
          state.withLock { $0.finish(exchange, lanes: lanes, answer) }
          reports.succeeded(.exchange)
          reports.recorded(exchange.endings, answer.verdicts)
          for jobs in answer.claimed { reports.claimed(jobs) }
          starting = Task { [previous = starting] in
            await previous?.value
            for (jobs, lane) in zip(answer.claimed, lanes) { start(jobs, lane: lane) }
            exchangeBell.ring()
          }
        } catch {
          state.withLock { $0.finish(exchange, lanes: lanes, nil) }
          note(error, .exchange)
          failures += 1
          if state.withLock({ $0.isStopping && $0.hasGivenUp }) {
            await starting?.value
            return
          }
          await giveUp.wait(atMost: Self.pause(after: failures), clock.sleep)
        }
      }
      if state.withLock({ $0.isDone }) { return }
      await continueDrain()
    }
  }

  /// Returns a random pause between half the length and the full length; the length doubles from 0.1 s up to 30 s.
  static func pause(after failures: Int) -> Duration {
    let longest = min(30, 0.1 * Double(1 << min(failures - 1, 20)))
    return .seconds(Double.random(in: longest / 2...longest))
  }

  /// Starts a job as an operation.
  func start(_ job: JobRecord, lane: Int) {
    guard let fence = job.fence else { return }
    let isSuspect = job.crashCount > 0
    let context = JobContext(job, fence, jobs)
    let result = AttemptResult()
    let operation: Operation
    do {
      guard let runner = runners[job.kind] else { throw JobError(.undecodablePayload, "Unknown kind \(job.kind).") }
      operation = try runner.makeOperation(context, result)
    } catch {
      let ending = AttemptEnding(
        job: job, error: error, isCancelled: false, hasBegun: true, cause: nil, result: nil)
      // If the worker has lost the job in the meantime, the store rejects the ending.
      let isLost = state.withLock { fence.owner != $0.worker }
      let action = isLost ? .release : ending.action(at: store.now)
      notifyMiddleware(context, action, error)
      reports.willRecord(job, fence)
      state.withLock { $0.giveBack(fence, action, lane: lane, isSuspect: isSuspect, at: clock.elapsed()) }
      exchangeBell.ring()
      return
    }
    configure(operation, for: job)
    context.noteOperation(operation)
    let attempt = WorkerState.Attempt(
      operation: operation, job: job, context: context, result: result, lane: lane, isSuspect: isSuspect,
      added: clock.elapsed())
    if state.withLock({ $0.start(attempt) }) != nil { operation.cancel() }
    state.withLock { $0.operationQueue(ofLane: lane) }.addOperation(operation)
    operation.callWhenEnded { [self] in noteEnded(context) }
  }

  /// Notes that the operation of an attempt has finished.
  func noteEnded(_ context: JobContext) {
    guard context.isFinishingElsewhere else { return noteFinished(context.fence) }
    Task {
      await findEnding(context)
      noteFinished(context.fence)
    }
  }

  private func noteFinished(_ fence: JobFence) {
    state.withLock { $0.noteFinished(fence) }
    exchangeBell.ring()
  }

  /// Finds out whether another client of the database has recorded the ending of an attempt.
  ///
  /// If the worker stops waiting for the store, it sends an ending as usual, which has no effect if the job has ended.
  private func findEnding(_ context: JobContext) async {
    var failures = 0
    while true {
      do {
        return try await context.findEnding()
      } catch {
        failures += 1
        if state.withLock({ $0.hasGivenUp }) { return }
        try? await clock.sleep(Self.pause(after: failures))
      }
    }
  }

  private func configure(_ operation: Operation, for job: JobRecord) {
    if operation.name == nil { operation.name = job.settings.label ?? "\(job.kind) \(job.id)" }
    if let priority = Operation.QueuePriority(rawValue: job.priority) { operation.queuePriority = priority }
    if let quality = job.settings.qualityOfService { operation.qualityOfService = quality }
    if let timeout = job.settings.timeout { operation.policy.timeout = max(timeout, .zero) }
  }

  /// Determines the endings of attempts whose operations have finished.
  ///
  /// Error descriptions and middleware run user code. This code runs here, and not on the threads that end operations.
  func endFinishedAttempts() {
    let attempts = state.withLock { $0.takeFinished() }
    guard !attempts.isEmpty else { return }
    let now = store.now
    let endings = attempts.map { attempt -> (JobFence, JobEnding.Action?) in
      let fence = attempt.context.fence
      guard !attempt.context.isFinished else {
        attempt.context.noteEnded(.succeed(result: nil), nil)
        notifyMiddleware(attempt.context, .succeed(result: nil), nil)
        reports.post(.ended(JobAttempt(attempt.job, fence), .succeed(result: nil)))
        return (fence, nil)
      }
      let action = AttemptEnding(attempt).action(at: now)
      // The error of a wait isn't a failure.
      let error = attempt.context.suspension == nil ? attempt.error : nil
      attempt.context.noteEnded(action, error)
      // The ending of a lost attempt is not sent.
      notifyMiddleware(attempt.context, attempt.cause == .leaseLost ? .release : action, error)
      reports.willRecord(attempt.job, fence)
      return (fence, action)
    }
    let time = clock.elapsed()
    let unsent = state.withLock { state in
      endings.filter { fence, action in !state.end(fence, action, at: time) }
    }
    for (fence, _) in unsent { reports.willNotRecord(fence) }
  }

  /// Notifies the middleware of a job of the ending of an attempt; the innermost first.
  private func notifyMiddleware(_ context: JobContext, _ action: JobEnding.Action, _ error: (any Error)?) {
    guard hasMiddleware, let runner = runners[context.job.kind] else { return }
    for middleware in runner.middleware.reversed() { middleware.didEnd(context, with: action, error: error) }
  }
}
