/// The state of a job in its store.
public enum JobState: Int, Hashable, Codable, Sendable, CaseIterable {
  /// The job waits for other jobs.
  case held = 0
  /// The job waits until it is due.
  case scheduled = 1
  /// The job waits for a worker.
  case waiting = 2
  /// A worker has claimed the job.
  case running = 3
  /// The last attempt succeeded.
  case succeeded = 4
  /// The job failed and will not be retried automatically.
  case failed = 5
  /// The job was cancelled.
  case cancelled = 6

  /// Whether the job has ended.
  public var isFinished: Bool { rawValue >= Self.succeeded.rawValue }
}
