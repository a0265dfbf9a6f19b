@_spi(JobStore) import HeadwayJobs

/// The statements of the store, on tables in memory.
///
/// Each statement that writes also notes what the journal needs.
final class FileRows: MemoryTableRows {
  var memory = MemoryJobs()
  private(set) var now = StoreTime(microseconds: 0)
  var hints = JobHints()
  var ended: [JobGraph.Standing] = []
  var meetBudget = 0
  var cascadeBudget = 0
  var awaited: Set<JobID> = []

  private var otherEntries: [Entry] = []
  /// A job can change several times in a transaction, and the journal needs only the last state.
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
  /// Jobs are last, because a job that is removed takes its checkpoints and edges with it.
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

  func find(_ id: JobID) -> JobRecord? { memory.jobs[id] }

  func findUnfinished(_ ids: [JobID]) -> [JobRecord] {
    ids.compactMap { memory.jobs[$0] }.filter { !$0.state.isFinished }
  }

  func isUnfinished(_ id: JobID) -> Bool { memory.jobs[id].map { !$0.state.isFinished } ?? false }

  func nextNumbers() -> (id: JobID, position: Int64) { (memory.nextID(), memory.nextPosition()) }

  func nextPositions(_ count: Int) -> [Int64] { (0..<count).map { _ in memory.nextPosition() } }

  func insert(_ job: JobRecord) { putUnfinished(job) }

  func putUnfinished(_ job: JobRecord) {
    memory.put(job)
    changedJobs.insert(job.id)
  }

  func putFinished(_ job: JobRecord) {
    var job = job
    job.hasDependents = false
    putUnfinished(job)
  }

  func forget(_ id: JobID) {
    memory.remove(id)
    changedJobs.insert(id)
  }

  func preservingParts(of job: JobRecord, _ write: () throws -> Void) throws {
    // A job that can't be read prevents the store from being opened, so no job is damaged.
    try write()
  }

  func holder(of unique: UniqueKey) -> JobID? { memory.holder(of: unique, at: now) }

  func hold(_ key: String, by id: JobID, until time: StoreTime) -> Bool {
    memory.timedKeys[key] = (id, time)
    otherEntries.append(.key(key, job: id, until: time))
    return true
  }

  private func change(_ ids: [JobID], _ body: (inout JobRecord) -> Void) {
    for id in ids { memory.change(id, body) }
    changedJobs.formUnion(ids)
  }

  // MARK: Attempts

  func isRun(by fence: JobFence) -> Bool { memory.jobs[fence.id]?.isRun(by: fence) == true }

  func runningJobs(of worker: WorkerID) -> [JobRecord] { memory.runningJobs(of: worker) }

  func checkpoints(_ name: String, of ids: [JobID]) -> [JobID: JobPayload] {
    let values = ids.compactMap { id in memory.checkpoints[id]?[name].map { (id, $0) } }
    return Dictionary(values, uniquingKeysWith: { first, _ in first })
  }

  func putCheckpoint(_ name: String, _ value: JobPayload, of id: JobID) {
    memory.checkpoints[id, default: [:]][name] = value
    otherEntries.append(.checkpoint(id, name: name, value))
  }

  func deleteCheckpoints(of id: JobID) {
    guard memory.checkpoints.removeValue(forKey: id) != nil else { return }
    otherEntries.append(.noCheckpoints(id))
  }

  func setProgress(_ progress: JobProgress, of id: JobID) { change([id]) { $0.progress = progress } }

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
    for id in ids { forget(id) }
    return ids.count
  }

  func prune() -> Int {
    // The journal loses these rows when it is rewritten. Until then, they have no effect.
    memory.timedKeys = memory.timedKeys.filter { $0.value.until > now }
    memory.limits.prune(at: now)
    let expired = memory.jobs.values.filter { job in
      job.expirationTime.map { $0 <= now && !isNeeded(job.id) } ?? false
    }
    return delete(Array(expired.map(\.id).sorted().prefix(JobCommand.maxChangedCount)))
  }

  /// Returns whether unfinished jobs depend on a job, so that they might read its result.
  private func isNeeded(_ id: JobID) -> Bool { memory.graph.edges(from: id).contains { isUnfinished($0.dependent) } }

  // MARK: Queues

  func queues() -> [String: JobQueueRecord] { memory.queues }

  func put(_ queue: JobQueueRecord, named name: String) {
    let isNeeded = queue != JobQueueRecord()
    memory.queues[name] = isNeeded ? queue : nil
    otherEntries.append(isNeeded ? .queue(name, queue) : .noQueue(name))
  }

  func hasPending(_ count: Int, in queue: String) -> Bool { memory.limits.pendingCount(of: queue) >= count }

  // MARK: Dependencies

  func standing(of id: JobID) -> JobGraph.Standing? { memory.jobs[id].map { JobGraph.Standing($0) } }

  func standings(of ids: [JobID]) -> [JobID: JobGraph.Standing] {
    Dictionary(ids.compactMap { id in standing(of: id).map { (id, $0) } }, uniquingKeysWith: { first, _ in first })
  }

  func noteDependents(of ids: [JobID]) { change(ids) { $0.hasDependents = true } }

  func addUnmet(_ count: Int, to ids: [JobID]) { change(ids) { $0.unmetCount += count } }

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
    guard memory.graph.cascades[id] != culprit else { return }
    memory.graph.cascades[id] = culprit
    otherEntries.append(.cascade(id, culprit: culprit))
    if culprit != nil { hints.hasScheduled = true }
  }

  // MARK: Time

  func lateJobs(limit: Int) -> [JobRecord] { memory.jobs(until: now, by: \.deadlineToStart, limit: limit) }

  func dueJobs(limit: Int) -> [JobRecord] { memory.jobs(until: now, by: \.scheduledTime, limit: limit) }

  func dueSchedules(limit: Int) -> [DueSchedule] {
    let due = memory.schedules.values.filter { schedule in schedule.next.map { $0 <= now } ?? false }
      .sorted { ($0.next ?? now, $0.name) < ($1.next ?? now, $1.name) }
    return due.prefix(limit).map { schedule in
      DueSchedule(
        name: schedule.name, schedule, isLastJobUnfinished: schedule.lastJob.map(isUnfinished) ?? false)
    }
  }

  func schedule(_ name: String, orWith definition: ScheduleDefinition?) -> ScheduleRecord? { memory.schedules[name] }

  func write(_ schedule: ScheduleRecord) {
    memory.schedules[schedule.name] = schedule
    otherEntries.append(.schedule(schedule))
  }

  func writeTick(of schedule: ScheduleRecord) { write(schedule) }

  func postpone(_ name: String, to time: StoreTime) {
    guard var schedule = memory.schedules[name] else { return }
    schedule.next = time
    write(schedule)
  }

  func removeSchedule(_ name: String) -> Bool {
    otherEntries.append(.noSchedule(name))
    return memory.schedules.removeValue(forKey: name) != nil
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

  /// Removes a worker, and returns its jobs to their queues.
  func remove(_ worker: WorkerID, isCrash: Bool) throws -> [JobID] {
    let isCrash = isCrash && !memory.stopped.contains(worker)
    guard memory.remove(worker) else { return [] }
    otherEntries.append(.noWorker(worker))
    return try rescue(runningJobs(of: worker), isCrash: isCrash)
  }
}
