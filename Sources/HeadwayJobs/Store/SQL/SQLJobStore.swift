/// A store in an SQL database, which reads by the statements of HeadwayJobs.
@_spi(JobStore) public protocol SQLJobStore: JobStoreBackend {
  /// Reads the state at one moment.
  ///
  /// - Parameter body: A function that reads.
  /// - Returns: The value that the function returns.
  /// - Throws: ``JobError``.
  func readState<Answer: Sendable>(_ body: @escaping @Sendable (any StoreReader) throws -> Answer) async throws
    -> Answer

  /// Calls ``JobRows/mergeActivity()`` in a transaction, unless another process does it now.
  ///
  /// - Returns: Whether there might be more activity to merge.
  /// - Throws: ``JobError``.
  func mergeActivity() async throws -> Bool
}

@_spi(JobStore) extension SQLJobStore {
  /// Returns jobs ordered by ID.
  ///
  /// Each read examines a limited number of rows, so a long list does not show all jobs at the same moment.
  ///
  /// - Parameters:
  ///   - filter: The jobs to return.
  ///   - id: Only jobs with greater IDs are returned; nil for all.
  ///   - limit: The maximum number of jobs.
  /// - Returns: The matching jobs, at most `limit`.
  /// - Throws: ``JobError``.
  public func jobs(_ filter: JobFilter, after id: JobID?, limit: Int) async throws -> [JobRecord] {
    var (jobs, last) = ([JobRecord](), id)
    repeat {
      let (start, rest) = (last, limit - jobs.count)
      let part = try await readState { try $0.jobs(filter, after: start, limit: rest) }
      jobs += part.jobs
      last = part.next
    } while last != nil
    return jobs
  }

  /// Returns the IDs of jobs, newest first, without reading many others.
  ///
  /// - Parameters:
  ///   - filter: The jobs to find.
  ///   - id: Only jobs with smaller IDs are returned; nil for all.
  ///   - limit: The maximum number of jobs.
  /// - Returns: The IDs, in descending order.
  /// - Throws: ``JobError``.
  public func ids(_ filter: JobFilter, before id: JobID?, limit: Int) async throws -> JobIDPage {
    try await readState { try $0.ids(filter, before: id, limit: limit) }
  }

  /// Returns the queues, workers and latest endings.
  ///
  /// - Parameter limit: Jobs are counted up to this number, or to a lower one if many queues have many jobs. If more
  ///   jobs wait in all queues, a store reads only about this many to find their kinds: the next ones of each queue and
  ///   priority. In that case, only the jobs that were read are counted by kind, and some kinds can be missing.
  /// - Returns: The current state of the store.
  /// - Throws: ``JobError``.
  public func overview(countingTo limit: Int) async throws -> JobsOverview {
    try await readState { try $0.overview(countingTo: limit) }
  }

  /// Returns the edges from and to jobs.
  ///
  /// - Parameter ids: The IDs of the jobs.
  /// - Returns: The edges, ordered by the dependency's ID and then by the dependent's ID.
  /// - Throws: ``JobError``.
  public func edges(of ids: [JobID]) async throws -> [JobEdge] { try await readState { try $0.edges(of: ids) } }

  /// Returns the names of queues that have waiting jobs.
  ///
  /// - Parameters:
  ///   - name: Only names after this one are returned; nil for all.
  ///   - limit: The maximum number of names.
  /// - Returns: The names, as sorted by the database.
  /// - Throws: ``JobError``.
  /// - Complexity: O(*n* log *m*) for *n* names and *m* waiting jobs.
  public func waitingQueues(after name: String?, limit: Int) async throws -> [String] {
    try await readState { try $0.waitingQueues(after: name, limit: limit) }
  }

  /// Returns how many jobs of each queue are in each state.
  ///
  /// - Returns: The counts by queue, for queues that have jobs, are paused, or have settings.
  /// - Throws: ``JobError``.
  /// - Complexity: O(*n*) in the number of jobs of the store.
  public func counts() async throws -> [String: JobQueueCounts] { try await readState { try $0.counts() } }

  /// Returns the queues, workers and failures at one moment.
  ///
  /// - Parameter parts: The parts to read.
  /// - Returns: A snapshot with the requested parts.
  /// - Throws: ``JobError``.
  public func snapshot(_ parts: JobsSnapshot.Parts) async throws -> JobsSnapshot {
    try await readState { try $0.snapshot(parts) }
  }

  /// Whether the store keeps statistics: true.
  public var keepsStatistics: Bool { true }

  /// Returns what has happened to the jobs in a time until now.
  ///
  /// If no worker has merged the activity of many transactions, this function merges it, up to a limit. A connection
  /// that can't write returns only part of the activity in this case.
  ///
  /// - Parameters:
  ///   - span: The time that the statistics describe.
  ///   - queue: Only jobs of this queue are counted; nil for all.
  /// - Returns: The activity in each period, by queue and kind.
  /// - Throws: ``JobError``.
  public func statistics(over span: JobStatistics.Span, queue: String?) async throws -> JobStatistics {
    let (statistics, isComplete) = try await readState { try $0.statistics(over: span, queue: queue) }
    guard !isComplete else { return statistics }
    do { try await mergeStatistics() } catch is JobError { return statistics }
    return try await readState { try $0.statistics(over: span, queue: queue).statistics }
  }

  /// Adds the activity of earlier transactions to the statistics of minutes and hours, and deletes old statistics.
  ///
  /// An idle store writes nothing.
  ///
  /// - Throws: ``JobError``.
  public func mergeStatistics() async throws {
    guard try await readState({ try $0.mustMergeActivity() }) else { return }
    var count = 0
    while try await mergeActivity(), count < StatisticsSQL.maxMergeCount { count += 1 }
  }

  /// Returns groups of failed attempts.
  ///
  /// - Parameter id: The only group to return; nil for all.
  /// - Returns: The groups, with the counts of the last hours.
  /// - Throws: ``JobError``.
  public func errorGroups(_ id: JobErrorGroup.ID?) async throws -> [JobErrorGroup] {
    try await readState { try $0.errorGroups(id) }
  }

  /// Counts the jobs that retry, and the jobs that have failed, by the groups of their last errors.
  ///
  /// - Parameters:
  ///   - ids: The groups.
  ///   - limit: The highest number to return.
  /// - Returns: Both numbers of each group.
  /// - Throws: ``JobError``.
  public func jobCounts(
    ofErrors ids: [JobErrorGroup.ID], upTo limit: Int
  ) async throws -> [JobErrorGroup.ID: (retrying: Int, failed: Int)] {
    try await readState { try $0.jobCounts(ofErrors: ids, upTo: limit) }
  }

  /// Returns all schedules.
  ///
  /// - Returns: The schedules, ordered by name.
  /// - Throws: ``JobError``.
  public func schedules() async throws -> [ScheduleRecord] { try await readState { try $0.schedules() } }

  /// Returns a value that an attempt of a job has stored.
  ///
  /// - Parameters:
  ///   - name: The name of the checkpoint.
  ///   - id: The ID of the job.
  /// - Returns: The value, or nil if there is none.
  /// - Throws: ``JobError``.
  public func checkpoint(_ name: String, of id: JobID) async throws -> JobPayload? {
    try await readState { try $0.checkpoint(name, of: id) }
  }

  // MARK: Changes

  /// Changes many jobs, or a queue.
  ///
  /// - Parameter command: The command to execute.
  /// - Returns: The number of jobs or queues that were changed.
  /// - Throws: ``JobError``.
  public func perform(_ command: JobCommand) async throws -> Int { try await perform(command, by: nil) }

  /// Changes a schedule.
  ///
  /// - Parameters:
  ///   - command: The change to make.
  ///   - name: The name of the schedule.
  /// - Returns: Whether there was a schedule with this name, and the job that was added.
  /// - Throws: ``JobError``.
  public func perform(_ command: ScheduleCommand, on name: String) async throws -> ScheduleAnswer {
    try await perform(command, on: name, by: nil)
  }

  /// Returns the recorded changes, newest first.
  ///
  /// - Parameters:
  ///   - job: A job, to return only changes of this job alone; nil for all changes.
  ///   - number: Only records with smaller numbers are returned; nil for all.
  ///   - limit: The maximum number of records.
  /// - Returns: The records.
  /// - Throws: ``JobError``.
  public func changes(of job: JobID?, before number: Int64?, limit: Int) async throws -> [JobsChangeRecord] {
    try await readState { try $0.changes(of: job, before: number, limit: limit) }
  }
}
