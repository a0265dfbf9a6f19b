#if Jobs
import GRDB
@_spi(JobStore) public import HeadwayJobs

@_spi(JobStore) extension SQLiteJobStore {
  /// Returns jobs in the order of their numbers.
  ///
  /// - Parameters:
  ///   - filter: The jobs to return.
  ///   - id: Only jobs with greater numbers than this one are returned; nil for all.
  ///   - limit: The maximum number of jobs.
  /// - Returns: The jobs.
  /// - Throws: `JobError`.
  public func jobs(_ filter: JobFilter, after id: JobID?, limit: Int) async throws -> [JobRecord] {
    try await read { database in
      let selection = try JobSelection(filter)
      let unfinished = try selection.jobs(areFinished: false, after: id, limit: limit, database)
      let finished = try selection.jobs(areFinished: true, after: id, limit: limit, database)
      return Array((unfinished + finished).sorted { $0.id < $1.id }.prefix(limit))
    }
  }

  /// Returns the numbers of jobs, newest first, without reading many others.
  ///
  /// - Parameters:
  ///   - filter: The jobs to find.
  ///   - id: Only jobs with smaller numbers than this one are returned; nil for all.
  ///   - limit: The maximum number of jobs.
  /// - Returns: The numbers, in descending order.
  /// - Throws: `JobError`.
  public func ids(_ filter: JobFilter, before id: JobID?, limit: Int) async throws -> JobIDPage {
    try await read { try JobSearch(filter, before: id, limit: limit, $0).page() }
  }

  /// Returns the queues, workers, failures and latest endings, and counts only up to a limit.
  ///
  /// - Parameter limit: Jobs are counted up to this number.
  /// - Returns: The overview.
  /// - Throws: `JobError`.
  public func overview(countingTo limit: Int) async throws -> JobsOverview {
    let (now, locks) = (now, locks)
    return try await read { database in
      let reader = OverviewReader(database, limit: limit)
      return try reader.overview(at: now) { try SnapshotReader(database).workers(isAlive: locks.isAlive) }
    }
  }

  /// Returns the edges from and to jobs.
  ///
  /// - Parameter ids: The jobs.
  /// - Returns: The edges, in the order of the dependencies' numbers, and then of the dependents' numbers.
  /// - Throws: `JobError`.
  public func edges(of ids: [JobID]) async throws -> [JobEdge] {
    try await read { database in
      let rows = try SQLStatement(
        "SELECT \(JobRow.edge) FROM headway_edge WHERE dependency = ?1 OR dependent = ?1", database)
      var edges: Set<JobEdge> = []
      for id in ids {
        rows.bind(id.rawValue, at: 1)
        try rows.forEachRow { edges.insert(try JobRow.readEdge($0)) }
      }
      return edges.sorted { ($0.dependency, $0.dependent) < ($1.dependency, $1.dependent) }
    }
  }

  /// Returns the names of queues that have waiting jobs.
  ///
  /// - Parameters:
  ///   - name: Only names after this one are returned; nil for all.
  ///   - limit: The maximum number of names.
  /// - Returns: The names, in the order of their bytes.
  /// - Throws: `JobError`.
  /// - Complexity: O(*n* log *m*) for *n* names and *m* waiting jobs.
  public func waitingQueues(after name: String?, limit: Int) async throws -> [String] {
    try await read { try WaitingQueues.names(after: name, limit: limit, $0) }
  }

  /// Returns how many jobs of each queue are in each state.
  ///
  /// - Returns: The numbers, for queues with jobs, and for those that are paused or have settings.
  /// - Throws: `JobError`.
  /// - Complexity: O(*n*) in the number of jobs of the store.
  public func counts() async throws -> [String: JobQueueCounts] {
    try await read { try SnapshotReader($0).counts(includesJobs: true) }
  }

  /// Returns the queues, workers and failures at one moment.
  ///
  /// - Parameter parts: The parts to read.
  /// - Returns: The snapshot.
  /// - Throws: `JobError`.
  public func snapshot(_ parts: JobsSnapshot.Parts) async throws -> JobsSnapshot {
    let (now, locks) = (now, locks)
    return try await read { try SnapshotReader($0).snapshot(parts, at: now, isAlive: locks.isAlive) }
  }

  /// Returns all schedules.
  ///
  /// - Returns: The schedules, in the order of their names.
  /// - Throws: `JobError`.
  public func schedules() async throws -> [ScheduleRecord] {
    try await read { database in
      var schedules: [ScheduleRecord] = []
      let rows = try SQLStatement("SELECT \(ScheduleRow.columns) FROM headway_schedule", database)
      try rows.forEachRow { schedules.append(try ScheduleRow.read($0)) }
      return schedules.sorted { $0.name < $1.name }
    }
  }

  /// Returns a value that an attempt of a job has stored.
  ///
  /// - Parameters:
  ///   - name: The name of the checkpoint.
  ///   - id: The job.
  /// - Returns: The value, or nil if there is none.
  /// - Throws: `JobError`.
  public func checkpoint(_ name: String, of id: JobID) async throws -> JobPayload? {
    try await read { try JobRow.checkpoint(name, of: id, $0) }
  }
}
#endif
