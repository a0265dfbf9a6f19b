public import FoundationEssentials
public import Headway

/// A change of many jobs or of a queue, requested by a person or a program.
public enum JobCommand: Hashable, Sendable {
  /// Cancels unfinished jobs. If a job is running, its worker cancels it.
  case cancel(JobFilter)
  /// Cancels running jobs immediately and takes them from their workers. Later writes of the workers are rejected.
  case abandon(JobFilter)
  /// Runs failed and cancelled jobs again, with new attempts.
  ///
  /// Jobs whose key is held by another job remain as they are. If no other job can be run again, the command throws a
  /// ``JobError`` with the code ``JobError/Code/keyHeld``. The same applies, with the code
  /// ``JobError/Code/dependencyFailed``, to jobs that require the success of a failed job, unless the command also runs
  /// that job again.
  case retry(JobFilter)
  /// Deletes finished jobs, except those that unfinished jobs depend on.
  case delete(JobFilter)
  /// Changes jobs that have not started, or that wait for their next attempt.
  case change(JobFilter, JobChange)
  /// Sends a signal to unfinished jobs.
  ///
  /// A job that has too many signals does not change. If no other job can receive the signal, the command throws a
  /// ``JobError`` with the code ``JobError/Code/tooManySignals``.
  case signal(JobFilter, JobSignal)
  /// Pauses or resumes a queue.
  case setPaused(queue: String, Bool)
  /// Changes a setting of a queue.
  case configure(queue: String, JobQueueChange)
  /// Mutes a group of failed attempts with a note of an author, or ends the mute if the note is nil.
  case setMuted(JobErrorGroup.ID, note: String?, author: String?)
  /// Deletes finished jobs past their retention period.
  case prune

  /// The maximum number of jobs that a store changes in one transaction.
  ///
  /// ``Jobs/perform(_:)`` changes all jobs that match when it begins, in as many transactions as necessary.
  public static let maxChangedCount = 1_000
  /// The maximum number of expired keys that one command to prune deletes.
  ///
  /// Workers prune a store every minute and continue only if there are more expired jobs. Therefore, this number can be
  /// greater than the number of jobs.
  @_spi(JobStore) public static let maxPrunedKeyCount = 10_000
}

/// A change of a job that has not started, or that waits for its next attempt.
public enum JobChange: Hashable, Sendable {
  // One command makes all of these changes: see Docs/decisions/0051-names-of-durable-jobs.md.

  /// Changes the priority.
  case priority(Operation.QueuePriority)
  /// Moves the job to another queue. Its place there depends on when it was ready.
  case queue(String)
  /// Changes the time when the job is due; nil makes it due now.
  ///
  /// A scheduled job that is due now waits for a worker, after the jobs that already wait. A waiting job is scheduled
  /// if the time is in the future. A job that waits for other jobs continues to wait for them, and then waits until the
  /// time.
  ///
  /// A job that waits for a signal, or sleeps, runs at that time, and then waits again until its own time limit. A
  /// signal still wakes it earlier.
  case dueTime(StoreTime?)
  /// Changes the time when the job is cancelled if it has not started; nil removes the deadline.
  case deadline(StoreTime?)
  /// Changes the payload, and the version of the job's type that encoded it.
  ///
  /// The kind, the checkpoints and the unique key of the job do not change.
  case payload(JobPayload, version: Int)

  /// Makes the job due now.
  public static let runNow = JobChange.dueTime(nil)

  /// Makes the job due at another time.
  ///
  /// - Parameter date: When the job is due. A time that is not in the future makes the job due now.
  /// - Returns: A change of the due time.
  public static func startDate(_ date: Date) -> JobChange { .dueTime(StoreTime(date)) }
}

/// A selection of jobs: those that meet all conditions that are not nil.
public struct JobFilter: Hashable, Codable, Sendable {
  /// The IDs of the selected jobs.
  public var ids: [JobID]?
  /// The states of the jobs.
  public var states: Set<JobState>?
  /// The queues of the jobs.
  public var queues: Set<String>?
  /// The kinds of the jobs.
  public var kinds: Set<JobKind>?
  /// A tag of the jobs.
  public var tag: String?
  /// The job whose failure or cancellation caused the jobs to be cancelled.
  public var culprit: JobID?
  /// A string that the labels of the jobs contain (case-sensitive).
  public var label: String?
  /// A string that the payloads of the jobs contain (case-sensitive).
  ///
  /// The bytes of the text in UTF-8 are compared with the stored bytes. In the JSON of a `Codable` job, the members are
  /// sorted by name, and there are no spaces between them. Such a search reads the payloads of all jobs that meet the
  /// other conditions.
  public var payload: String?
  /// The earliest time when the jobs were stored.
  public var since: StoreTime?
  /// The latest time when the jobs were stored.
  public var until: StoreTime?
  /// The group of the last error of the jobs.
  ///
  /// Jobs that have succeeded have no such group: see ``JobRecord/errorGroup``.
  public var errorGroup: JobErrorGroup.ID?

  /// Creates a selection.
  ///
  /// - Parameters:
  ///   - ids: The IDs of the selected jobs.
  ///   - states: The states of the jobs.
  ///   - queues: The queues of the jobs.
  ///   - kinds: The kinds of the jobs.
  ///   - tag: A tag of the jobs.
  ///   - culprit: The job whose failure or cancellation caused the jobs to be cancelled.
  ///   - label: A string that the labels of the jobs contain (case-sensitive).
  ///   - payload: A string that the payloads of the jobs contain (case-sensitive).
  ///   - since: The earliest time when the jobs were stored.
  ///   - until: The latest time when the jobs were stored.
  ///   - errorGroup: The group of the last error of the jobs.
  public init(
    ids: [JobID]? = nil, states: Set<JobState>? = nil, queues: Set<String>? = nil, kinds: Set<JobKind>? = nil,
    tag: String? = nil, culprit: JobID? = nil, label: String? = nil, payload: String? = nil, since: StoreTime? = nil,
    until: StoreTime? = nil, errorGroup: JobErrorGroup.ID? = nil
  ) {
    self.ids = ids
    self.states = states
    self.queues = queues
    self.kinds = kinds
    self.tag = tag
    self.culprit = culprit
    self.label = label
    self.payload = payload
    self.since = since
    self.until = until
    self.errorGroup = errorGroup
  }

  /// All jobs.
  public static let all = JobFilter()

  /// Selects one job.
  ///
  /// - Parameter id: The ID of the job.
  /// - Returns: A filter for this job.
  public static func id(_ id: JobID) -> JobFilter { JobFilter(ids: [id]) }

  /// Returns whether a job meets all conditions.
  ///
  /// - Parameter job: The job to test.
  /// - Returns: Whether the selection contains it.
  public func contains(_ job: JobRecord) -> Bool {
    if let ids, !ids.contains(job.id) { return false }
    if let states, !states.contains(job.state) { return false }
    if let queues, !queues.contains(job.queue) { return false }
    if let kinds, !kinds.contains(job.kind) { return false }
    if let culprit, job.reason?.culprit != culprit { return false }
    if let since, job.enqueuedTime < since { return false }
    if let until, job.enqueuedTime > until { return false }
    if let errorGroup, job.errorGroup != errorGroup { return false }
    if let payload, !job.payload.bytes.contains(payload.utf8) { return false }
    return matchesText(job.settings)
  }

  /// Returns whether the tags and the label of a job meet the conditions for them.
  ///
  /// - Parameter settings: The options of the job.
  /// - Returns: Whether the tags and the label meet the conditions.
  @_spi(JobStore) public func matchesText(_ settings: JobSettings) -> Bool {
    // Compared by their bytes, as in the stores.
    if let tag, settings.tags?.contains(where: { $0.utf8.elementsEqual(tag.utf8) }) != true { return false }
    if let label, settings.label?.utf8.contains(label.utf8) != true { return false }
    return true
  }
}
