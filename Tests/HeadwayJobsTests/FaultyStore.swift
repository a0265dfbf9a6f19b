@_spi(JobStore) import HeadwayJobs
import Synchronization

/// A store with faults.
///
/// It fails two of three exchanges: before anything has happened, and after everything has, so that only the answer is
/// lost. Or it loses all hints, and perhaps all answers to writes. Or it sends a hint during each exchange.
final class FaultyStore: JobStoreBackend {
  private let store: MemoryJobStore
  private let count = Mutex(0)
  private let gone = Atomic(false)
  private let stuck = Atomic(false)
  private let merges = Atomic(0)

  private let fault: Fault
  private let observers = HintObservers()
  private let onUnregister: @Sendable () -> Void

  /// The faults of the store.
  enum Fault {
    case lostAnswers, lostHints, lostWriteAnswers, constantHints
  }

  /// Creates a store.
  ///
  /// - Parameters:
  ///   - store: The store that does the work.
  ///   - fault: The fault of the store.
  ///   - onUnregister: Called after a worker has left the store.
  init(
    _ store: MemoryJobStore, _ fault: Fault = .lostAnswers, onUnregister: @escaping @Sendable () -> Void = {}
  ) { (self.store, self.fault, self.onUnregister) = (store, fault, onUnregister) }

  /// The number of exchanges that have failed.
  var failureCount: Int { count.withLock { $0 - $0 / 3 } }

  /// The number of exchanges that have succeeded.
  var successCount: Int { count.withLock { $0 / 3 } }

  /// How often the statistics were merged.
  var mergeCount: Int { merges.load(ordering: .acquiring) }

  /// Whether all exchanges fail from now on.
  var isGone: Bool {
    get { gone.load(ordering: .acquiring) }
    set { gone.store(newValue, ordering: .releasing) }
  }

  /// Whether the store can't be advanced, for example because of a job that can't be stored.
  var isStuck: Bool {
    get { stuck.load(ordering: .acquiring) }
    set { stuck.store(newValue, ordering: .releasing) }
  }

  func exchange(_ exchange: JobExchange) async throws -> JobExchangeAnswer {
    if fault == .lostHints || fault == .lostWriteAnswers { return store.exchange(exchange) }
    if fault == .constantHints {
      var hints = JobHints()
      hints.claimableQueues = ["default"]
      observers.send(hints)
      return store.exchange(exchange)
    }
    if isGone { throw JobError(.storeFailed, "The store is gone.") }
    let number = count.withLock { count in
      count += 1
      return count
    }
    switch number % 3 {
    case 1: throw JobError(.storeFailed, "The store is away.")
    case 2:
      _ = store.exchange(exchange)
      throw JobError(.storeFailed, "The answer was lost.")
    default: return store.exchange(exchange)
    }
  }

  var maxPayloadSize: Int { store.maxPayloadSize }
  var now: StoreTime { store.now }
  func enqueue(_ jobs: [NewJob]) throws -> [Enqueued] { try store.enqueue(jobs) }
  func write(_ writes: [FencedWrite]) throws -> [FencedAnswer] {
    let answers = try store.write(writes)
    if fault == .lostWriteAnswers { throw JobError(.storeFailed, "The answer was lost.") }
    return answers
  }
  func checkpoint(_ name: String, of id: JobID) -> JobPayload? { store.checkpoint(name, of: id) }
  func register(_ description: WorkerDescription) -> WorkerID { store.register(description) }
  func beat(_ worker: WorkerID, running attempts: [JobFence]) -> WorkerBeat { store.beat(worker, running: attempts) }
  func unregister(_ worker: WorkerID, isRunningCode: Bool) {
    store.unregister(worker, isRunningCode: isRunningCode)
    onUnregister()
  }
  func rescue() -> [JobID] { store.rescue() }
  func mergeStatistics() { merges.add(1, ordering: .acquiringAndReleasing) }
  func advance() throws -> StoreTime? {
    if isStuck { throw JobError(.storeFailed, "A job can't be stored.") }
    return store.advance()
  }
  func perform(_ command: JobCommand) throws -> Int { try store.perform(command) }
  func perform(_ command: ScheduleCommand, on name: String) -> ScheduleAnswer { store.perform(command, on: name) }
  func schedules() -> [ScheduleRecord] { store.schedules() }
  func jobs(_ filter: JobFilter, after id: JobID?, limit: Int) -> [JobRecord] {
    store.jobs(filter, after: id, limit: limit)
  }
  func edges(of ids: [JobID]) -> [JobEdge] { store.edges(of: ids) }
  func counts() -> [String: JobQueueCounts] { store.counts() }
  func snapshot(_ parts: JobsSnapshot.Parts) -> JobsSnapshot { store.snapshot(parts) }
  func observeHints(_ handler: @escaping @Sendable (JobHint) -> Void) -> any AnyObject & Sendable {
    fault == .lostAnswers ? store.observeHints(handler) : observers.add(handler)
  }
}
