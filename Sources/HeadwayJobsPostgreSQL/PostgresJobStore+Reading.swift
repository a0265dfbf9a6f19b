#if PostgreSQL
@_spi(JobStore) public import HeadwayJobs

@_spi(JobStore) extension PostgresJobStore {
  /// Returns jobs in the order of their numbers.
  ///
  /// - Parameters:
  ///   - filter: The jobs to return.
  ///   - id: Only jobs with greater numbers than this one are returned; nil for all.
  ///   - limit: The maximum number of jobs.
  /// - Returns: The jobs.
  /// - Throws: `JobError`.
  public func jobs(_ filter: JobFilter, after id: JobID?, limit: Int) async throws -> [JobRecord] {
    try await read { try $0.jobs(filter, after: id, limit: limit) }
  }

  /// Returns the numbers of jobs, newest first.
  ///
  /// - Parameters:
  ///   - filter: The jobs to find.
  ///   - id: Only jobs with smaller numbers than this one are returned; nil for all.
  ///   - limit: The maximum number of jobs.
  /// - Returns: The numbers, in descending order.
  /// - Throws: `JobError`.
  public func ids(_ filter: JobFilter, before id: JobID?, limit: Int) async throws -> JobIDPage {
    try await read { try JobSearch($0, filter, before: id, limit: limit).page() }
  }

  /// Returns the queues, workers, failures and latest endings.
  ///
  /// - Parameter limit: Jobs are counted up to this number. If more jobs wait in all queues, only about this many are
  ///   read to find their kinds: the next ones of each queue and priority. Kinds that only later jobs have are missing,
  ///   and the numbers by kind are those of the jobs that were read.
  /// - Returns: The overview.
  /// - Throws: `JobError`.
  public func overview(countingTo limit: Int) async throws -> JobsOverview {
    try await read { try OverviewReader($0, limit: limit).overview() }
  }

  /// Returns the edges from and to jobs.
  ///
  /// - Parameter ids: The jobs.
  /// - Returns: The edges, in the order of the dependencies' numbers, and then of the dependents' numbers.
  /// - Throws: `JobError`.
  public func edges(of ids: [JobID]) async throws -> [JobEdge] { try await read { try $0.edges(of: ids) } }

  /// Returns the names of queues that have waiting jobs.
  ///
  /// - Parameters:
  ///   - name: Only names after this one are returned; nil for all.
  ///   - limit: The maximum number of names.
  /// - Returns: The names, in the order of the database's collation.
  /// - Throws: `JobError`.
  /// - Complexity: O(*n* log *m*) for *n* names and *m* waiting jobs.
  public func waitingQueues(after name: String?, limit: Int) async throws -> [String] {
    try await read { try $0.waitingQueues(after: name, limit: limit) }
  }

  /// Returns how many jobs of each queue are in each state.
  ///
  /// - Returns: The numbers, for queues with jobs, and for those that are paused or have settings.
  /// - Throws: `JobError`.
  /// - Complexity: O(*n*) in the number of jobs of the store.
  public func counts() async throws -> [String: JobQueueCounts] {
    try await read { try $0.counts(includesJobs: true) }
  }

  /// Returns the queues, workers and failures at one moment.
  ///
  /// - Parameter parts: The parts to read.
  /// - Returns: The snapshot.
  /// - Throws: `JobError`.
  public func snapshot(_ parts: JobsSnapshot.Parts) async throws -> JobsSnapshot {
    try await read { try $0.snapshot(parts) }
  }

  /// Returns all schedules.
  ///
  /// - Returns: The schedules, in the order of their names.
  /// - Throws: `JobError`.
  public func schedules() async throws -> [ScheduleRecord] { try await read { try $0.schedules() } }

  /// Returns a value that an attempt of a job has stored.
  ///
  /// - Parameters:
  ///   - name: The name of the checkpoint.
  ///   - id: The job.
  /// - Returns: The value, or nil if there is none.
  /// - Throws: `JobError`.
  public func checkpoint(_ name: String, of id: JobID) async throws -> JobPayload? {
    try await read { try $0.checkpoint(name, of: id) }
  }
}
#endif
