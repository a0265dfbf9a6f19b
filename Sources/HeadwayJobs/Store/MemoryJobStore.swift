import Headway
import Synchronization

/// A store in memory, for tests of code that uses jobs, and for jobs that don't need to survive the process.
///
/// It behaves like other stores, except that nothing is durable.
///
/// You can call the functions on any thread. They don't suspend.
public final class MemoryJobStore: JobStore {
  private let state = Mutex(MemoryRows())
  private let observers = HintObservers()
  private let time: @Sendable () -> StoreTime

  /// The maximum size of a payload in bytes.
  public let maxPayloadSize: Int
  /// The maximum size of a result, and of the value of a checkpoint, in bytes.
  public let maxResultSize: Int

  /// Creates an empty store with the system's time.
  ///
  /// - Parameters:
  ///   - maxPayloadSize: The maximum size of a payload in bytes.
  ///   - maxResultSize: The maximum size of a result, and of the value of a checkpoint, in bytes.
  /// - Precondition: The sizes are positive.
  public convenience init(maxPayloadSize: Int = 64 * 1_024, maxResultSize: Int = 1_024 * 1_024) {
    self.init(maxPayloadSize: maxPayloadSize, maxResultSize: maxResultSize, time: StoreTime.now)
  }

  /// Creates an empty store with the time of a clock.
  ///
  /// - Parameters:
  ///   - maxPayloadSize: The maximum size of a payload in bytes.
  ///   - maxResultSize: The maximum size of a result, and of the value of a checkpoint, in bytes.
  ///   - clock: Measures the time since the store was created. In tests, pass a `ManualClock` of `HeadwayTestKit`, and
  ///     pass the same clock to ``Jobs`` and to the workers.
  ///   - startTime: The time of the store when it is created; the system's time by default.
  /// - Precondition: The sizes are positive.
  public convenience init(
    maxPayloadSize: Int = 64 * 1_024, maxResultSize: Int = 1_024 * 1_024,
    clock: some Clock<Duration>, startTime: StoreTime = .now()
  ) {
    let start = clock.now
    self.init(maxPayloadSize: maxPayloadSize, maxResultSize: maxResultSize) {
      startTime + start.duration(to: clock.now)
    }
  }

  /// Creates an empty store with the time of another object, which can also move back.
  ///
  /// - Parameters:
  ///   - maxPayloadSize: The maximum size of a payload in bytes.
  ///   - maxResultSize: The maximum size of a result, and of the value of a checkpoint, in bytes.
  ///   - time: Returns the current time.
  package init(
    maxPayloadSize: Int = 64 * 1_024, maxResultSize: Int = 1_024 * 1_024, time: @escaping @Sendable () -> StoreTime
  ) {
    requireSizes(maxPayloadSize, maxResultSize)
    self.maxPayloadSize = maxPayloadSize
    self.maxResultSize = maxResultSize
    self.time = time
  }

  /// The time of the store's clock.
  public var now: StoreTime { time() }

  /// Marks a worker as dead, as if its process had been killed: workers return its jobs to their queues.
  public func kill(_ worker: WorkerID) { state.withLock { _ = $0.memory.dead.insert(worker) } }
}

@_spi(JobStore) extension MemoryJobStore: JobStoreBackend {
  /// Stores new jobs as a whole or not at all.
  ///
  /// - Parameter jobs: The jobs to store, in order.
  /// - Returns: The ID of each job.
  /// - Throws: ``JobError`` if a queue is full, or if the jobs wait for unknown ones, or for each other in a cycle.
  public func enqueue(_ jobs: [NewJob]) throws -> [Enqueued] {
    try update { try $0.enqueue(jobs) }
  }

  /// Records the endings of attempts and claims jobs for a worker.
  ///
  /// - Parameter exchange: The endings and claims of one worker.
  /// - Returns: The result for each ending, and the claimed jobs.
  public func exchange(_ exchange: JobExchange) -> JobExchangeAnswer {
    change { try $0.exchange(exchange) }
  }

  /// Executes the writes of running attempts.
  ///
  /// - Parameter writes: The writes to execute, in order.
  /// - Returns: The result for each write.
  /// - Throws: ``JobError`` if new jobs wait for unknown ones, or for each other in a cycle. Nothing was written.
  public func write(_ writes: [FencedWrite]) throws -> [FencedAnswer] {
    try update { rows in
      let before = writes.count > 1 ? rows.memory : nil
      do {
        return try writes.map(rows.write)
      } catch {
        if let before { rows.memory = before }
        throw error
      }
    }
  }

  /// Returns a value that an attempt of a job has stored.
  ///
  /// - Parameters:
  ///   - name: The name of the checkpoint.
  ///   - id: The ID of the job.
  /// - Returns: The value, or nil if there is none.
  public func checkpoint(_ name: String, of id: JobID) -> JobPayload? {
    state.withLock { $0.memory.checkpoints[id]?[name] }
  }

  /// Adds a worker.
  ///
  /// - Parameter description: A description of the worker.
  /// - Returns: The identity of the worker.
  public func register(_ description: WorkerDescription) -> WorkerID {
    let now = time()
    return state.withLock { $0.memory.register(description, at: now) }
  }

  /// Confirms that a worker is alive.
  ///
  /// - Parameters:
  ///   - worker: The worker that is alive.
  ///   - attempts: The attempts that it runs.
  /// - Returns: The cancelled and lost attempts, and whether the worker is still registered.
  public func beat(_ worker: WorkerID, running attempts: [JobFence]) -> WorkerBeat {
    read { memory in
      var beat = WorkerBeat(isRegistered: memory.workers.keys.contains(worker) && !memory.dead.contains(worker))
      for fence in attempts {
        guard let job = memory.jobs[fence.id], job.isRun(by: fence) else {
          beat.lost.insert(fence)
          continue
        }
        if job.isCancelRequested { beat.cancellations.insert(fence) }
      }
      return beat
    }
  }

  /// Removes a worker that has stopped.
  ///
  /// Jobs that it has not ended return to their queues, and their attempts are not counted.
  ///
  /// - Parameters:
  ///   - worker: The worker that has stopped.
  ///   - isRunningCode: Whether code of jobs still runs. The jobs then return to their queues after
  ///     ``kill(_:)`` and ``rescue()``.
  public func unregister(_ worker: WorkerID, isRunningCode: Bool) {
    change { rows in
      if isRunningCode {
        rows.memory.stopped.insert(worker)
      } else {
        _ = try rows.remove(worker, isCrash: false)
      }
    }
  }

  /// Returns the jobs of dead workers to their queues and counts a crash for each.
  ///
  /// - Returns: The jobs that were returned, or have failed or were cancelled instead.
  public func rescue() -> [JobID] {
    change { rows in try rows.memory.dead.sorted().flatMap { try rows.remove($0, isCrash: true) } }
  }

  /// Adds the jobs of due ticks, makes due jobs wait for a worker, cancels jobs that have missed their deadline, and
  /// continues to cancel the dependents of failed jobs.
  ///
  /// - Returns: The earliest time when a tick or a job is due, a job misses its deadline, or a rate permits another
  ///   claim; nil if there is none.
  public func advance() -> StoreTime? { change { try $0.advance() } }

  /// Changes many jobs, or a queue.
  ///
  /// - Parameter command: The command to execute.
  /// - Returns: The number of jobs or queues that were changed.
  /// - Throws: ``JobError`` with the code ``JobError/Code/keyHeld`` or ``JobError/Code/dependencyFailed`` if no job can
  ///   be run again because other jobs hold the keys, or dependencies have failed.
  public func perform(_ command: JobCommand) throws -> Int { try perform(command, by: nil) }

  /// Changes many jobs, or a queue, and records the change.
  ///
  /// - Parameters:
  ///   - command: The command to execute.
  ///   - origin: The author of the change; nil to record nothing.
  /// - Returns: The number of jobs or queues that were changed.
  /// - Throws: ``JobError``, like ``perform(_:)``.
  public func perform(_ command: JobCommand, by origin: JobsChangeOrigin?) throws -> Int {
    try update { try $0.perform(command, by: origin) }
  }

  /// Changes a schedule.
  ///
  /// - Parameters:
  ///   - command: The change to make.
  ///   - name: The name of the schedule.
  /// - Returns: Whether there was a schedule with this name, and the job that was added.
  public func perform(_ command: ScheduleCommand, on name: String) -> ScheduleAnswer {
    perform(command, on: name, by: nil)
  }

  /// Changes a schedule, and records the change.
  ///
  /// - Parameters:
  ///   - command: The change to make.
  ///   - name: The name of the schedule.
  ///   - origin: The author of the change; nil to record nothing.
  /// - Returns: Whether there was a schedule with this name, and the job that was added.
  public func perform(_ command: ScheduleCommand, on name: String, by origin: JobsChangeOrigin?) -> ScheduleAnswer {
    change { try $0.change(name, command, by: origin) }
  }

  /// Returns the recorded changes, newest first.
  ///
  /// - Parameters:
  ///   - job: A job, to return only changes of this job alone; nil for all changes.
  ///   - number: Only records with smaller numbers are returned; nil for all.
  ///   - limit: The maximum number of records.
  /// - Returns: The records.
  public func changes(of job: JobID?, before number: Int64?, limit: Int) -> [JobsChangeRecord] {
    read { $0.changes(of: job, before: number, limit: limit) }
  }

  /// Returns all schedules.
  ///
  /// - Returns: The schedules, ordered by name.
  public func schedules() -> [ScheduleRecord] {
    read { memory in memory.schedules.values.sorted { $0.name < $1.name } }
  }

  /// Returns jobs ordered by ID.
  ///
  /// - Parameters:
  ///   - filter: The jobs to return.
  ///   - id: Only jobs with greater IDs are returned; nil for all.
  ///   - limit: The maximum number of jobs.
  /// - Returns: The matching jobs, at most `limit`.
  /// - Complexity: O(*n* log *n*) in the number of jobs of the store.
  public func jobs(_ filter: JobFilter, after id: JobID?, limit: Int) -> [JobRecord] {
    read { memory in
      let found = memory.jobs.values.filter { filter.contains($0) && $0.id.rawValue > id?.rawValue ?? .min }
      return Array(found.sorted { $0.id < $1.id }.prefix(limit))
    }
  }

  /// Returns the edges from and to jobs.
  ///
  /// - Parameter ids: The IDs of the jobs.
  /// - Returns: The edges, ordered by the dependency's ID and then by the dependent's ID.
  public func edges(of ids: [JobID]) -> [JobEdge] {
    read { memory in
      let edges = ids.flatMap { memory.graph.edges(from: $0) + memory.graph.edges(to: $0) }
      return Set(edges).sorted { ($0.dependency, $0.dependent) < ($1.dependency, $1.dependent) }
    }
  }

  /// Returns how many jobs of each queue are in each state.
  ///
  /// - Returns: The counts by queue, for queues that have jobs, are paused, or have settings.
  public func counts() -> [String: JobQueueCounts] {
    read { $0.counts(includesJobs: true) }
  }

  /// Returns the queues, workers and failures at one moment.
  ///
  /// - Parameter parts: The parts to read.
  /// - Returns: A snapshot with the requested parts.
  public func snapshot(_ parts: JobsSnapshot.Parts) -> JobsSnapshot {
    let now = time()
    return read { $0.snapshot(parts, at: now) }
  }

  /// Whether the store keeps statistics: true.
  public var keepsStatistics: Bool { true }

  /// Returns the activity of the jobs in a span of time that ends now.
  ///
  /// - Parameters:
  ///   - span: The time that the statistics describe.
  ///   - queue: Only jobs of this queue are counted; nil for all.
  /// - Returns: The activity in each period, by queue and kind.
  public func statistics(over span: JobStatistics.Span, queue: String?) -> JobStatistics {
    var sum = StatisticsSum(over: span, queue: queue, at: time())
    for row in state.withLock({ $0.statistics.rows }) where row.period.level == sum.level {
      sum.add(row.group, at: row.period.startTime)
    }
    return sum.result
  }

  /// Returns groups of failed attempts.
  ///
  /// - Parameter id: The only group to return; nil for all.
  /// - Returns: The groups, with the counts of the last hours.
  public func errorGroups(_ id: JobErrorGroup.ID?) -> [JobErrorGroup] {
    let now = time()
    return read { $0.errorGroups(id, at: now) }
  }

  /// Returns the names of queues that have waiting jobs.
  ///
  /// - Parameters:
  ///   - name: Only names after this one are returned; nil for all.
  ///   - limit: The maximum number of names.
  /// - Returns: The names, in ascending order.
  public func waitingQueues(after name: String?, limit: Int) -> [String] {
    let names = read { memory in memory.waiting.queues }
    return Array(names.filter { $0 > name ?? "" }.sorted().prefix(limit))
  }

  /// Calls a function with hints about changes, until the returned token is released.
  ///
  /// - Parameter handler: A function that is called with each hint, on the thread that has changed the store.
  /// - Returns: A token that keeps the function registered. Release it to end the calls.
  public func observeHints(_ handler: @escaping @Sendable (JobHint) -> Void) -> any AnyObject & Sendable {
    observers.add(handler)
  }

  private func read<Result>(_ body: (MemoryJobs) -> Result) -> Result { state.withLock { body($0.memory) } }

  /// Changes the jobs under the lock and calls observers after releasing it.
  private func update<Result: Sendable>(_ body: (MemoryRows) throws -> Result) throws -> Result {
    let now = time()
    let (result, hints) = try state.withLock { rows in
      rows.begin(at: now)
      let result = try body(rows)
      try rows.settle()
      try rows.storeActivity()
      return (result, rows.hints)
    }
    observers.send(hints)
    return result
  }

  /// Changes the jobs like ``update(_:)``, by a function that throws no error if the rows don't.
  private func change<Result: Sendable>(_ body: (MemoryRows) throws -> Result) -> Result {
    do { return try update(body) } catch { misuse("Rows in memory throw no errors: \(error)") }
  }
}
