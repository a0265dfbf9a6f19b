@_spi(JobStore) import HeadwayJobs

/// The statements of the store, on tables in memory.
///
/// Each statement that writes also notes the changes for the journal.
final class FileRows: MemoryTableRows {
  var memory = MemoryJobs()
  private(set) var now = StoreTime(microseconds: 0)
  var hints = JobHints()
  var ended: [JobGraph.Standing] = []
  var meetBudget = 0
  var cascadeBudget = 0

  private var otherEntries: [Entry] = []
  /// A job can change several times in a transaction, but the journal needs only its last state.
  private var changedJobs: Set<JobID> = []
  private var formerNumbers = MemoryJobs.LastNumbers()

  // MARK: Transactions

  /// Begins a transaction.
  func begin(at now: StoreTime) {
    (self.now, hints, ended) = (now, JobHints(), [])
    (meetBudget, cascadeBudget) = (JobGraph.maxMetCount, JobGraph.maxCascadeCount)
    (otherEntries, changedJobs, formerNumbers) = ([], [], memory.lastNumbers)
    memory.limits.beginChanges()
  }

  /// The rows that have changed since the transaction began.
  ///
  /// Jobs are last, because removing a job also removes its checkpoints and edges.
  var changes: [Entry] {
    var entries = memory.lastNumbers == formerNumbers ? [] : [Entry.numbers(memory.lastNumbers)]
    entries += otherEntries
    for key in memory.limits.changes.buckets.sorted() {
      if let bucket = memory.limits.bucket(ofKey: key) { entries.append(.bucket(key, bucket)) }
    }
    for place in memory.limits.changes.turns { entries.append(.turn(place, memory.limits.turn(at: place))) }
    return entries + changedJobs.sorted().map { id in memory.jobs[id].map { .job($0) } ?? .noJob(id) }
  }

  // MARK: Jobs

  func nextNumbers() -> (id: JobID, position: Int64) { (memory.nextID(), memory.nextPosition()) }

  func nextPositions(_ count: Int) -> [Int64] { (0..<count).map { _ in memory.nextPosition() } }

  func insert(_ jobs: [JobRecord]) { putUnfinished(jobs) }

  func putUnfinished(_ jobs: [JobRecord]) {
    for job in jobs { memory.put(job) }
    changedJobs.formUnion(jobs.map(\.id))
  }

  func putFinished(_ jobs: [JobRecord]) {
    putUnfinished(
      jobs.map { job in
        var job = job
        job.hasDependents = false
        return job
      })
  }

  func forget(_ ids: [JobID]) {
    for id in ids { memory.remove(id) }
    changedJobs.formUnion(ids)
  }

  func preservingParts(of job: JobRecord, _ write: () throws -> Void) throws {
    // A job that can't be read prevents the store from being opened, so no job is damaged.
    try write()
  }

  func hold(_ keys: [(key: String, job: JobID, until: StoreTime)]) {
    for (key, id, time) in keys {
      memory.timedKeys[key] = (id, time)
      otherEntries.append(.key(key, job: id, until: time))
    }
  }

  private func change(_ ids: [JobID], _ body: (inout JobRecord) -> Void) {
    for id in ids { memory.change(id, body) }
    changedJobs.formUnion(ids)
  }

  // MARK: Attempts

  func putCheckpoints(_ checkpoints: [(job: JobID, name: String, value: JobPayload)]) {
    for (id, name, value) in checkpoints {
      memory.checkpoints[id, default: [:]][name] = value
      otherEntries.append(.checkpoint(id, name: name, value))
    }
  }

  func deleteCheckpoints(of ids: [JobID]) {
    for id in ids where memory.checkpoints.removeValue(forKey: id) != nil { otherEntries.append(.noCheckpoints(id)) }
  }

  func setProgress(_ progress: JobProgress, of id: JobID) { change([id]) { $0.progress = progress } }

  // MARK: Commands

  func delete(_ ids: [JobID]) -> Int {
    forget(ids)
    return ids.count
  }

  func prune() -> Int {
    // The journal loses these rows when it is rewritten. Until then, they have no effect.
    memory.timedKeys = memory.timedKeys.filter { $0.value.until > now }
    memory.pruneLimits(at: now)
    pruneErrors()
    memory.pruneChanges(at: now)
    return delete(expiredJobs())
  }

  // MARK: Queues

  func put(_ queue: JobQueueRecord, named name: String) {
    let isNeeded = queue != JobQueueRecord()
    memory.queues[name] = isNeeded ? queue : nil
    otherEntries.append(isNeeded ? .queue(name, queue) : .noQueue(name))
  }

  // MARK: Errors

  func put(_ group: JobErrorGroup) {
    memory.errors[group.id] = group
    otherEntries.append(.error(group))
  }

  func removeErrorGroup(_ id: JobErrorGroup.ID) {
    memory.errors[id] = nil
    otherEntries.append(.noError(id))
  }

  // MARK: Dependencies

  func noteDependents(of ids: [JobID]) { change(ids) { $0.hasDependents = true } }

  func addUnmet(_ count: Int, to ids: [JobID]) { change(ids) { $0.unmetCount += count } }

  func insert(_ edges: [JobEdge]) {
    for edge in edges {
      memory.graph.put(edge)
      otherEntries.append(.edge(edge))
    }
  }

  func setStatus(_ status: JobEdge.Status, of edges: [JobEdge]) {
    insert(
      edges.map { edge in
        var edge = edge
        edge.status = status
        return edge
      })
  }

  func noteCascades(_ ends: [JobGraph.Standing]) {
    for end in ends { setCascade(end.culprit, of: end.id) }
    hints.hasScheduled = true
  }

  func removeCascades(of ids: [JobID]) { for id in ids { setCascade(nil, of: id) } }

  private func setCascade(_ culprit: JobID?, of id: JobID) {
    guard memory.graph.cascades[id] != culprit else { return }
    memory.graph.cascades[id] = culprit
    otherEntries.append(.cascade(id, culprit: culprit))
  }

  // MARK: Time

  func write(_ schedule: ScheduleRecord) {
    memory.schedules[schedule.name] = schedule
    otherEntries.append(.schedule(schedule))
  }

  func writeTicks(of schedules: [ScheduleRecord]) { for schedule in schedules { write(schedule) } }

  func postpone(_ names: [String], to time: StoreTime) {
    for name in names {
      guard var schedule = memory.schedules[name] else { continue }
      schedule.nextTickTime = time
      write(schedule)
    }
  }

  func removeSchedule(_ name: String) -> Bool {
    otherEntries.append(.noSchedule(name))
    return memory.schedules.removeValue(forKey: name) != nil
  }

  // MARK: Changes by people

  func write(_ change: JobsChangeRecord, token: Int64) {
    otherEntries.append(.change(memory.put(MemoryChange(change, token: token))))
  }

  // MARK: Workers, which the store itself adds and removes

  func register(_ description: WorkerDescription) -> WorkerID {
    let worker = memory.register(description, at: now)
    otherEntries.append(memory.workerEntry(worker))
    return worker
  }

  func noteStopped(_ worker: WorkerID) {
    memory.stopped.insert(worker)
    otherEntries.append(memory.workerEntry(worker))
  }

  /// Removes a worker and returns its jobs to their queues.
  func remove(_ worker: WorkerID, isCrash: Bool) throws -> [JobID] {
    let isCrash = isCrash && !memory.stopped.contains(worker)
    guard memory.remove(worker) else { return [] }
    otherEntries.append(.noWorker(worker))
    return try rescue(runningJobs(of: worker), isCrash: isCrash)
  }
}
