/// The state of a job in its store.
public enum JobState: Int, Hashable, Codable, Sendable, CaseIterable {
  /// The job waits for other jobs.
  case held = 0
  /// The job waits until it is due.
  case scheduled = 1
  /// An attempt has failed, and the job waits until its next attempt is due.
  case retrying = 2
  /// The job waits for a worker.
  case waiting = 3
  /// A worker has claimed the job.
  case running = 4
  /// The last attempt succeeded.
  case succeeded = 5
  /// The job failed and will not be retried automatically.
  case failed = 6
  /// The job was cancelled.
  case cancelled = 7

  /// Whether the job has ended.
  public var isFinished: Bool { rawValue >= Self.succeeded.rawValue }

  /// The states of jobs that have not ended.
  public static let unfinished = Set(allCases.filter { !$0.isFinished })
  /// The states of jobs that have ended.
  public static let finished = Set(allCases.filter(\.isFinished))
  /// The states of jobs that have not started, or that wait for their next attempt: ``JobChange`` can change them.
  public static let changeable = unfinished.subtracting([.running])

  /// Whether the job waits for a time.
  @_spi(JobStore) public var waitsForTime: Bool { self == .scheduled || self == .retrying }

  /// Whether a job in this state counts as pending, for the maximum of its queue.
  @_spi(JobStore) public var isPending: Bool { waitsForTime || self == .waiting }
}
