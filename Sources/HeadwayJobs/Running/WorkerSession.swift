import FoundationEssentials
import Headway
import Synchronization

/// One run of a worker, from its registration until it has left the store.
///
/// Two tasks do the work. The first exchanges endings and claims with the store, one request at a time. While a request
/// is on its way, endings accumulate for the next one. The second confirms once per second that the worker is alive,
/// checks for due jobs and dead workers, and cancels attempts. Neither runs the code of jobs, which runs in operations
/// of the application's queues.
final class WorkerSession: Sendable {
  let jobs: Jobs
  private let name: String
  /// The queues of the store that the worker serves by name.
  private let queues: [String]
  /// The patterns of the other queues that it serves.
  let patterns: [JobWorker.PatternLane]
  /// Whether the slots of the operation queues will soon be read again.
  let looksAgain = Atomic(false)
  /// When the bell will ring next because a chunk has waited for further jobs.
  let chunkTime = Mutex<Duration?>(nil)
  let runners: [JobKind: JobRunner]
  /// Whether there is any middleware.
  let hasMiddleware: Bool
  private let gracePeriod: Duration
  private let cancellationPeriod: Duration
  let clock: WorkerClock
  let state: Mutex<WorkerState>
  let reports: WorkerReports
  /// Rings when there might be something to exchange.
  let exchangeBell = Doorbell()
  /// Rings when the next beat must begin before a second has passed.
  let beatBell = Doorbell()
  /// Rings when the worker must stop.
  private let stopBell = Doorbell()
  /// Rings when running jobs get no grace period.
  private let haste = Doorbell()
  /// Rings when the worker no longer waits for jobs or the store.
  let giveUp = Doorbell()

  var store: any JobStoreBackend { jobs.backend }

  init(
    jobs: Jobs, name: String, served: JobWorker.Served, runners: [JobKind: JobRunner], gracePeriod: Duration,
    cancellationPeriod: Duration, clock: WorkerClock, isDraining: Bool,
    claimsAhead: Bool = true
  ) {
    self.jobs = jobs
    self.name = name
    queues = served.lanes.map(\.queue)
    patterns = served.patterns
    self.runners = runners
    hasMiddleware = runners.values.contains { !$0.middleware.isEmpty }
    self.gracePeriod = gracePeriod
    self.cancellationPeriod = cancellationPeriod
    self.clock = clock
    reports = WorkerReports(jobs.eventLog)
    let kinds = runners.filter { $0.value.chunk == nil }.mapValues(\.version)
    let chunkRunners = runners.values.filter { $0.chunk != nil }.sorted { $0.kind < $1.kind }
    var chunks: [Claimer.Chunk] = []
    for runner in chunkRunners where chunks.last?.kinds[runner.kind] == nil {
      let kinds = Dictionary(runner.kinds.map { ($0, runner.version) }, uniquingKeysWith: { first, _ in first })
      if let size = runner.chunk?.size { chunks.append(Claimer.Chunk(kinds: kinds, size: size)) }
    }
    var operationQueues: [OperationQueue] = []
    let groups = served.lanes.map { lane in
      if let group = operationQueues.firstIndex(where: { $0 === lane.operationQueue }) { return group }
      operationQueues.append(lane.operationQueue)
      return operationQueues.count - 1
    }
    let claimer = Claimer(queues: queues, groups: groups, kinds: kinds, chunks: chunks, claimsAhead: claimsAhead)
    state = Mutex(WorkerState(claimer: claimer, operationQueues: operationQueues, isDraining: isDraining))
  }

  func run() async throws {
    // The task is not cancelled with the caller's task, because endings must still be recorded.
    try await Task { try await self.runUncancelled() }.value
  }

  func stop(isImmediate: Bool) {
    if isImmediate { haste.ring() }
    state.withLock { $0.isStopping = true }
    stopBell.ring()
    exchangeBell.ring()
  }

  /// Reports the error of a request and stops the worker if the store can no longer be used.
  func note(_ error: any Error, _ user: WorkerReports.User) {
    reports.failed(error, user)
    guard let error = error as? JobError, error.code == .unusableStore else { return }
    state.withLock { $0.fail(error) }
    cancel(.stopping) { _ in true }
    for bell in [stopBell, giveUp, exchangeBell] { bell.ring() }
  }

  private func runUncancelled() async throws {
    await reports.rescued(try await store.rescue(), in: store)
    try await register()
    SharedSlots.ofProcess.join(state.withLock(\.operationQueues), self, exchangeBell)
    defer { SharedSlots.ofProcess.leave(state.withLock(\.operationQueues), self) }
    let token = store.observeHints { [weak self] in self?.note($0) }
    defer { withExtendedLifetime(token) {} }
    let beats = Task { await self.beatUntilCancelled() }
    let ending = Task { await self.endAttemptsWhenStopped() }
    await exchangeUntilDone()
    beats.cancel()
    ending.cancel()
    await beats.value
    await ending.value
    if let failure = state.withLock(\.failure) { throw failure }
    try await leave()
  }

  func register() async throws {
    let description = WorkerDescription(
      name: name, processIdentifier: ProcessInfo.processInfo.processIdentifier, queues: queues,
      queuePatterns: patterns.map(\.pattern.text), kinds: runners.mapValues(\.version))
    let worker = try await store.register(description)
    state.withLock { $0.worker = worker }
    reports.post(.workerStarted(worker))
  }

  private func leave() async throws {
    guard let rest = await recordEndings() else { return }
    if let worker = rest.worker {
      try await unregister(worker, isRunningCode: rest.runningCount > 0)
      reports.post(.workerStopped(worker))
      if rest.runningCount > 0 { Task { await self.leaveAfterLastAttempt(worker) } }
    }
    guard rest.lostCount == 0 else {
      throw JobError(
        .storeFailed,
        "The store was unavailable until the worker had to stop. Some endings, \(rest.lostCount) in all, are not "
          + "recorded, so the jobs run again.")
    }
  }

  /// Records endings until there is none, or the store is unavailable.
  ///
  /// Attempts might have ended after the worker stopped waiting for them. The rest is counted in the step that finds no
  /// further ending.
  ///
  /// - Returns: How many attempts still run, and how many endings are not recorded.
  private func recordEndings() async -> (worker: WorkerID?, runningCount: Int, lostCount: Int)? {
    var rest: (worker: WorkerID?, runningCount: Int, lostCount: Int)?
    while rest == nil {
      endFinishedAttempts()
      let next = state.withLock { state -> (exchange: JobExchange, lanes: [Int])? in
        if let next = state.nextExchange(at: clock.elapsed()) { return next }
        rest = (state.worker, state.attempts.count, state.endings.count)
        return nil
      }
      guard let (exchange, lanes) = next else { break }
      let answer = try? await store.exchange(exchange)
      state.withLock { state in
        state.finish(exchange, lanes: lanes, answer)
        if answer == nil { rest = (state.worker, state.attempts.count, state.endings.count) }
      }
      if let answer { reports.recorded(exchange.endings, answer.verdicts) }
    }
    return rest
  }

  /// Leaves the store after recording the endings of all attempts whose code outlives the worker.
  private func leaveAfterLastAttempt(_ worker: WorkerID) async {
    while let rest = await recordEndings(), rest.runningCount > 0 { await exchangeBell.wait() }
    // If the store is unavailable, the jobs return to their queues when the process ends.
    try? await store.unregister(worker, isRunningCode: false)
  }

  /// Leaves the store and tries again a few times if the store is unavailable.
  ///
  /// If the worker did not leave, the end of the process would count as a crash.
  private func unregister(_ worker: WorkerID, isRunningCode: Bool) async throws {
    var failures = 0
    while true {
      do {
        return try await store.unregister(worker, isRunningCode: isRunningCode)
      } catch {
        failures += 1
        guard failures < 4 else { throw error }
        try? await clock.sleep(Self.pause(after: failures))
      }
    }
  }

  // MARK: Stopping

  private func endAttemptsWhenStopped() async {
    while !state.withLock({ $0.isStopping }) {
      await stopBell.wait()
      if Task.isCancelled { return }
    }
    cancel(.stopping) { !$0.context.hasBegun }
    await haste.wait(atMost: gracePeriod, clock.sleep)
    if Task.isCancelled { return }
    cancel(.stopping) { _ in true }
    try? await clock.sleep(cancellationPeriod)
    if Task.isCancelled { return }
    state.withLock { $0.hasGivenUp = true }
    giveUp.ring()
    exchangeBell.ring()
  }
}
