import Headway

/// A place that keeps jobs until they have ended.
///
/// You create a store and pass it to ``Jobs``:
///
/// ```swift
/// let store = MemoryJobStore()
/// let jobs = Jobs(store)
/// ```
///
/// Headway has ``MemoryJobStore``, for tests, `SQLiteJobStore`, for all processes of one machine, and
/// `PostgresJobStore`, for many machines. To write another store, see <doc:WriteAStore>.
public protocol JobStore: AnyObject, Sendable {
  // JobStoreBackend has the requests of a store. See Docs/decisions/0052-an-interface-for-store-authors.md.

  /// The maximum size of a payload in bytes.
  var maxPayloadSize: Int { get }

  /// The maximum size of a result, and of the value of a checkpoint, in bytes; 1 MiB by default.
  var maxResultSize: Int { get }

  /// The time of the store's clock.
  var now: StoreTime { get }

  /// The access of ``Jobs`` and ``JobWorker`` to the store.
  ///
  /// A type that wraps another store returns the access of that store.
  var access: JobStoreAccess { get }
}

/// The access of ``Jobs`` and ``JobWorker`` to a store.
///
/// Only stores create it: see <doc:WriteAStore>.
public struct JobStoreAccess: Sendable {
  /// The functions of the store.
  @_spi(JobStore) public let backend: any JobStoreBackend

  /// Creates the access to a store.
  ///
  /// - Parameter backend: The functions of the store.
  @_spi(JobStore) public init(_ backend: any JobStoreBackend) { self.backend = backend }
}

/// The functions of a store, which ``Jobs`` and ``JobWorker`` call.
///
/// A store decides which jobs run, and records the results. It does not run jobs itself. Each function is one
/// transaction: it takes effect as a whole or not at all. Only ``rescue()`` and ``unregister(_:isRunningCode:)`` can
/// consist of several transactions, for at most ``JobCommand/maxChangedCount`` jobs each. Every write of an attempt
/// contains a ``JobFence`` and is rejected when the job no longer runs under that fence.
///
/// Implement ``JobRows`` for the statements of the store, call its functions in a transaction, and run the checks of
/// `JobStoreConformance` in `HeadwayJobsTestKit`. The guide <doc:WriteAStore> explains how.
@_spi(JobStore) public protocol JobStoreBackend: JobStore {
  /// Stores new jobs as a whole or not at all.
  ///
  /// - Parameter jobs: The jobs to store. None of them is larger than ``maxPayloadSize``.
  /// - Returns: The ID of each job, once the jobs are durable.
  /// - Throws: ``JobError``, with the code ``JobError/Code/queueFull`` if a new job would be added to a queue that is
  ///   full.
  func enqueue(_ jobs: [NewJob]) async throws -> [Enqueued]

  /// Records the endings of attempts and claims jobs for a worker.
  ///
  /// The endings are recorded before the jobs are claimed. A rejected ending does not affect other endings.
  ///
  /// - Parameter exchange: The endings and claims of one worker.
  /// - Returns: The result for each ending, and the claimed jobs.
  /// - Throws: ``JobError``. It is not known whether anything was recorded or claimed, so send the endings again.
  func exchange(_ exchange: JobExchange) async throws -> JobExchangeAnswer

  /// Executes the writes of running attempts.
  ///
  /// - Parameter writes: The writes to execute, in order.
  /// - Returns: The result for each write.
  /// - Throws: ``JobError``.
  func write(_ writes: [FencedWrite]) async throws -> [FencedAnswer]

  /// Returns a value that an attempt of a job has stored.
  ///
  /// - Parameters:
  ///   - name: The name of the checkpoint.
  ///   - id: The ID of the job.
  /// - Returns: The value, or nil if there is none.
  /// - Throws: ``JobError``.
  func checkpoint(_ name: String, of id: JobID) async throws -> JobPayload?

  /// Adds a worker.
  ///
  /// - Parameter description: A description of the worker.
  /// - Returns: The identity of the worker.
  /// - Throws: ``JobError``.
  func register(_ description: WorkerDescription) async throws -> WorkerID

  /// Confirms that a worker is alive.
  ///
  /// - Parameters:
  ///   - worker: The worker that is alive.
  ///   - attempts: The attempts that it runs.
  /// - Returns: The cancelled and lost attempts, and whether the worker is still registered.
  /// - Throws: ``JobError``.
  func beat(_ worker: WorkerID, running attempts: [JobFence]) async throws -> WorkerBeat

  /// Removes a worker that has stopped.
  ///
  /// Jobs that it has not ended return to their queues, and their attempts are not counted.
  ///
  /// - Parameters:
  ///   - worker: The worker that has stopped.
  ///   - isRunningCode: Whether code of jobs still runs in the process, because it does not respond to its
  ///     cancellation. The jobs then return to their queues after the process has ended, so that none runs twice at the
  ///     same time.
  /// - Throws: ``JobError``.
  func unregister(_ worker: WorkerID, isRunningCode: Bool) async throws

  /// Returns the jobs of dead workers to their queues and counts a crash for each.
  ///
  /// - Returns: The jobs that were returned, or have failed or were cancelled instead.
  /// - Throws: ``JobError``.
  func rescue() async throws -> [JobID]

  /// Adds the jobs of due ticks, makes due jobs wait for a worker, cancels jobs that have missed their deadline, and
  /// continues to update the dependents of jobs that have ended.
  ///
  /// One call processes at most ``JobCommand/maxChangedCount`` schedules, due jobs and expired jobs each. If there are
  /// more, it returns the current time, and the next call continues.
  ///
  /// - Returns: The earliest time when a tick or a job is due, a job misses its deadline, or a rate permits another
  ///   claim; nil if there is none.
  /// - Throws: ``JobError``.
  func advance() async throws -> StoreTime?

  /// Changes many jobs, or a queue.
  ///
  /// - Parameter command: The command to execute.
  /// - Returns: The number of jobs or queues that were changed, at most ``JobCommand/maxChangedCount``.
  /// - Throws: ``JobError``.
  func perform(_ command: JobCommand) async throws -> Int

  /// Changes many jobs, or a queue, and records the change in the same transaction.
  ///
  /// The default implementation makes the change without recording it.
  ///
  /// - Parameters:
  ///   - command: The command to execute.
  ///   - origin: The author of the change; nil to record nothing.
  /// - Returns: The number of jobs or queues that were changed, at most ``JobCommand/maxChangedCount``.
  /// - Throws: ``JobError``.
  func perform(_ command: JobCommand, by origin: JobsChangeOrigin?) async throws -> Int

  /// Changes a schedule.
  ///
  /// - Parameters:
  ///   - command: The change to make.
  ///   - name: The name of the schedule.
  /// - Returns: Whether there was a schedule with this name, and the job that was added.
  /// - Throws: ``JobError``.
  func perform(_ command: ScheduleCommand, on name: String) async throws -> ScheduleAnswer

  /// Changes a schedule, and records the change in the same transaction.
  ///
  /// The default implementation makes the change without recording it.
  ///
  /// - Parameters:
  ///   - command: The change to make.
  ///   - name: The name of the schedule.
  ///   - origin: The author of the change; nil to record nothing.
  /// - Returns: Whether there was a schedule with this name, and the job that was added.
  /// - Throws: ``JobError``.
  func perform(
    _ command: ScheduleCommand, on name: String, by origin: JobsChangeOrigin?
  ) async throws -> ScheduleAnswer

  /// Returns the recorded changes, newest first.
  ///
  /// The default implementation returns nothing.
  ///
  /// - Parameters:
  ///   - job: A job, to return only changes whose filter selects this job by its ID; nil for all changes.
  ///   - number: Only records with smaller numbers are returned; nil for all.
  ///   - limit: The maximum number of records.
  /// - Returns: The records.
  /// - Throws: ``JobError``.
  func changes(of job: JobID?, before number: Int64?, limit: Int) async throws -> [JobsChangeRecord]

  /// Returns all schedules.
  ///
  /// - Returns: The schedules, ordered by name.
  /// - Throws: ``JobError``.
  func schedules() async throws -> [ScheduleRecord]

  /// Returns jobs ordered by ID.
  ///
  /// - Parameters:
  ///   - filter: The jobs to return.
  ///   - id: Only jobs with greater IDs are returned; nil for all.
  ///   - limit: The maximum number of jobs.
  /// - Returns: The matching jobs, at most `limit`.
  /// - Throws: ``JobError``.
  func jobs(_ filter: JobFilter, after id: JobID?, limit: Int) async throws -> [JobRecord]

  /// Returns the edges from and to jobs.
  ///
  /// - Parameter ids: The IDs of the jobs.
  /// - Returns: The edges, ordered by the dependency's ID and then by the dependent's ID.
  /// - Throws: ``JobError``.
  func edges(of ids: [JobID]) async throws -> [JobEdge]

  /// Returns the names of queues that have waiting jobs, without reading all of these jobs.
  ///
  /// Workers that serve queues by a pattern call this function once per second. The default implementation counts all
  /// jobs.
  ///
  /// - Parameters:
  ///   - name: Only names after this one are returned; nil for all.
  ///   - limit: The maximum number of names.
  /// - Returns: The names, in an order of the store.
  /// - Throws: ``JobError``.
  func waitingQueues(after name: String?, limit: Int) async throws -> [String]

  /// Returns how many jobs of each queue are in each state.
  ///
  /// - Returns: The counts by queue, for queues that have jobs, are paused, or have settings.
  /// - Throws: ``JobError``.
  func counts() async throws -> [String: JobQueueCounts]

  /// Returns the queues, workers and failures at one moment.
  ///
  /// The paused queues are always among the queues.
  ///
  /// - Parameter parts: The parts to read.
  /// - Returns: A snapshot with the requested parts.
  /// - Throws: ``JobError``.
  func snapshot(_ parts: JobsSnapshot.Parts) async throws -> JobsSnapshot

  /// Returns the IDs of jobs, newest first, without reading many other jobs.
  ///
  /// A store can end the search before it has found enough jobs. In that case, the page has fewer IDs, or none, and
  /// ``JobIDPage/next`` continues the search.
  ///
  /// The default implementation reads all jobs that match the filter.
  ///
  /// - Parameters:
  ///   - filter: The jobs to find.
  ///   - id: Only jobs with smaller IDs are returned; nil for all.
  ///   - limit: The maximum number of jobs.
  /// - Returns: The IDs, in descending order.
  /// - Throws: ``JobError``.
  func ids(_ filter: JobFilter, before id: JobID?, limit: Int) async throws -> JobIDPage

  /// Returns the queues, workers and latest endings, and stops counting at a limit.
  ///
  /// The default implementation reads all jobs.
  ///
  /// - Parameter limit: The highest number that must be exact, except in queues that the overview has a lower limit
  ///   for: see ``JobsOverview/queueCountLimits``. Instead of a greater number, a store can return any other number
  ///   above the limit.
  /// - Returns: The current state of the store.
  /// - Throws: ``JobError``.
  func overview(countingTo limit: Int) async throws -> JobsOverview

  /// Returns groups of failed attempts, in any order.
  ///
  /// The default implementation returns nothing, for a store that does not keep them.
  ///
  /// - Parameter id: The only group to return; nil for all.
  /// - Returns: The groups, with the counts of the last hours.
  /// - Throws: ``JobError``.
  func errorGroups(_ id: JobErrorGroup.ID?) async throws -> [JobErrorGroup]

  /// Counts the jobs that retry, and the jobs that have failed, by the groups of their last errors.
  ///
  /// The default implementation reads all of these jobs.
  ///
  /// - Parameters:
  ///   - ids: The groups.
  ///   - limit: The highest number to return.
  /// - Returns: Both numbers of each group that has such jobs.
  /// - Throws: ``JobError``.
  func jobCounts(ofErrors ids: [JobErrorGroup.ID], upTo limit: Int) async throws
    -> [JobErrorGroup.ID: (retrying: Int, failed: Int)]

  /// Returns the activity of the jobs in a span of time that ends now.
  ///
  /// The default implementation returns periods without activity.
  ///
  /// - Parameters:
  ///   - span: The time that the statistics describe.
  ///   - queue: Only jobs of this queue are counted; nil for all.
  /// - Returns: The activity in each period, by queue and kind.
  /// - Throws: ``JobError``.
  func statistics(over span: JobStatistics.Span, queue: String?) async throws -> JobStatistics

  /// Whether the store keeps statistics; false by default.
  var keepsStatistics: Bool { get }

  /// Adds the activity of earlier transactions to the statistics of minutes and hours, and deletes old statistics.
  ///
  /// Workers call this function every ten seconds. The numbers that ``statistics(over:queue:)`` returns don't change.
  /// The default implementation does nothing.
  ///
  /// - Throws: ``JobError``.
  func mergeStatistics() async throws

  /// Checks the database of the store: versions, settings, space, and what slows it down.
  ///
  /// The default implementation returns nothing.
  ///
  /// - Parameter measuresCommit: Whether to commit a small change, in order to measure how long that takes.
  /// - Returns: The results of the checks.
  /// - Throws: ``JobError``.
  func findings(measuringCommit measuresCommit: Bool) async throws -> [JobsHealth.Finding]

  /// Calls a function with hints about changes, until the returned token is released.
  ///
  /// Hints can be lost. They affect only how soon something happens.
  ///
  /// - Parameter handler: A function that is called with each hint. It is called on any thread and must return quickly.
  /// - Returns: A token that keeps the function registered. Release it to end the calls.
  func observeHints(_ handler: @escaping @Sendable (JobHint) -> Void) -> any AnyObject & Sendable
}

extension JobStore {
  /// 1 MiB.
  public var maxResultSize: Int { 1_024 * 1_024 }
}

@_spi(JobStore) extension JobStoreBackend {
  /// The access to this store.
  public var access: JobStoreAccess { JobStoreAccess(self) }

  /// Returns nothing.
  ///
  /// - Parameter id: The only group to return.
  /// - Returns: No groups.
  /// - Throws: Nothing.
  public func errorGroups(_ id: JobErrorGroup.ID?) async throws -> [JobErrorGroup] { [] }

  /// Counts the jobs that retry, and the jobs that have failed, by the groups of their last errors.
  ///
  /// - Parameters:
  ///   - ids: The groups.
  ///   - limit: The highest number to return.
  /// - Returns: Both numbers of each group.
  /// - Throws: ``JobError``.
  /// - Complexity: O(*n*) in the number of jobs that retry or have failed.
  public func jobCounts(
    ofErrors ids: [JobErrorGroup.ID], upTo limit: Int
  ) async throws -> [JobErrorGroup.ID: (retrying: Int, failed: Int)] {
    let found = try await jobs(JobFilter(states: [.retrying, .failed]), after: nil, limit: .max)
    var counts: [JobErrorGroup.ID: (retrying: Int, failed: Int)] = [:]
    for id in ids {
      let states = found.filter { $0.errorGroup == id }.map(\.state)
      counts[id] = (min(limit, states.count { $0 == .retrying }), min(limit, states.count { $0 == .failed }))
    }
    return counts
  }

  /// Makes the change without recording it.
  ///
  /// - Parameters:
  ///   - command: The command to execute.
  ///   - origin: The author of the change.
  /// - Returns: The number of jobs or queues that were changed.
  /// - Throws: ``JobError``.
  public func perform(_ command: JobCommand, by origin: JobsChangeOrigin?) async throws -> Int {
    try await perform(command)
  }

  /// Makes the change without recording it.
  ///
  /// - Parameters:
  ///   - command: The change to make.
  ///   - name: The name of the schedule.
  ///   - origin: The author of the change.
  /// - Returns: Whether there was a schedule with this name, and the job that was added.
  /// - Throws: ``JobError``.
  public func perform(
    _ command: ScheduleCommand, on name: String, by origin: JobsChangeOrigin?
  ) async throws -> ScheduleAnswer { try await perform(command, on: name) }

  /// Returns nothing.
  ///
  /// - Parameters:
  ///   - job: A job.
  ///   - number: The number of a record.
  ///   - limit: The maximum number of records.
  /// - Returns: No records.
  /// - Throws: Nothing.
  public func changes(of job: JobID?, before number: Int64?, limit: Int) async throws -> [JobsChangeRecord] { [] }

  /// The message for an answer that does not belong to the request.
  var wrongAnswer: String {
    "\(type(of: self)) has not answered with a new job. Check the store with JobStoreConformance of HeadwayJobsTestKit."
  }
}

/// A hint that something has changed in a store.
@_spi(JobStore) public enum JobHint: Hashable, Sendable {
  /// Jobs of a queue might be claimable.
  case claimable(queue: String)
  /// The store might have to be advanced earlier than before.
  case scheduled
  /// Jobs have ended.
  case finished([JobID])
  /// A running job was cancelled.
  case cancellationRequested
  /// A queue with a pending limit might have room.
  case room(queue: String)
  /// The lease of a worker in this process could not be renewed in time, so its jobs might soon run elsewhere.
  case leaseLost(WorkerID)
}

/// The number of jobs of a queue in each state, and the settings of the queue.
public struct JobQueueCounts: Hashable, Codable, Sendable {
  /// The number of jobs in each state.
  public var byState: [JobState: Int]
  /// Whether the queue is paused.
  public var isPaused: Bool
  /// The settings of the queue.
  public var settings: JobQueueSettings
  /// The number of attempts that have failed since the last success, while the queue has a failure limit.
  public var failureCount: Int

  /// Creates counts.
  ///
  /// - Parameters:
  ///   - byState: The number of jobs in each state.
  ///   - isPaused: Whether the queue is paused.
  ///   - settings: The settings of the queue.
  ///   - failureCount: The number of attempts that have failed since the last success.
  @_spi(JobStore) public init(
    byState: [JobState: Int] = [:], isPaused: Bool = false, settings: JobQueueSettings = JobQueueSettings(),
    failureCount: Int = 0
  ) {
    self.byState = byState
    self.isPaused = isPaused
    self.settings = settings
    self.failureCount = failureCount
  }

  /// The number of jobs in a state.
  ///
  /// - Parameter state: The state of the jobs to count.
  /// - Returns: How many jobs are in the state.
  public subscript(state: JobState) -> Int { byState[state] ?? 0 }
}

/// Stops the process if a store would accept no payload or no result.
@_spi(JobStore) public func requireSizes(_ maxPayloadSize: Int, _ maxResultSize: Int) {
  require(
    maxPayloadSize > 0 && maxResultSize > 0,
    "A store of jobs has the maxPayloadSize \(maxPayloadSize) and the maxResultSize \(maxResultSize): use positive "
      + "numbers."
  )
}
