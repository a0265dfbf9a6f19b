/// An event in the life of jobs or workers, as observed by this process.
public enum JobEvent: Hashable, Sendable, CustomStringConvertible {
  /// A new job was stored.
  case enqueued(JobID, kind: JobKind, queue: String)
  /// A worker of this process has claimed a job.
  case claimed(JobAttempt)
  /// The operation of an attempt has begun.
  case started(JobAttempt)
  /// An attempt has stored its progress.
  case progressed(JobAttempt, JobProgress)
  /// The store has recorded how an attempt ended. A job that is retried, snoozes, waits, or is given back has further
  /// attempts.
  case ended(JobAttempt, JobEnding.Action)
  /// An attempt no longer runs its job, for example because the job was abandoned. Writes of the attempt are rejected.
  case leaseLost(JobAttempt)
  /// The code of an attempt was cancelled this long ago but has not returned.
  ///
  /// The job continues to run and does not run elsewhere. ``Jobs/abandon(_:)`` takes it from the worker.
  case stuck(JobAttempt, cancelledFor: Duration)
  /// A worker of this process has returned a job of a dead worker to its queue.
  case rescued(JobID, crashCount: Int)
  /// A job of a dead worker has failed, because too many workers have died while they ran it.
  case crashed(JobID, JobEndReason)
  /// Jobs wait, and no living worker of their queue knows their kind or version.
  case unknownKind(WaitingJobs, queue: String)
  /// This process has paused a queue.
  case paused(queue: String)
  /// This process has resumed a queue.
  case resumed(queue: String)
  /// This process has changed jobs.
  case changed(JobCommand, count: Int)
  /// A worker of this process has registered with the store.
  case workerStarted(WorkerID)
  /// A worker of this process has left the store.
  case workerStopped(WorkerID)
  /// A worker can't use the store because of this error. It tries again until ``storeBack``.
  case storeLost(String)
  /// A worker can use the store again.
  case storeBack
  /// This many events were dropped at this point, because the iteration was too slow.
  case dropped(count: Int)

  /// Creates the event of a command.
  init(_ command: JobCommand, count: Int) {
    switch command {
    case .setPaused(let queue, let isPaused): self = isPaused ? .paused(queue: queue) : .resumed(queue: queue)
    default: self = .changed(command, count: count)
    }
  }

  /// The event and the job, for example `started job 7 (resize)`.
  public var description: String {
    switch self {
    case .enqueued(let id, let kind, let queue): "enqueued job \(id) (\(kind)) in “\(queue)”"
    case .claimed(let attempt): "claimed \(attempt)"
    case .started(let attempt): "started \(attempt)"
    case .progressed(let attempt, let progress):
      "\(attempt) is \(Int(progress.fraction * 100))% done" + (progress.text.map { ": \($0)" } ?? "")
    case .ended(let attempt, let action): "\(attempt) \(action.summary)"
    case .leaseLost(let attempt): "\(attempt) no longer runs its job"
    case .stuck(let attempt, let duration):
      "\(attempt) was cancelled \(Readable.duration(duration)) ago, but has not returned"
    case .rescued(let id, let count): "rescued job \(id), crash \(count)"
    case .crashed(let id, let reason): "job \(id) has failed (\(reason))"
    case .unknownKind(let jobs, let queue):
      "\(jobs.count == 1 ? "1 job waits" : "\(jobs.count) jobs wait") in “\(queue)”, and no worker supports version "
        + "\(jobs.version) of the kind \(jobs.kind)"
    case .paused(let queue): "paused “\(queue)”"
    case .resumed(let queue): "resumed “\(queue)”"
    case .changed(let command, let count): "changed \(count) \(count == 1 ? "job" : "jobs"): \(command)"
    case .workerStarted(let worker): "worker \(worker) started"
    case .workerStopped(let worker): "worker \(worker) stopped"
    case .storeLost(let error): "the store is unavailable: \(error)"
    case .storeBack: "the store is available again"
    case .dropped(let count): "\(count) events were dropped"
    }
  }
}

/// An attempt of a job, in an event.
public struct JobAttempt: Hashable, Sendable, CustomStringConvertible {
  /// The ID of the job.
  public var id: JobID
  /// The kind of the job.
  public var kind: JobKind
  /// The queue of the job.
  public var queue: String
  /// The number of the attempt, from 1.
  public var number: Int
  /// The worker that runs it.
  public var worker: WorkerID

  /// Creates a description of an attempt.
  ///
  /// - Parameters:
  ///   - job: The job that the attempt runs.
  ///   - fence: The fence of the attempt.
  @_spi(JobStore) public init(_ job: JobRecord, _ fence: JobFence) {
    (id, kind, queue) = (job.id, job.kind, job.queue)
    (number, worker) = (fence.attempt, fence.owner)
  }

  /// The job and the number of the attempt.
  public var description: String { "attempt \(number) of job \(id) (\(kind))" }
}

extension JobEnding.Action {
  /// The rest of a sentence that begins with the attempt.
  fileprivate var summary: String {
    switch self {
    case .succeed: "has succeeded"
    case .retry(let pause, let error):
      "has failed, and the job is retried after \(Readable.duration(pause)): \(error.text)"
    // The text of this reason repeats that the attempt has failed.
    case .fail(let reason, let error?) where reason.code == .failed: "has failed: \(error.text)"
    case .fail(let reason, let error): "has failed (\(reason))" + (error.map { ": \($0.text)" } ?? "")
    case .snooze(let pause): "snoozes for \(Readable.duration(pause))"
    case .wait(let wait, let time): "has ended, and the job waits for \(wait), until \(time)"
    case .release: "was given back"
    case .cancel(let reason): "was cancelled (\(reason))"
    }
  }
}
