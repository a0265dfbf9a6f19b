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

  func find(_ id: JobID) -> JobRecord? { memory.jobs[id] }

  private func findUnfinished(_ id: JobID) -> JobRecord? {
    memory.jobs[id].flatMap { $0.state.isFinished ? nil : $0 }
  }

  func findUnfinished(_ ids: [JobID]) -> [JobRecord] { ids.compactMap(findUnfinished) }

  func isUnfinished(_ id: JobID) -> Bool { findUnfinished(id) != nil }

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

  func holder(of unique: UniqueKey) -> JobID? { memory.holder(of: unique, at: now) }

  func hold(_ key: String, by id: JobID, until time: StoreTime) -> Bool {
    memory.timedKeys[key] = (id, time)
    return true
  }

  // MARK: Attempts

  func isRun(by fence: JobFence) -> Bool { memory.jobs[fence.id]?.isRun(by: fence) == true }

  func runningJobs(of worker: WorkerID) -> [JobRecord] { memory.runningJobs(of: worker) }

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

  func select(
    for command: JobCommand, prepare: ([JobRecord]) throws -> Void, where isIncluded: (inout JobRecord) throws -> Bool
  ) throws -> [JobRecord] {
    guard let filter = command.filter else { return [] }
    let states = command.changedStates
    let given = filter.ids.map { Set($0).compactMap { memory.jobs[$0] } } ?? Array(memory.jobs.values)
    let found = given.filter { job in
      guard filter.contains(job), states.contains(job.state) else { return false }
      if case .delete = command { return !isNeeded(job.id) }
      return true
    }.sorted { $0.id < $1.id }
    try prepare(found)
    var selected: [JobRecord] = []
    for var job in found where selected.count < JobCommand.maxChangedCount {
      if try isIncluded(&job) { selected.append(job) }
    }
    return selected
  }

  func delete(_ ids: [JobID]) -> Int {
    for id in ids { memory.remove(id) }
    return ids.count
  }

  func prune() -> Int {
    memory.timedKeys = memory.timedKeys.filter { $0.value.until > now }
    memory.limits.prune(at: now)
    let expired = memory.jobs.values.filter { job in job.expirationTime.map { $0 <= now && !isNeeded(job.id) } ?? false
    }
    return delete(Array(expired.map(\.id).sorted().prefix(JobCommand.maxChangedCount)))
  }

  /// Returns whether unfinished jobs depend on a job, so that they might read its result.
  private func isNeeded(_ id: JobID) -> Bool { memory.graph.edges(from: id).contains { isUnfinished($0.dependent) } }

  // MARK: Queues

  func queues() -> [String: JobQueueRecord] { memory.queues }

  func put(_ queue: JobQueueRecord, named name: String) {
    memory.queues[name] = queue == JobQueueRecord() ? nil : queue
  }

  func hasPending(_ count: Int, in queue: String) -> Bool { memory.limits.pendingCount(of: queue) >= count }

  // MARK: Dependencies

  func standing(of id: JobID) -> JobGraph.Standing? { memory.jobs[id].map { JobGraph.Standing($0) } }

  func standings(of ids: [JobID]) -> [JobID: JobGraph.Standing] {
    Dictionary(ids.compactMap { id in standing(of: id).map { (id, $0) } }, uniquingKeysWith: { first, _ in first })
  }

  func noteDependents(of ids: [JobID]) { for id in ids { memory.change(id) { $0.hasDependents = true } } }

  func addUnmet(_ count: Int, to ids: [JobID]) { for id in ids { memory.change(id) { $0.unmetCount += count } } }

  func unmetEdges(from ids: [JobID], limit: Int) -> [JobEdge] {
    var found: [JobEdge] = []
    for id in ids where found.count < limit {
      found += memory.graph.edges(from: id).lazy.filter { $0.status == .unmet }.prefix(limit - found.count)
    }
    return found
  }

  func jobsWithUnmetEdges(_ ids: [JobID]) -> Set<JobID> {
    Set(ids.filter { id in memory.graph.edges(from: id).contains { $0.status == .unmet } })
  }

  func edges(to ids: [JobID]) -> [JobEdge] { ids.flatMap { memory.graph.edges(to: $0) } }

  func insert(_ edges: [JobEdge]) { for edge in edges { memory.graph.put(edge) } }

  func setStatus(_ status: JobEdge.Status, of edges: [JobEdge]) {
    for var edge in edges {
      edge.status = status
      memory.graph.put(edge)
    }
  }

  func meetEdges(of ends: [JobGraph.Standing], limit: Int) throws -> Int {
    var edges: [JobEdge] = []
    for end in ends where edges.count < limit {
      let met = memory.graph.edges(from: end.id).lazy.filter {
        $0.status == .unmet && JobGraph.status(of: $0.requirement, in: end.state) == .met
      }
      edges += met.prefix(limit - edges.count)
    }
    setStatus(.met, of: edges)
    for edge in edges {
      guard var job = memory.jobs[edge.dependent], job.state == .held else { continue }
      if JobGraph.meet(&job, at: now) { try place(&job) }
      try put(job)
    }
    return edges.count
  }

  func cascades() -> [JobGraph.Standing] {
    memory.graph.cascades.sorted { $0.key < $1.key }.map {
      JobGraph.Standing(id: $0.key, state: memory.jobs[$0.key]?.state ?? .failed, culprit: $0.value)
    }
  }

  func setCascade(_ culprit: JobID?, of id: JobID) {
    memory.graph.cascades[id] = culprit
    if culprit != nil { hints.hasScheduled = true }
  }

  // MARK: Time

  func lateJobs(limit: Int) -> [JobRecord] { memory.jobs(until: now, by: \.deadlineToStart, limit: limit) }

  func dueJobs(limit: Int) -> [JobRecord] { memory.jobs(until: now, by: \.scheduledTime, limit: limit) }

  /// Does what is due, and returns the time of the next change.
  func advance() throws -> StoreTime? {
    let limit = JobCommand.maxChangedCount
    let hasMoreTicks = try addDueJobs(limit: limit)
    try continueCascades()
    let (hasMoreLate, hasMoreDue) = (try expireLateJobs(limit: limit), try startDueJobs(limit: limit))
    if hasMoreTicks || hasMoreLate || hasMoreDue || !cascades().isEmpty { return now }
    return memory.nextTime(after: now)
  }

  func dueSchedules(limit: Int) -> [DueSchedule] {
    let due = memory.schedules.values.compactMap { schedule in
      schedule.next.flatMap { $0 <= now ? (time: $0, name: schedule.name) : nil }
    }
    return due.sorted(by: <).prefix(limit).map { _, name in
      let schedule = memory.schedules[name]
      return DueSchedule(name: name, schedule, isLastJobUnfinished: schedule?.lastJob.map(isUnfinished) ?? false)
    }
  }

  func schedule(_ name: String, orWith definition: ScheduleDefinition?) -> ScheduleRecord? { memory.schedules[name] }

  func write(_ schedule: ScheduleRecord) { memory.schedules[schedule.name] = schedule }

  func writeTick(of schedule: ScheduleRecord) { write(schedule) }

  func postpone(_ name: String, to time: StoreTime) { memory.schedules[name]?.next = time }

  func removeSchedule(_ name: String) -> Bool { memory.schedules.removeValue(forKey: name) != nil }
}
