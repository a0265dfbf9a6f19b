/// The tables of a store that keeps them in memory: rows, and indexes of waiting jobs, keys and times.
///
/// The rows of a store use these tables for the statements of ``JobRows``. A store that also writes its rows elsewhere
/// restores the tables with the same functions, in any order.
@_spi(JobStore) public struct MemoryJobs: Sendable {
  /// The jobs.
  public private(set) var jobs: [JobID: JobRecord] = [:]
  /// The workers.
  public private(set) var workers: [WorkerID: WorkerDescription] = [:]
  /// The times when the workers started.
  public private(set) var starts: [WorkerID: StoreTime] = [:]
  /// The checkpoints of each job, by name.
  public var checkpoints: [JobID: [String: JobPayload]] = [:]
  /// The queues that are paused or have settings.
  public var queues: [String: JobQueueRecord] = [:]
  /// The schedules, by name.
  public var schedules: [String: ScheduleRecord] = [:]
  /// The workers whose processes have died.
  public var dead: Set<WorkerID> = []
  /// The workers that have stopped while code of their jobs still runs.
  public var stopped: Set<WorkerID> = []
  private(set) var waiting = MemoryWaitingLists()
  /// The counts and buckets for limits.
  public var limits = MemoryLimits()
  /// The dependencies between jobs.
  public var graph = MemoryGraph()
  /// The keys that are held for a time.
  public var timedKeys: [String: (id: JobID, until: StoreTime)] = [:]
  /// The jobs that hold a key of the scopes `waiting` and `unfinished`.
  private var holders: [String: JobID] = [:]
  /// The jobs that a worker runs.
  private var running: [WorkerID: Set<JobID>] = [:]
  /// The unfinished jobs that wait for a time, or have a deadline.
  private var timed: Set<JobID> = []
  /// The error groups, whose counts end with the hours when they were last seen.
  public var errors: [JobErrorGroup.ID: JobErrorGroup] = [:]
  /// The records of changes by people, ordered by number.
  public private(set) var changes: [MemoryChange] = []
  /// The last numbers that were used.
  public var lastNumbers = LastNumbers()

  /// The last numbers that a store has used.
  ///
  /// No number is used again.
  public struct LastNumbers: Hashable, Codable, Sendable {
    /// The ID of a job.
    public var job: Int64 = 0
    /// The number of a worker.
    public var worker: Int64 = 0
    /// The place of a waiting job.
    public var position: Int64 = 0
    /// The number of a change by a person.
    public var change: Int64 = 0

    /// Creates the numbers of an empty store.
    public init() {}
  }

  /// Creates empty tables.
  public init() {}

  // MARK: Jobs

  /// Returns a new number for a job.
  public mutating func nextID() -> JobID {
    lastNumbers.job += 1
    return JobID(rawValue: lastNumbers.job)
  }

  /// Returns a place after all other jobs.
  public mutating func nextPosition() -> Int64 {
    lastNumbers.position += 1
    return lastNumbers.position
  }

  /// Writes a row and updates the indexes.
  ///
  /// - Parameter job: The job, which might be new.
  public mutating func put(_ job: JobRecord) {
    if let old = jobs[job.id] { removeFromIndexes(old) }
    jobs[job.id] = job
    if job.holdsKey, let unique = job.settings.unique { holders[unique.key] = job.id }
    limits.insert(job)
    if job.state == .running, let owner = job.owner { running[owner, default: []].insert(job.id) }
    if job.scheduledTime != nil || job.deadlineToStart != nil { timed.insert(job.id) }
    if job.state == .waiting { waiting.insert(job) }
  }

  private mutating func removeFromIndexes(_ job: JobRecord) {
    if job.holdsKey, let unique = job.settings.unique, holders[unique.key] == job.id { holders[unique.key] = nil }
    limits.remove(job)
    if job.state == .waiting { waiting.remove(job) }
    if job.state == .running, let owner = job.owner {
      running[owner]?.remove(job.id)
      if running[owner]?.isEmpty == true { running[owner] = nil }
    }
    timed.remove(job.id)
  }

  /// Removes a job, its checkpoints and its dependencies.
  public mutating func remove(_ id: JobID) {
    // A new job that is cancelled and not kept has edges and was never stored.
    if let job = jobs.removeValue(forKey: id) { removeFromIndexes(job) }
    checkpoints[id] = nil
    graph.remove(id)
  }

  /// Changes properties of a job that are in no index.
  ///
  /// - Parameters:
  ///   - id: The ID of the job. Nothing happens if it does not exist.
  ///   - body: The function that changes the job.
  public mutating func change(_ id: JobID, _ body: (inout JobRecord) -> Void) {
    if var job = jobs[id] {
      body(&job)
      jobs[id] = job
    }
  }

  func isUnfinished(_ id: JobID) -> Bool { jobs[id].map { !$0.state.isFinished } ?? false }

  /// Returns the job that holds a key.
  ///
  /// - Parameters:
  ///   - unique: The key, with its scope.
  ///   - now: The time of the store's clock.
  /// - Returns: The job, or nil if there is none.
  public func holder(of unique: UniqueKey, at now: StoreTime) -> JobID? {
    guard case .duration = unique.scope else { return holders[unique.key] }
    return timedKeys[unique.key].flatMap { $0.until > now ? $0.id : nil }
  }

  /// Returns the jobs whose time has come, earliest first.
  ///
  /// - Parameters:
  ///   - now: The time of the store's clock.
  ///   - time: The time of a job: ``JobRecord/scheduledTime`` or ``JobRecord/deadlineToStart``.
  ///   - limit: The maximum number of jobs.
  /// - Returns: The jobs whose time has come.
  public func jobs(until now: StoreTime, by time: (JobRecord) -> StoreTime?, limit: Int) -> [JobRecord] {
    let found = timed.compactMap { id -> (time: StoreTime, job: JobRecord)? in
      guard let job = jobs[id], let time = time(job), time <= now else { return nil }
      return (time, job)
    }
    return found.sorted { ($0.time, $0.job.id) < ($1.time, $1.job.id) }.prefix(limit).map(\.job)
  }

  /// The earliest time when a tick or a job is due, a job misses its deadline, or a rate permits another claim.
  ///
  /// - Parameter now: The time of the store's clock.
  /// - Returns: The time, or nil if there is none.
  public func nextTime(after now: StoreTime) -> StoreTime? {
    let times = timed.compactMap { jobs[$0] }.flatMap { [$0.scheduledTime, $0.deadline] }
    let nextTick = schedules.values.compactMap(\.nextTickTime).min()
    return (times + [nextTick, limits.nextToken(after: now)]).compactMap(\.self).min()
  }

  /// Removes full buckets, and the turns of queues that have no waiting jobs with keys.
  ///
  /// - Parameter now: The time of the store's clock.
  public mutating func pruneLimits(at now: StoreTime) { limits.prune(at: now, waiting) }

  // MARK: Changes by people

  /// Adds or replaces the record of a change.
  ///
  /// - Parameter change: The record with its token. If the number of the record is 0, it receives the next number.
  /// - Returns: The row as it was stored.
  @discardableResult
  public mutating func put(_ change: MemoryChange) -> MemoryChange {
    var change = change
    if change.record.number == 0 {
      lastNumbers.change += 1
      change.record.number = lastNumbers.change
    }
    if let index = changes.lastIndex(where: { $0.record.number == change.record.number }) {
      changes[index] = change
    } else {
      changes.append(change)
    }
    return change
  }

  /// Returns the records of changes, newest first.
  ///
  /// - Parameters:
  ///   - job: A job, to return only changes of this job alone; nil for all changes.
  ///   - number: Only records with smaller numbers are returned; nil for all.
  ///   - limit: The maximum number of records.
  /// - Returns: The records.
  public func changes(of job: JobID?, before number: Int64?, limit: Int) -> [JobsChangeRecord] {
    let found = changes.reversed().lazy.map(\.record).filter { record in
      record.number < number ?? .max && (job == nil || record.job == job)
    }
    return Array(found.prefix(limit))
  }

  /// Removes the records of changes past their retention period.
  ///
  /// - Parameter now: The time of the store's clock.
  public mutating func pruneChanges(at now: StoreTime) {
    changes.removeAll { $0.record.time + JobsChangeRecord.retention <= now }
  }

  // MARK: Workers

  /// Adds a worker with a new identity.
  ///
  /// - Parameters:
  ///   - description: A description of the worker.
  ///   - now: The time of the store's clock.
  /// - Returns: The identity of the worker.
  public mutating func register(_ description: WorkerDescription, at now: StoreTime) -> WorkerID {
    lastNumbers.worker += 1
    let worker = WorkerID(rawValue: lastNumbers.worker)
    put(worker, description, since: now)
    return worker
  }

  /// Writes the row of a worker.
  ///
  /// - Parameters:
  ///   - worker: The identity of the worker.
  ///   - description: A description of the worker.
  ///   - start: When the worker started.
  public mutating func put(_ worker: WorkerID, _ description: WorkerDescription, since start: StoreTime) {
    workers[worker] = description
    starts[worker] = start
  }

  /// Removes a worker.
  ///
  /// - Parameter worker: The identity of the worker.
  /// - Returns: Whether the worker existed.
  public mutating func remove(_ worker: WorkerID) -> Bool {
    dead.remove(worker)
    stopped.remove(worker)
    starts[worker] = nil
    return workers.removeValue(forKey: worker) != nil
  }

  /// Returns the jobs that a worker runs, ordered by ID.
  public func runningJobs(of worker: WorkerID) -> [JobRecord] {
    running[worker, default: []].sorted().compactMap { jobs[$0] }
  }
}

extension JobRecord {
  /// The time when a scheduled or retrying job is due; nil for other jobs.
  @_spi(JobStore) public var scheduledTime: StoreTime? { state.waitsForTime ? dueTime : nil }

  /// The deadline of a job that has not started; nil for other jobs.
  @_spi(JobStore) public var deadlineToStart: StoreTime? { state.isFinished || state == .running ? nil : deadline }
}
