/// The rows of a store, inside a transaction that writes: the statements under the algorithms that all stores share.
///
/// A store implements the requirements. Extensions of this protocol add jobs, end attempts, execute commands, follow
/// dependencies, and advance schedules. They use ``JobTransitions`` and ``JobGraph`` for all changes of a job's state.
///
/// If a transaction can see changes of other transactions, the functions that return jobs lock their rows in ascending
/// order of ID.
///
/// See `Docs/decisions/0050-one-set-of-rows.md`.
@_spi(JobStore) public protocol JobRows: AnyObject {
  /// The time of the store's clock.
  var now: StoreTime { get }
  /// The hints for observers, which are called after the commit.
  var hints: JobHints { get set }
  /// The jobs that have dependents, have ended in this transaction, and whose edges are not settled yet.
  var ended: [JobGraph.Standing] { get set }
  /// The number of edges that can still become met in this transaction.
  var meetBudget: Int { get set }
  /// The number of edges that can still fail in this transaction.
  var cascadeBudget: Int { get set }

  // MARK: Jobs

  /// Returns the unfinished and finished jobs among several jobs, in any order.
  func find(_ ids: [JobID]) throws -> [JobRecord]
  /// Returns the unfinished jobs among several jobs, ordered by ID.
  func findUnfinished(_ ids: [JobID]) throws -> [JobRecord]
  /// Called with the maximum number of the next calls of ``nextNumbers()``, and with 0 after the last of them.
  func reserveNumbers(_ count: Int) throws
  /// Returns a new number for a job, and a place behind all other jobs.
  func nextNumbers() throws -> (id: JobID, position: Int64)
  /// Returns places behind all other jobs.
  func nextPositions(_ count: Int) throws -> [Int64]
  /// Inserts new jobs, which have not ended.
  func insert(_ jobs: [JobRecord]) throws
  /// Writes jobs that have not ended; some might be among the finished ones.
  func putUnfinished(_ jobs: [JobRecord]) throws
  /// Writes jobs that have ended and removes them from the unfinished ones.
  func putFinished(_ jobs: [JobRecord]) throws
  /// Removes jobs that have ended and are not kept, and their edges.
  func forget(_ ids: [JobID]) throws
  /// Removes the checkpoints of jobs.
  func deleteCheckpoints(of ids: [JobID]) throws
  /// Calls a function that writes a damaged job, and preserves the stored parts of the job.
  func preservingParts(of job: JobRecord, _ write: () throws -> Void) throws

  // MARK: Keys

  /// Returns the job that holds each key, or nil if no job holds it.
  ///
  /// If the caller replaces the jobs, unfinished ones are locked.
  func holders(of keys: [UniqueKey], toReplace: Bool) throws -> [JobID?]
  /// Makes jobs hold keys until a time.
  ///
  /// No job held the keys when the transaction read their holders. If another transaction has taken a key since, repeat
  /// this one.
  func hold(_ keys: [(key: String, job: JobID, until: StoreTime)]) throws

  // MARK: Attempts

  /// Records successes without reading the jobs, if the store has a faster way for this most frequent ending.
  ///
  /// - Parameter endings: Endings of different jobs.
  /// - Throws: An error of the store.
  /// - Returns: The jobs that have succeeded. The caller records the other endings, and notes all ends.
  func succeed(_ endings: [JobEnding]) throws -> [JobID: JobSuccess]
  /// Returns whether an attempt runs its job.
  func isRun(by fence: JobFence) throws -> Bool
  /// Returns the jobs that a worker runs, ordered by ID.
  func runningJobs(of worker: WorkerID) throws -> [JobRecord]
  /// Returns the values of one name that jobs have stored.
  func checkpoints(_ name: String, of ids: [JobID]) throws -> [JobID: JobPayload]
  /// Stores values of unfinished jobs, each with a name.
  func putCheckpoints(_ checkpoints: [(job: JobID, name: String, value: JobPayload)]) throws
  /// Stores the progress of a running job.
  func setProgress(_ progress: JobProgress, of id: JobID) throws

  // MARK: Commands

  /// Returns jobs that a command can change, ordered by ID, up to ``JobCommand/maxChangedCount``.
  ///
  /// - Parameters:
  ///   - command: A command with a filter. If it deletes jobs, those that unfinished jobs depend on are skipped.
  ///   - prepare: Called with the jobs that the next calls of `isIncluded` examine.
  ///   - isIncluded: A function that returns whether to select the job, and that can change the job.
  /// - Throws: An error of the store, or of one of the functions.
  /// - Returns: The selected jobs, with their changes.
  func select(
    for command: JobCommand, prepare: ([JobRecord]) throws -> Void, where isIncluded: (inout JobRecord) throws -> Bool
  ) throws -> [JobRecord]
  /// Deletes finished jobs, unless unfinished jobs depend on them, and returns how many were deleted.
  func delete(_ ids: [JobID]) throws -> Int
  /// Deletes jobs whose retention has expired, and everything else that is no longer needed.
  func prune() throws -> Int
  /// Called with jobs that run again, before they are written.
  func willRestart(_ jobs: [JobRecord]) throws

  // MARK: Errors

  /// Returns the error groups among several that exist.
  func existingErrorGroups(among ids: [JobErrorGroup.ID]) throws -> Set<JobErrorGroup.ID>
  /// Returns the number of error groups of each kind.
  func errorGroupCounts(of kinds: [JobKind]) throws -> [JobKind: Int]
  /// Counts attempts that have failed now.
  ///
  /// - Parameter failures: A group with the number of attempts for each error, which might be new. The groups are
  ///   ordered by ID.
  /// - Throws: An error of the store.
  func countErrors(_ failures: [JobErrorGroup]) throws
  /// Returns the mute of a group of failed attempts; nil if it is not muted or does not exist.
  func errorMute(of id: JobErrorGroup.ID) throws -> JobErrorGroup.Mute?
  /// Changes or removes the mute of a group of failed attempts, and returns whether the group had another note.
  func setMute(_ mute: JobErrorGroup.Mute?, of id: JobErrorGroup.ID) throws -> Bool

  // MARK: Queues

  /// The queues that are paused or have settings.
  func queues() throws -> [String: JobQueueRecord]
  /// Returns a queue as it is now, so that it can be changed; nil if it is not paused and has no settings.
  func lockedQueue(_ name: String) throws -> JobQueueRecord?
  /// Writes a queue, or removes it if it is not paused and has no settings.
  func put(_ queue: JobQueueRecord, named name: String) throws
  /// Notes how an attempt has ended, in the record of its queue.
  func note(_ action: JobEnding.Action, of queue: String) throws
  /// Returns the queues that have at least as many pending jobs as their limits.
  func fullQueues(_ limits: [String: Int]) throws -> Set<String>
  /// Adds all jobs, or none if a queue is full or a dependency is unknown.
  func enqueue(_ batch: [NewJob], beforeDependentsOf parent: JobID?) throws -> [Enqueued]

  // MARK: Dependencies

  /// The states of the jobs that exist.
  func standings(of ids: [JobID]) throws -> [JobID: JobGraph.Standing]
  /// Notes that unfinished jobs have dependents.
  func noteDependents(of ids: [JobID]) throws
  /// Makes held jobs wait for more jobs.
  func addUnmet(_ count: Int, to ids: [JobID]) throws
  /// The unmet edges from dependencies, in the order of `ids` and then by the dependent's ID.
  func unmetEdges(from ids: [JobID], limit: Int) throws -> [JobEdge]
  /// Returns the jobs among several jobs that have unmet edges.
  func jobsWithUnmetEdges(_ ids: [JobID]) throws -> Set<JobID>
  /// The edges to dependents, ordered by the dependency's ID for each dependent.
  func edges(to ids: [JobID]) throws -> [JobEdge]
  /// Inserts the edges of new jobs.
  func insert(_ edges: [JobEdge]) throws
  /// Changes the status of edges that exist and does not change their dependents.
  func setStatus(_ status: JobEdge.Status, of edges: [JobEdge]) throws
  /// Marks edges from ended jobs as met if the results fulfill the requirements, and updates the dependents.
  ///
  /// Marks edges up to a limit, in the order of `ends` and then by the dependent's ID.
  ///
  /// - Returns: The number of edges that were marked.
  func meetEdges(of ends: [JobGraph.Standing], limit: Int) throws -> Int
  /// Called before the edges of jobs that have ended are settled.
  func willSettle(_ ends: [JobGraph.Standing]) throws
  /// The jobs that have ended and still have unmet edges.
  func cascades() throws -> [JobGraph.Standing]
  /// Notes that jobs that have ended still have unmet edges.
  ///
  /// The store must be advanced while there are such jobs: set ``JobHints/hasScheduled``.
  func noteCascades(_ ends: [JobGraph.Standing]) throws
  /// Notes that jobs no longer have unmet edges.
  func removeCascades(of ids: [JobID]) throws

  // MARK: Time

  /// The jobs that have not started by their deadline, ordered by deadline, up to a limit.
  func lateJobs(limit: Int) throws -> [JobRecord]
  /// The scheduled and retrying jobs that are due, ordered by due time, up to a limit.
  func dueJobs(limit: Int) throws -> [JobRecord]
  /// The schedules that have a due tick, ordered by tick, up to a limit.
  func dueSchedules(limit: Int) throws -> [DueSchedule]
  /// The schedule of a name, if there is one. The definition replaces a stored one that can't be read.
  func schedule(_ name: String, orWith definition: ScheduleDefinition?) throws -> ScheduleRecord?
  /// Returns whether a job exists and has not ended.
  func isUnfinished(_ id: JobID) throws -> Bool
  /// Writes a schedule, which might be new.
  func write(_ schedule: ScheduleRecord) throws
  /// Writes the changes of ``ScheduleTransitions/tick(_:isLastJobUnfinished:at:)``, and the last jobs.
  func writeTicks(of schedules: [ScheduleRecord]) throws
  /// Sets the time of the next ticks, without changing anything else.
  func postpone(_ names: [String], to time: StoreTime) throws
  /// Removes a schedule and returns whether there was one.
  func removeSchedule(_ name: String) throws -> Bool

  // MARK: Statistics

  /// The activity of the transaction, for ``storeActivity()``.
  var activity: JobActivityLog { get set }
  /// Stores the activity of the transaction, with its time.
  ///
  /// The transaction must not wait for others that do the same, so add rows instead of changing stored ones.
  func insertActivity(_ groups: [JobStatistics.Group]) throws
  /// Removes the oldest activity that is not part of a period yet, up to a limit.
  func takeActivity(limit: Int) throws -> [CountedActivity]
  /// Returns the rows of periods.
  func statistics(in periods: [StatisticsPeriod]) throws -> [StatisticsRow]
  /// Inserts or replaces the rows of periods.
  func putStatistics(_ rows: [StatisticsRow]) throws
  /// Deletes the rows of periods that begin before a time, oldest first, up to ``JobCommand/maxChangedCount``.
  func deleteStatistics(of level: StatisticsPeriod.Level, before time: StoreTime) throws

  // MARK: Changes by people

  /// Returns the record of a change that an earlier transaction has written; nil if there is none.
  func findChange(token: Int64) throws -> JobsChangeRecord?
  /// Writes the record of a change.
  ///
  /// If its number is 0, the record is new and receives the next number.
  /// ``prune()`` deletes records after ``JobsChangeRecord/retention``.
  func write(_ change: JobsChangeRecord, token: Int64) throws
}

/// A job whose success was recorded without reading the job.
@_spi(JobStore) public struct JobSuccess: Hashable, Sendable {
  /// The queue of the job.
  public let queue: String
  /// The kind of the job.
  public let kind: JobKind
  /// When the attempt began.
  public let claimedTime: StoreTime?
  /// Whether other jobs wait for the job, or have waited for it.
  public let hasDependents: Bool

  /// Creates the description of a success.
  public init(queue: String, kind: JobKind, claimedTime: StoreTime?, hasDependents: Bool) {
    self.queue = queue
    self.kind = kind
    self.claimedTime = claimedTime
    self.hasDependents = hasDependents
  }
}

// Requirements that most stores need not implement.
@_spi(JobStore) extension JobRows {
  /// Does nothing.
  ///
  /// - Parameter count: The maximum number of the next calls.
  public func reserveNumbers(_ count: Int) {}

  /// Does nothing.
  ///
  /// - Parameter jobs: The jobs that run again.
  public func willRestart(_ jobs: [JobRecord]) {}

  /// Does nothing.
  ///
  /// - Parameter ends: The jobs that have ended.
  public func willSettle(_ ends: [JobGraph.Standing]) {}

  /// Records no success.
  ///
  /// - Parameter endings: Endings of different jobs.
  /// - Returns: No jobs.
  public func succeed(_ endings: [JobEnding]) -> [JobID: JobSuccess] { [:] }

  /// Returns all groups, for a store that keeps no error groups.
  ///
  /// - Parameter ids: The IDs of groups.
  /// - Returns: The same groups, so that none is new.
  public func existingErrorGroups(among ids: [JobErrorGroup.ID]) -> Set<JobErrorGroup.ID> { Set(ids) }

  /// Returns nothing, for a store that keeps no error groups.
  ///
  /// - Parameter kinds: The kinds of jobs.
  /// - Returns: No numbers.
  public func errorGroupCounts(of kinds: [JobKind]) -> [JobKind: Int] { [:] }

  /// Does nothing, for a store that keeps no error groups.
  ///
  /// - Parameter failures: A group for each error.
  public func countErrors(_ failures: [JobErrorGroup]) {}

  /// Returns nil, for a store that keeps no error groups.
  ///
  /// - Parameter id: The ID of the group.
  /// - Returns: No mute.
  public func errorMute(of id: JobErrorGroup.ID) -> JobErrorGroup.Mute? { nil }

  /// Does nothing, for a store that keeps no error groups.
  ///
  /// - Parameters:
  ///   - mute: The note of a person.
  ///   - id: The ID of the group.
  /// - Returns: False.
  public func setMute(_ mute: JobErrorGroup.Mute?, of id: JobErrorGroup.ID) -> Bool { false }

  /// Returns the queue without locking it.
  ///
  /// - Parameter name: The name of the queue.
  /// - Returns: The record; nil if the queue is not paused and has no settings.
  /// - Throws: An error of the store.
  public func lockedQueue(_ name: String) throws -> JobQueueRecord? { try queues()[name] }

  /// Changes the record of the queue.
  ///
  /// - Parameters:
  ///   - action: How the attempt has ended.
  ///   - queue: The name of the queue.
  /// - Throws: An error of the store.
  public func note(_ action: JobEnding.Action, of queue: String) throws {
    try changeQueue(queue) { $0.note(action) }
  }
}
