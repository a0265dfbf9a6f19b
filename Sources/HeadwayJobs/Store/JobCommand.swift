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
  /// A scheduled or retrying job that is due now waits for a worker, after the jobs that already wait. If the time is
  /// in the future, a waiting job is scheduled, and a retrying one remains in its state. A job that waits for other
  /// jobs continues to wait for them, and then waits until the time.
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
