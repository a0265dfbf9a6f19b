/// The content of a ``MemoryJobStore``.
///
/// It has the same parts as a database: rows, and indexes of waiting jobs, keys and times. ``JobTransitions`` and
/// ``JobGraph`` make all changes of a job's state.
struct MemoryJobs {
  var now = StoreTime(microseconds: 0)
  private(set) var jobs: [JobID: JobRecord] = [:]
  private(set) var workers: [WorkerID: WorkerDescription] = [:]
  /// The times at which the workers started.
  private(set) var starts: [WorkerID: StoreTime] = [:]
  private(set) var checkpoints: [JobID: [String: JobPayload]] = [:]
  /// The queues that are paused or have settings.
  private(set) var queues: [String: JobQueueRecord] = [:]
  var schedules: [String: ScheduleRecord] = [:]
  var dead: Set<WorkerID> = []
  /// The workers that have stopped while code of their jobs still runs.
  var stopped: Set<WorkerID> = []
  /// The hints for observers, which are called after the change.
  var hints = JobHints()
  private(set) var waiting = MemoryWaitingLists()
  /// The counts and buckets for limits.
  private(set) var limits = MemoryLimits()
  var graph = MemoryGraph()
  var ended: [JobGraph.Standing] = []
  var meetBudget = JobGraph.maxMetCount
  var cascadeBudget = JobGraph.maxCascadeCount
  var awaited: Set<JobID> = []
  /// The jobs that hold a key of the scopes `waiting` and `unfinished`.
  private var holders: [String: JobID] = [:]
  /// The keys that are held for a time.
  private var timedKeys: [String: (id: JobID, until: StoreTime)] = [:]
  /// The jobs that a worker runs.
  private var running: [WorkerID: Set<JobID>] = [:]
  /// The unfinished jobs that wait for a time, or have a deadline.
  private var timed: Set<JobID> = []
  private var lastID: Int64 = 0
  private var lastWorker: Int64 = 0
  private var lastPosition: Int64 = 0

  // MARK: New jobs

  /// Adds all jobs, or none if a queue is full or a dependency is unknown.
  ///
  /// - Parameters:
  ///   - batch: The jobs.
  ///   - parent: The running job whose dependents must also wait for the new ones; nil if there is none.
  ///   - now: The time of the store's clock.
  /// - Throws: `JobError`.
  /// - Returns: The number of each job.
  mutating func enqueue(
    _ batch: [NewJob], beforeDependentsOf parent: JobID? = nil, at now: StoreTime
  ) throws -> [Enqueued] {
    for new in batch {
      guard let limit = queues[new.queue]?.settings.pendingLimit, limits.pendingCount(of: new.queue) >= limit else {
        continue
      }
      let other = new.settings.unique.flatMap { holder(of: $0, at: now) }
      if other == nil { throw JobError(full: new.queue, limit: limit) }
    }
    return try addBatch(batch, beforeDependentsOf: parent)
  }

  mutating func add(
    _ new: NewJob, _ dependencies: [JobGraph.Requirement], hasDependents: Bool, at now: StoreTime
  ) throws -> Enqueued {
    if let unique = new.settings.unique, let other = holder(of: unique, at: now) {
      if unique.conflict == .replace, let old = jobs[other] {
        var job = old
        if JobTransitions.replace(&job, with: new, at: now) {
          // The job becomes ready now, so it takes a place after those that were already ready.
          if old.state == .scheduled, job.state == .waiting { place(&job, at: now) }
          put(job, at: now)
        }
      }
      return Enqueued(id: other, isNew: false)
    }
    lastID += 1
    var job = JobRecord(id: JobID(rawValue: lastID), new, at: now)
    if case .duration(let duration) = job.settings.unique?.scope, let key = job.settings.unique?.key {
      timedKeys[key] = (job.id, now + duration)
    }
    (job.position, job.ready) = (nextPosition(), now)
    try insertEdges(of: &job, dependencies)
    job.hasDependents = hasDependents && !job.state.isFinished
    put(job, at: now)
    return Enqueued(id: job.id, isNew: true)
  }

  func holder(of unique: UniqueKey, at now: StoreTime) -> JobID? {
    guard case .duration = unique.scope else { return holders[unique.key] }
    return timedKeys[unique.key].flatMap { $0.until > now ? $0.id : nil }
  }

  // MARK: Attempts

  mutating func claim(_ claim: JobClaim, by worker: WorkerID, at now: StoreTime) -> [JobRecord] {
    MemoryClaim.run(claim, by: worker, at: now, in: &self)
  }

  mutating func end(_ ending: JobEnding, at now: StoreTime) -> JobExchangeAnswer.Verdict {
    guard var job = jobs[ending.fence.id] else { return .refused }
    switch JobTransitions.end(&job, ending, at: now) {
    case .refused: return .refused
    case .alreadyRecorded: return .recorded
    case .recorded:
      if !job.state.isFinished, ending.action != .release { place(&job, at: now) }
      changeQueue(job.queue) { $0.note(ending.action) }
      put(job, at: now)
      return .recorded
    }
  }

  mutating func releaseAll(of worker: WorkerID, except running: Set<JobFence>, at now: StoreTime) {
    for job in runningJobs(of: worker) {
      if let fence = job.fence, !running.contains(fence) { _ = end(JobEnding(fence, .release), at: now) }
    }
  }

  mutating func write(_ write: FencedWrite, at now: StoreTime) throws -> FencedAnswer {
    guard var job = jobs[write.fence.id], job.isRun(by: write.fence) else { return .refused }
    switch write.content {
    case .checkpoint(let name, let value): checkpoints[job.id, default: [:]][name] = value
    case .progress(let progress):
      job.progress = progress
      jobs[job.id] = job
    case .log(let text):
      job.history.append(JobTransition(time: now, state: .running, worker: job.owner, note: text))
      jobs[job.id] = job
    case .enqueue(let new):
      do {
        return .enqueued(try enqueue([new], at: now)[0])
      } catch let error as JobError where error.code == .queueFull {
        return .queueFull
      }
    case .enqueueBatch(let new, let isBefore):
      do {
        return .enqueuedBatch(try enqueue(new, beforeDependentsOf: isBefore ? job.id : nil, at: now))
      } catch let error as JobError where error.code == .queueFull {
        return .queueFull
      }
    }
    return .written
  }

  // MARK: Workers

  mutating func register(_ description: WorkerDescription, at now: StoreTime) -> WorkerID {
    lastWorker += 1
    let worker = WorkerID(rawValue: lastWorker)
    workers[worker] = description
    starts[worker] = now
    return worker
  }

  mutating func remove(_ worker: WorkerID, isCrash: Bool, at now: StoreTime) -> [JobID] {
    dead.remove(worker)
    let isCrash = isCrash && stopped.remove(worker) == nil
    guard workers.removeValue(forKey: worker) != nil else { return [] }
    starts[worker] = nil
    defer { running[worker] = nil }
    let left = runningJobs(of: worker)
    for var job in left {
      JobTransitions.rescue(&job, isCrash: isCrash, at: now)
      put(job, at: now)
    }
    return left.map(\.id)
  }

  func runningJobs(of worker: WorkerID) -> [JobRecord] {
    running[worker, default: []].sorted().compactMap { jobs[$0] }
  }

  // MARK: Time

  mutating func advance(to now: StoreTime) -> StoreTime? {
    let limit = JobCommand.maxChangedCount
    let hasMoreTicks = addAllDueJobs(limit: limit)
    continueAllCascades()
    let late = timed.compactMap { jobs[$0] }.filter { $0.deadline.map { $0 <= now } ?? false }
    for var job in late.sorted(by: { ($0.deadline ?? now, $0.id) < ($1.deadline ?? now, $1.id) }).prefix(limit) {
      JobTransitions.expire(&job, at: now)
      put(job, at: now)
    }
    settleAll()
    let due = timed.compactMap { jobs[$0] }.filter { $0.dueTime.map { $0 <= now } ?? false }
    for var job in due.sorted(by: { ($0.due ?? now, $0.id) < ($1.due ?? now, $1.id) }).prefix(limit) {
      JobTransitions.becomeWaiting(&job, at: now)
      place(&job, at: now)
      put(job, at: now)
    }
    settleAll()
    if hasMoreTicks || late.count >= limit || due.count >= limit || !graph.cascades.isEmpty { return now }
    let times = timed.compactMap { jobs[$0] }.flatMap { [$0.dueTime, $0.deadline] }
    return (times + [nextTick, limits.nextToken(after: now)]).compactMap(\.self).min()
  }

  // MARK: Commands

  mutating func perform(_ command: JobCommand, at now: StoreTime) throws -> Int {
    switch command {
    case .cancel(let filter):
      return change(filter, at: now) { job in
        let isRunning = job.state == .running
        return (JobTransitions.cancel(&job, at: now), isRunning)
      }
    case .abandon(let filter): return change(filter, at: now) { (JobTransitions.abandon(&$0, at: now), true) }
    case .retry(let filter):
      var retries = JobRetries()
      while retries.beginPass() {
        for job in selected(filter) where retries.accepts(job) {
          let holder = job.settings.unique.flatMap { self.holder(of: $0, at: now) }
          retries.consider(job, try requirements(of: [job.id])[job.id] ?? [], holder: holder, at: now)
        }
      }
      if retries.jobs.isEmpty, let refusal = retries.refusal { throw refusal }
      try restart(retries)
      return retries.jobs.count
    case .delete(let filter):
      return delete(selected(filter).filter { $0.state.isFinished && !isNeeded($0.id) })
    case .prune:
      timedKeys = timedKeys.filter { $0.value.until > now }
      limits.prune(at: now)
      return delete(
        selected(.all).filter { job in job.expires.map { $0 <= now && !isNeeded(job.id) } ?? false })
    case .setPriority(let filter, let priority):
      return change(filter, at: now) { job in
        guard !job.state.isFinished, job.state != .running, job.priority != priority else { return (false, false) }
        job.priority = priority
        return (true, false)
      }
    case .move(let filter, let queue):
      return change(filter, at: now) { job in
        guard !job.state.isFinished, job.state != .running, job.queue != queue else { return (false, false) }
        job.queue = queue
        return (true, false)
      }
    case .setPaused(let queue, let isPaused):
      return changeQueue(queue) { $0.setPaused(isPaused) }
    case .configure(let queue, let setting): return changeQueue(queue) { $0.set(setting) }
    }
  }

  private func selected(_ filter: JobFilter) -> [JobRecord] {
    if let ids = filter.ids { return Set(ids).sorted().compactMap { jobs[$0] }.filter(filter.contains) }
    return jobs.values.filter(filter.contains).sorted { $0.id < $1.id }
  }

  /// Changes the selected jobs.
  ///
  /// The function returns whether it has changed the job, and whether the job's worker must be notified.
  private mutating func change(
    _ filter: JobFilter, at now: StoreTime, _ body: (inout JobRecord) -> (isChanged: Bool, concernsWorker: Bool)
  ) -> Int {
    var changed = 0
    for var job in selected(filter) where changed < JobCommand.maxChangedCount {
      let (isChanged, concernsWorker) = body(&job)
      guard isChanged else { continue }
      if concernsWorker { hints.hasCancellation = true }
      put(job, at: now)
      changed += 1
    }
    return changed
  }

  private mutating func delete(_ selected: [JobRecord]) -> Int {
    let deleted = selected.prefix(JobCommand.maxChangedCount)
    for job in deleted { forget(job.id) }
    return deleted.count
  }

  // MARK: Rows

  /// Writes a row, and updates the indexes.
  mutating func put(_ new: JobRecord, at now: StoreTime) {
    var job = new
    if let old = jobs[job.id] { removeFromIndexes(old) }
    if job.needsKey, let unique = job.settings.unique {
      if let other = holders[unique.key], other != job.id {
        JobTransitions.supersede(&job, by: other, at: now)
      } else {
        job.holdsKey = true
      }
    }
    if job.holdsKey, let unique = job.settings.unique { holders[unique.key] = job.id }
    let hasDependents = job.state.isFinished && job.hasDependents
    if hasDependents {
      ended.append(JobGraph.Standing(job))
      job.hasDependents = false
    }
    jobs[job.id] = job
    limits.insert(job)
    noteLimits(of: job)
    if job.state == .running, let owner = job.owner { running[owner, default: []].insert(job.id) }
    if !job.state.isFinished, job.state != .running, job.dueTime != nil || job.deadline != nil { timed.insert(job.id) }
    if job.state == .scheduled { hints.hasScheduled = true }
    if job.state == .waiting {
      waiting.insert(job)
      hints.claimableQueues.insert(job.queue)
    }
    guard job.state.isFinished else { return }
    hints.finished.append(job.id)
    // Failed and cancelled jobs can be run again, and must not repeat their steps.
    if job.state == .succeeded { checkpoints[job.id] = nil }
    // Dependents might read the result.
    if let expires = job.expires, let finished = job.finished, expires <= finished, !hasDependents { forget(job.id) }
  }

  private mutating func removeFromIndexes(_ job: JobRecord) {
    if job.holdsKey, let unique = job.settings.unique, holders[unique.key] == job.id { holders[unique.key] = nil }
    limits.remove(job)
    if job.state == .waiting { waiting.remove(job) }
    if job.state == .running, let owner = job.owner { running[owner]?.remove(job.id) }
    timed.remove(job.id)
  }

  private mutating func forget(_ id: JobID) {
    guard let job = jobs.removeValue(forKey: id) else { return }
    removeFromIndexes(job)
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

  mutating func nextPosition() -> Int64 {
    lastPosition += 1
    return lastPosition
  }

  /// Moves a job that waits again to the end of its queue, unless it keeps its place.
  mutating func place(_ job: inout JobRecord, at now: StoreTime) {
    if !job.keepsPlace { (job.position, job.ready) = (nextPosition(), now) }
  }

  // MARK: Queues and limits

  /// Changes the record of a queue.
  ///
  /// - Returns: The number of changes.
  @discardableResult
  private mutating func changeQueue(_ name: String, _ body: (inout JobQueueRecord) -> Void) -> Int {
    let old = queues[name] ?? JobQueueRecord()
    var queue = old
    body(&queue)
    guard queue != old else { return 0 }
    queues[name] = queue == JobQueueRecord() ? nil : queue
    if queue.mayClaimMore(than: old) { hints.claimableQueues.insert(name) }
    if queue.settings.pendingLimit != old.settings.pendingLimit { hints.queuesWithRoom.insert(name) }
    return 1
  }

  /// Notes the queues in which a changed job might allow other jobs to be claimed or added.
  private mutating func noteLimits(of job: JobRecord) {
    let settings = queues[job.queue]?.settings
    if job.state != .running, job.settings.limit != nil || settings?.limit != nil {
      hints.claimableQueues.insert(job.queue)
    }
    if !job.state.isPending, settings?.pendingLimit != nil { hints.queuesWithRoom.insert(job.queue) }
  }

  /// Changes the counts and buckets for limits.
  mutating func updateLimits<Result>(_ body: (inout MemoryLimits) -> Result) -> Result { body(&limits) }
}

extension JobRecord {
  /// The time at which a scheduled job is due; nil for other jobs.
  fileprivate var dueTime: StoreTime? { state == .scheduled ? due : nil }
}
