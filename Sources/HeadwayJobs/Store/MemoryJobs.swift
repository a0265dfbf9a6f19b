/// The tables of a ``MemoryJobStore``: rows, and indexes of waiting jobs, keys and times.
struct MemoryJobs {
  private(set) var jobs: [JobID: JobRecord] = [:]
  private(set) var workers: [WorkerID: WorkerDescription] = [:]
  /// The times at which the workers started.
  private(set) var starts: [WorkerID: StoreTime] = [:]
  var checkpoints: [JobID: [String: JobPayload]] = [:]
  /// The queues that are paused or have settings.
  var queues: [String: JobQueueRecord] = [:]
  var schedules: [String: ScheduleRecord] = [:]
  var dead: Set<WorkerID> = []
  /// The workers that have stopped while code of their jobs still runs.
  var stopped: Set<WorkerID> = []
  private(set) var waiting = MemoryWaitingLists()
  /// The counts and buckets for limits.
  var limits = MemoryLimits()
  var graph = MemoryGraph()
  /// The keys that are held for a time.
  var timedKeys: [String: (id: JobID, until: StoreTime)] = [:]
  /// The jobs that hold a key of the scopes `waiting` and `unfinished`.
  private var holders: [String: JobID] = [:]
  /// The jobs that a worker runs.
  private var running: [WorkerID: Set<JobID>] = [:]
  /// The unfinished jobs that wait for a time, or have a deadline.
  private var timed: Set<JobID> = []
  private var lastID: Int64 = 0
  private var lastWorker: Int64 = 0
  private var lastPosition: Int64 = 0

  // MARK: Jobs

  mutating func nextID() -> JobID {
    lastID += 1
    return JobID(rawValue: lastID)
  }

  mutating func nextPosition() -> Int64 {
    lastPosition += 1
    return lastPosition
  }

  /// Writes a row, and updates the indexes.
  mutating func put(_ job: JobRecord) {
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

  mutating func remove(_ id: JobID) {
    // A new job that is cancelled and not kept has edges, and was never stored.
    if let job = jobs.removeValue(forKey: id) { removeFromIndexes(job) }
    checkpoints[id] = nil
    graph.remove(id)
  }

  /// Changes properties of a job that are in no index.
  mutating func change(_ id: JobID, _ body: (inout JobRecord) -> Void) {
    if var job = jobs[id] {
      body(&job)
      jobs[id] = job
    }
  }

  func holder(of unique: UniqueKey, at now: StoreTime) -> JobID? {
    guard case .duration = unique.scope else { return holders[unique.key] }
    return timedKeys[unique.key].flatMap { $0.until > now ? $0.id : nil }
  }

  /// Returns the jobs that wait for a time, in its order, up to a limit.
  func jobs(until now: StoreTime, by time: (JobRecord) -> StoreTime?, limit: Int) -> [JobRecord] {
    let found = timed.compactMap { id -> (time: StoreTime, job: JobRecord)? in
      guard let job = jobs[id], let time = time(job), time <= now else { return nil }
      return (time, job)
    }
    return found.sorted { ($0.time, $0.job.id) < ($1.time, $1.job.id) }.prefix(limit).map(\.job)
  }

  /// The earliest time at which something happens.
  func nextTime(after now: StoreTime) -> StoreTime? {
    let times = timed.compactMap { jobs[$0] }.flatMap { [$0.scheduledTime, $0.deadline] }
    let nextTick = schedules.values.compactMap(\.next).min()
    return (times + [nextTick, limits.nextToken(after: now)]).compactMap(\.self).min()
  }

  // MARK: Workers

  mutating func register(_ description: WorkerDescription, at now: StoreTime) -> WorkerID {
    lastWorker += 1
    let worker = WorkerID(rawValue: lastWorker)
    workers[worker] = description
    starts[worker] = now
    return worker
  }

  /// Removes a worker, and returns whether it existed.
  mutating func remove(_ worker: WorkerID) -> Bool {
    dead.remove(worker)
    starts[worker] = nil
    return workers.removeValue(forKey: worker) != nil
  }

  func runningJobs(of worker: WorkerID) -> [JobRecord] {
    running[worker, default: []].sorted().compactMap { jobs[$0] }
  }
}

extension JobRecord {
  /// The time at which a scheduled job is due; nil for other jobs.
  var scheduledTime: StoreTime? { state == .scheduled ? dueTime : nil }

  /// The deadline of a job that has not started; nil for other jobs.
  var deadlineToStart: StoreTime? { state.isFinished || state == .running ? nil : deadline }
}
