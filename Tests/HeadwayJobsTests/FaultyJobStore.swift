@_spi(JobStore) import HeadwayJobs
@_spi(JobStore) import HeadwayJobsTestKit
import Synchronization

/// A store with a fault, to prove that the checks and the model find it.
final class FaultyJobStore: JobStoreBackend {
  enum Fault: CaseIterable {
    /// Endings are recorded even if the attempt no longer runs the job.
    case unfencedEndings
    /// Children are stored even if the attempt no longer runs its job.
    case unfencedChildren
    /// A claim also returns the first job of the last claim.
    case doubleClaims
    /// A claim returns one job more than the worker wants.
    case greedyClaims
    /// A job that is given back has used an attempt.
    case countedReleases
    /// Workers don't learn of requests to cancel their jobs.
    case lostCancellations
    /// Priorities are not stored.
    case lostPriorities
    /// Keys have no effect.
    case ignoredKeys
    /// Jobs that are due stay as they are.
    case ignoredDueTimes
    /// Rescued jobs have no crash.
    case uncountedCrashes
    /// Progress is not stored.
    case lostProgress
    /// Limits of keys have no effect.
    case ignoredLimits
    /// Settings of queues have no effect.
    case ignoredSettings
    /// Each tick of a schedule adds two jobs.
    case doubledTicks
    /// A schedule that is set again loses its last tick.
    case forgottenTicks
    /// Jobs don't wait for others.
    case ignoredDependencies
    /// Failures don't run down the graph.
    case ignoredRequirements
    /// A job that waits for a running job does not wait for that job's children.
    case ignoredGrowth
    /// Statistics contain nothing.
    case emptyStatistics
  }

  private let fault: Fault
  private let store: MemoryJobStore
  private let lastClaimed = Mutex<JobRecord?>(nil)

  init(_ fault: Fault, _ store: MemoryJobStore) {
    self.fault = fault
    self.store = store
  }

  var maxPayloadSize: Int { store.maxPayloadSize }
  var now: StoreTime { store.now }

  func errorGroups(_ id: JobErrorGroup.ID?) -> [JobErrorGroup] { store.errorGroups(id) }

  func enqueue(_ jobs: [NewJob]) throws -> [Enqueued] {
    try store.enqueue(
      jobs.map { job in
        var job = job
        if fault == .lostPriorities { job.priority = 0 }
        if fault == .ignoredKeys { job.settings.unique = nil }
        if fault == .ignoredLimits { job.settings.limits = nil }
        if fault == .ignoredDependencies { job.dependencies = [] }
        if fault == .ignoredRequirements { job.dependencies = job.dependencies.map { JobDependency($0.target) } }
        return job
      })
  }

  func exchange(_ exchange: JobExchange) -> JobExchangeAnswer {
    var exchange = exchange
    exchange.endings = exchange.endings.map { ending in
      if fault == .countedReleases, ending.action == .release {
        return JobEnding(ending.fence, .retry(after: .zero, JobErrorDescription(type: "", text: "")))
      }
      guard fault == .unfencedEndings, let fence = record(ending.fence.id)?.fence else { return ending }
      return JobEnding(fence, ending.action)
    }
    if fault == .greedyClaims {
      for index in exchange.claims.indices { exchange.claims[index].count += 1 }
    }
    var answer = store.exchange(exchange)
    if fault == .doubleClaims {
      for (index, jobs) in answer.claimed.enumerated() {
        let last = lastClaimed.withLock { last in
          defer { last = jobs.first ?? last }
          return last
        }
        if let last { answer.claimed[index].append(last) }
      }
    }
    return answer
  }

  func write(_ writes: [FencedWrite]) throws -> [FencedAnswer] {
    try writes.map { write in
      switch (fault, write.content) {
      case (.unfencedChildren, .enqueue(let child)):
        (try? store.enqueue([child])).map { .enqueued($0[0]) } ?? .queueFull
      case (.ignoredGrowth, .enqueueBatch(let children, _)):
        try store.write([FencedWrite(write.fence, .enqueueBatch(children, beforeDependents: false))])[0]
      case (.lostProgress, .progress): record(write.fence.id)?.isRun(by: write.fence) == true ? .written : .refused
      default: try store.write([write])[0]
      }
    }
  }

  func beat(_ worker: WorkerID, running attempts: [JobFence]) -> WorkerBeat {
    var beat = store.beat(worker, running: attempts)
    if fault == .lostCancellations { beat.cancellations = [] }
    return beat
  }

  func rescue() -> [JobID] { store.rescue() }

  func kill(_ worker: WorkerID) {
    if fault == .uncountedCrashes { store.unregister(worker, isRunningCode: true) }
    store.kill(worker)
  }

  func advance() -> StoreTime? {
    if fault == .ignoredDueTimes { return nil }
    let last = store.jobs(.all, after: nil, limit: .max).last?.id
    let next = store.advance()
    if fault == .doubledTicks {
      for job in store.jobs(.all, after: last, limit: .max) where job.settings.tick != nil {
        var copy = NewJob(kind: job.kind, version: job.version, payload: job.payload)
        (copy.queue, copy.settings) = (job.queue, job.settings)
        _ = try? store.enqueue([copy])
      }
    }
    return next
  }

  func perform(_ command: ScheduleCommand, on name: String) -> ScheduleAnswer { perform(command, on: name, by: nil) }

  func perform(_ command: ScheduleCommand, on name: String, by origin: JobsChangeOrigin?) -> ScheduleAnswer {
    guard fault == .forgottenTicks, case .set = command else { return store.perform(command, on: name, by: origin) }
    let isFound = store.perform(.remove, on: name).isFound
    return ScheduleAnswer(isFound: store.perform(command, on: name).isFound || isFound)
  }

  func schedules() -> [ScheduleRecord] { store.schedules() }

  func checkpoint(_ name: String, of id: JobID) -> JobPayload? { store.checkpoint(name, of: id) }

  func register(_ description: WorkerDescription) -> WorkerID { store.register(description) }

  func unregister(_ worker: WorkerID, isRunningCode: Bool) { store.unregister(worker, isRunningCode: isRunningCode) }

  func perform(_ command: JobCommand) throws -> Int { try perform(command, by: nil) }

  func perform(_ command: JobCommand, by origin: JobsChangeOrigin?) throws -> Int {
    if fault == .ignoredSettings, case .configure = command { return 1 }
    return try store.perform(command, by: origin)
  }

  func changes(of job: JobID?, before number: Int64?, limit: Int) -> [JobsChangeRecord] {
    store.changes(of: job, before: number, limit: limit)
  }

  func jobs(_ filter: JobFilter, after id: JobID?, limit: Int) -> [JobRecord] {
    store.jobs(filter, after: id, limit: limit)
  }

  func edges(of ids: [JobID]) -> [JobEdge] { store.edges(of: ids) }

  func counts() -> [String: JobQueueCounts] { store.counts() }

  func snapshot(_ parts: JobsSnapshot.Parts) -> JobsSnapshot { store.snapshot(parts) }

  var keepsStatistics: Bool { true }

  func statistics(over span: JobStatistics.Span, queue: String?) -> JobStatistics {
    fault == .emptyStatistics
      ? JobStatistics(span: span, endingAt: now) : store.statistics(over: span, queue: queue)
  }

  func observeHints(_ handler: @escaping @Sendable (JobHint) -> Void) -> any AnyObject & Sendable {
    store.observeHints(handler)
  }

  private func record(_ id: JobID) -> JobRecord? { store.jobs(.id(id), after: nil, limit: 1).first }
}

/// A store with a fault, and a clock that stands still.
struct FaultyFixture: JobStoreFixture {
  private let memory = MemoryFixture()
  private let faulty: FaultyJobStore

  init(_ fault: FaultyJobStore.Fault) { faulty = FaultyJobStore(fault, memory.memory) }

  var store: any JobStoreBackend { faulty }

  func openAgain() -> any JobStoreBackend { faulty }

  func advanceClock(by duration: Duration) { memory.advanceClock(by: duration) }

  func kill(_ worker: WorkerID) { faulty.kill(worker) }
}
