/// The rows of a ``MemoryJobStore``, and the changes of its current transaction.
///
/// The store's lock protects it.
final class MemoryRows: MemoryTableRows {
  var memory = MemoryJobs()
  private(set) var now = StoreTime(microseconds: 0)
  var hints = JobHints()
  var ended: [JobGraph.Standing] = []
  var meetBudget = 0
  var cascadeBudget = 0
  var awaited: Set<JobID> = []

  /// Begins a transaction.
  func begin(at now: StoreTime) {
    (self.now, hints, ended) = (now, JobHints(), [])
    (meetBudget, cascadeBudget) = (JobGraph.maxMetCount, JobGraph.maxCascadeCount)
    memory.limits.beginChanges()
  }

  // MARK: Jobs

  func nextNumbers() -> (id: JobID, position: Int64) { (memory.nextID(), memory.nextPosition()) }

  func nextPositions(_ count: Int) -> [Int64] { (0..<count).map { _ in memory.nextPosition() } }

  func insert(_ job: JobRecord) { memory.put(job) }

  func putUnfinished(_ job: JobRecord) { memory.put(job) }

  func putFinished(_ job: JobRecord) {
    var job = job
    job.hasDependents = false
    memory.put(job)
  }

  func forget(_ id: JobID) { memory.remove(id) }

  func deleteCheckpoints(of id: JobID) { memory.checkpoints[id] = nil }

  func preservingParts(of job: JobRecord, _ write: () throws -> Void) throws { try write() }

  func hold(_ key: String, by id: JobID, until time: StoreTime) -> Bool {
    memory.timedKeys[key] = (id, time)
    return true
  }

  // MARK: Attempts

  func putCheckpoint(_ name: String, _ value: JobPayload, of id: JobID) {
    memory.checkpoints[id, default: [:]][name] = value
  }

  func setProgress(_ progress: JobProgress, of id: JobID) { memory.change(id) { $0.progress = progress } }

  /// Removes a worker, and returns its jobs to their queues.
  func remove(_ worker: WorkerID, isCrash: Bool) throws -> [JobID] {
    let isCrash = memory.stopped.remove(worker) == nil && isCrash
    return memory.remove(worker) ? try rescue(runningJobs(of: worker), isCrash: isCrash) : []
  }

  // MARK: Commands

  func delete(_ ids: [JobID]) -> Int {
    for id in ids { memory.remove(id) }
    return ids.count
  }

  func prune() -> Int {
    memory.timedKeys = memory.timedKeys.filter { $0.value.until > now }
    memory.pruneLimits(at: now)
    return delete(expiredJobs())
  }

  // MARK: Queues

  func put(_ queue: JobQueueRecord, named name: String) {
    memory.queues[name] = queue == JobQueueRecord() ? nil : queue
  }

  // MARK: Dependencies

  func noteDependents(of ids: [JobID]) { for id in ids { memory.change(id) { $0.hasDependents = true } } }

  func addUnmet(_ count: Int, to ids: [JobID]) { for id in ids { memory.change(id) { $0.unmetCount += count } } }

  func insert(_ edges: [JobEdge]) { for edge in edges { memory.graph.put(edge) } }

  func setStatus(_ status: JobEdge.Status, of edges: [JobEdge]) {
    for var edge in edges {
      edge.status = status
      memory.graph.put(edge)
    }
  }

  func setCascade(_ culprit: JobID?, of id: JobID) {
    memory.graph.cascades[id] = culprit
    if culprit != nil { hints.hasScheduled = true }
  }

  // MARK: Time

  func write(_ schedule: ScheduleRecord) { memory.schedules[schedule.name] = schedule }

  func writeTick(of schedule: ScheduleRecord) { write(schedule) }

  func postpone(_ name: String, to time: StoreTime) { memory.schedules[name]?.next = time }

  func removeSchedule(_ name: String) -> Bool { memory.schedules.removeValue(forKey: name) != nil }
}
