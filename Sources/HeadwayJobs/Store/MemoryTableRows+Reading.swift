// The statements that only read are the same for all stores with tables in memory.
@_spi(JobStore) extension MemoryTableRows {
  // MARK: Jobs

  /// Returns the unfinished and finished jobs among several jobs.
  ///
  /// - Parameter ids: The IDs of the jobs to return.
  /// - Returns: The jobs, in the same order.
  public func find(_ ids: [JobID]) -> [JobRecord] { ids.compactMap { memory.jobs[$0] } }

  /// Returns the unfinished jobs among several jobs.
  ///
  /// - Parameter ids: The IDs of the jobs, in ascending order.
  /// - Returns: The jobs, in the same order.
  public func findUnfinished(_ ids: [JobID]) -> [JobRecord] {
    ids.compactMap { id in memory.jobs[id].flatMap { $0.state.isFinished ? nil : $0 } }
  }

  /// Returns whether a job exists and has not ended.
  ///
  /// - Parameter id: The ID of the job.
  /// - Returns: True if there is an unfinished job with this ID.
  public func isUnfinished(_ id: JobID) -> Bool { memory.isUnfinished(id) }

  /// Returns the jobs that hold keys.
  ///
  /// - Parameters:
  ///   - keys: The keys to look up, in order.
  ///   - toReplace: Not used, because only one transaction runs at a time.
  /// - Returns: The job that holds each key; nil if there is none.
  public func holders(of keys: [UniqueKey], toReplace: Bool) -> [JobID?] {
    keys.map { memory.holder(of: $0, at: now) }
  }

  /// Returns jobs that a command can change, ordered by ID, up to ``JobCommand/maxChangedCount``.
  ///
  /// - Parameters:
  ///   - command: A command with a filter.
  ///   - prepare: Called once, with all jobs that match the filter.
  ///   - isIncluded: A function that returns whether to select the job, and that can change the job.
  /// - Returns: The selected jobs, with their changes.
  /// - Throws: The error of one of the functions.
  /// - Complexity: O(*n*) in the number of jobs, unless the filter has numbers.
  public func select(
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

  /// Returns the jobs whose retention has expired and that no unfinished job depends on.
  ///
  /// - Returns: The IDs of the jobs, in ascending order; at most ``JobCommand/maxChangedCount``.
  /// - Complexity: O(*n*) in the number of jobs.
  public func expiredJobs() -> [JobID] {
    let expired = memory.jobs.values.filter { job in
      job.expirationTime.map { $0 <= now && !isNeeded(job.id) } ?? false
    }
    return Array(expired.map(\.id).sorted().prefix(JobCommand.maxChangedCount))
  }

  /// Returns whether unfinished jobs depend on a job, so that they might read its result.
  private func isNeeded(_ id: JobID) -> Bool {
    memory.graph.edges(from: id).contains { memory.isUnfinished($0.dependent) }
  }

  // MARK: Attempts

  /// Returns whether an attempt runs its job.
  ///
  /// - Parameter fence: The fence of the attempt.
  /// - Returns: True if the job runs under this fence.
  public func isRun(by fence: JobFence) -> Bool { memory.jobs[fence.id]?.isRun(by: fence) == true }

  /// Returns the jobs that a worker runs.
  ///
  /// - Parameter worker: The identity of the worker.
  /// - Returns: The jobs, ordered by ID.
  public func runningJobs(of worker: WorkerID) -> [JobRecord] { memory.runningJobs(of: worker) }

  /// Returns the values of one name that jobs have stored.
  ///
  /// - Parameters:
  ///   - name: The name of the checkpoints.
  ///   - ids: The IDs of the jobs.
  /// - Returns: The values of the jobs that have one.
  public func checkpoints(_ name: String, of ids: [JobID]) -> [JobID: JobPayload] {
    Dictionary(
      ids.compactMap { id in memory.checkpoints[id]?[name].map { (id, $0) } }, uniquingKeysWith: { first, _ in first })
  }

  // MARK: Queues

  /// Returns the queues that are paused or have settings.
  ///
  /// - Returns: The queues, by name.
  public func queues() -> [String: JobQueueRecord] { memory.queues }

  /// Returns the queues that have at least as many pending jobs as their limits.
  ///
  /// - Parameter limits: The limits of queues.
  /// - Returns: The names of the full queues.
  public func fullQueues(_ limits: [String: Int]) -> Set<String> {
    Set(limits.filter { memory.limits.pendingCount(of: $0) >= $1 }.keys)
  }

  // MARK: Dependencies

  /// Returns the states of the jobs that exist.
  ///
  /// - Parameter ids: The IDs of the jobs to look up.
  /// - Returns: The states of the existing jobs, by ID.
  public func standings(of ids: [JobID]) -> [JobID: JobGraph.Standing] {
    let found = ids.compactMap { memory.jobs[$0] }.map { ($0.id, JobGraph.Standing($0)) }
    return Dictionary(found, uniquingKeysWith: { first, _ in first })
  }

  /// Returns the unmet edges from dependencies.
  ///
  /// - Parameters:
  ///   - ids: The IDs of the dependencies.
  ///   - limit: The maximum number of edges.
  /// - Returns: The edges, in the order of `ids` and then by the dependent's ID.
  public func unmetEdges(from ids: [JobID], limit: Int) -> [JobEdge] {
    var found: [JobEdge] = []
    for id in ids where found.count < limit {
      found += memory.graph.edges(from: id).lazy.filter { $0.status == .unmet }.prefix(limit - found.count)
    }
    return found
  }

  /// Returns the jobs among several jobs that have unmet edges.
  ///
  /// - Parameter ids: The IDs of the jobs to check.
  /// - Returns: The IDs of the jobs that have unmet edges.
  public func jobsWithUnmetEdges(_ ids: [JobID]) -> Set<JobID> {
    Set(ids.filter { id in memory.graph.edges(from: id).contains { $0.status == .unmet } })
  }

  /// Returns the edges to dependents.
  ///
  /// - Parameter ids: The IDs of the dependents.
  /// - Returns: The edges, ordered by the dependency's ID for each dependent.
  public func edges(to ids: [JobID]) -> [JobEdge] { ids.flatMap { memory.graph.edges(to: $0) } }

  /// Marks edges from ended jobs as met if the results fulfill the requirements, and updates the dependents.
  ///
  /// - Parameters:
  ///   - ends: The jobs that have ended.
  ///   - limit: The maximum number of edges.
  /// - Returns: The number of edges that were marked.
  /// - Throws: An error of the statements that write.
  public func meetEdges(of ends: [JobGraph.Standing], limit: Int) throws -> Int {
    var edges: [JobEdge] = []
    for end in ends where edges.count < limit {
      let met = memory.graph.edges(from: end.id).lazy.filter {
        $0.status == .unmet && JobGraph.status(of: $0.requirement, in: end.state) == .met
      }
      edges += met.prefix(limit - edges.count)
    }
    try setStatus(.met, of: edges)
    for edge in edges {
      guard let job = memory.jobs[edge.dependent], job.state == .held else { continue }
      var jobs = [job]
      if JobGraph.meet(&jobs[0], at: now) { try place(&jobs) { _ in true } }
      try put(jobs)
    }
    return edges.count
  }

  /// Returns the jobs that have ended and still have unmet edges.
  ///
  /// - Returns: The jobs, ordered by ID.
  public func cascades() -> [JobGraph.Standing] {
    memory.graph.cascades.sorted { $0.key < $1.key }.map {
      JobGraph.Standing(id: $0.key, state: memory.jobs[$0.key]?.state ?? .failed, culprit: $0.value)
    }
  }

  // MARK: Time

  /// Returns the jobs that have not started by their deadline.
  ///
  /// - Parameter limit: The maximum number of jobs.
  /// - Returns: The jobs, ordered by deadline.
  public func lateJobs(limit: Int) -> [JobRecord] { memory.jobs(until: now, by: \.deadlineToStart, limit: limit) }

  /// Returns the scheduled and retrying jobs that are due.
  ///
  /// - Parameter limit: The maximum number of jobs.
  /// - Returns: The jobs, ordered by due time.
  public func dueJobs(limit: Int) -> [JobRecord] { memory.jobs(until: now, by: \.scheduledTime, limit: limit) }

  /// Returns the schedules that have a due tick.
  ///
  /// - Parameter limit: The maximum number of schedules.
  /// - Returns: The schedules, ordered by tick.
  public func dueSchedules(limit: Int) -> [DueSchedule] {
    let due = memory.schedules.values.compactMap { schedule in
      schedule.nextTickTime.flatMap { $0 <= now ? (time: $0, name: schedule.name) : nil }
    }
    return due.sorted(by: <).prefix(limit).map { _, name in
      let schedule = memory.schedules[name]
      return DueSchedule(name: name, schedule, isLastJobUnfinished: schedule?.lastJob.map(memory.isUnfinished) ?? false)
    }
  }

  /// Returns the schedule with the given name.
  ///
  /// - Parameters:
  ///   - name: The name of the schedule.
  ///   - definition: Not used, because all definitions can be read.
  /// - Returns: The schedule; nil if there is none.
  public func schedule(_ name: String, orWith definition: ScheduleDefinition?) -> ScheduleRecord? {
    memory.schedules[name]
  }

  // MARK: Changes by people

  /// Returns the record of a change.
  ///
  /// - Parameter token: The token of the change.
  /// - Returns: The record; nil if there is none.
  public func findChange(token: Int64) -> JobsChangeRecord? { memory.changes.last { $0.token == token }?.record }
}
