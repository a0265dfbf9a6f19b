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
  var activity = JobActivityLog()
  /// The statistics, which are the only rows that are not in ``memory``, because other stores don't keep them there.
  private(set) var statistics = StatisticsTable()

  /// Begins a transaction.
  func begin(at now: StoreTime) {
    (self.now, hints, ended, activity) = (now, JobHints(), [], JobActivityLog())
    (meetBudget, cascadeBudget) = (JobGraph.maxMetCount, JobGraph.maxCascadeCount)
    memory.limits.beginChanges()
  }

  // MARK: Jobs

  func nextNumbers() -> (id: JobID, position: Int64) { (memory.nextID(), memory.nextPosition()) }

  func nextPositions(_ count: Int) -> [Int64] { (0..<count).map { _ in memory.nextPosition() } }

  func insert(_ jobs: [JobRecord]) { for job in jobs { memory.put(job) } }

  func putUnfinished(_ jobs: [JobRecord]) { insert(jobs) }

  func putFinished(_ jobs: [JobRecord]) {
    for var job in jobs {
      job.hasDependents = false
      memory.put(job)
    }
  }

  func forget(_ ids: [JobID]) { for id in ids { memory.remove(id) } }

  func deleteCheckpoints(of ids: [JobID]) { for id in ids { memory.checkpoints[id] = nil } }

  func preservingParts(of job: JobRecord, _ write: () throws -> Void) throws { try write() }

  func hold(_ keys: [(key: String, job: JobID, until: StoreTime)]) {
    for (key, id, time) in keys { memory.timedKeys[key] = (id, time) }
  }

  // MARK: Attempts

  func putCheckpoints(_ checkpoints: [(job: JobID, name: String, value: JobPayload)]) {
    for (id, name, value) in checkpoints { memory.checkpoints[id, default: [:]][name] = value }
  }

  func setProgress(_ progress: JobProgress, of id: JobID) { memory.change(id) { $0.progress = progress } }

  /// Removes a worker and returns its jobs to their queues.
  func remove(_ worker: WorkerID, isCrash: Bool) throws -> [JobID] {
    let isCrash = memory.stopped.remove(worker) == nil && isCrash
    return memory.remove(worker) ? try rescue(runningJobs(of: worker), isCrash: isCrash) : []
  }

  // MARK: Commands

  func delete(_ ids: [JobID]) -> Int {
    forget(ids)
    return ids.count
  }

  func prune() -> Int {
    memory.timedKeys = memory.timedKeys.filter { $0.value.until > now }
    memory.pruneLimits(at: now)
    pruneErrors()
    memory.pruneChanges(at: now)
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

  func noteCascades(_ ends: [JobGraph.Standing]) {
    for end in ends { memory.graph.cascades[end.id] = end.culprit }
    hints.hasScheduled = true
  }

  func removeCascades(of ids: [JobID]) { for id in ids { memory.graph.cascades[id] = nil } }

  // MARK: Time

  func write(_ schedule: ScheduleRecord) { memory.schedules[schedule.name] = schedule }

  func writeTicks(of schedules: [ScheduleRecord]) { for schedule in schedules { write(schedule) } }

  func postpone(_ names: [String], to time: StoreTime) {
    for name in names { memory.schedules[name]?.nextTickTime = time }
  }

  func removeSchedule(_ name: String) -> Bool { memory.schedules.removeValue(forKey: name) != nil }

  // MARK: Statistics

  func insertActivity(_ groups: [JobStatistics.Group]) {
    for group in groups { statistics.add(group, at: now, now: now) }
    statistics.settle(at: now)
  }

  // MARK: Changes by people

  func write(_ change: JobsChangeRecord, token: Int64) { memory.put(MemoryChange(change, token: token)) }
}
