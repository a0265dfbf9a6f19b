import Headway

/// The settings of a queue of the store, which apply to all processes.
public struct JobQueueSettings: Hashable, Codable, Sendable {
  /// The maximum number of running jobs of the queue, on all workers together.
  public var maxRunningJobCount: Int?
  /// How many scheduled, retrying and waiting jobs fill the queue.
  public var maxPendingJobCount: Int?
  /// How many consecutive failures pause the queue.
  public var maxFailureCount: Int?
  /// A waiting job rises by one priority each time that this interval has passed.
  public var agingInterval: Duration?

  /// Creates settings without values.
  public init() {}
}

/// A setting of a queue, with its new value; nil removes the setting.
public enum JobQueueChange: Hashable, Sendable {
  /// Limits the number of running jobs of the queue, on all workers together. With 0, no job is claimed.
  ///
  /// Each claim counts the running jobs, so a worker that crashes does not use up the limit.
  case maxRunningJobCount(Int?)
  /// Limits the number of scheduled, retrying and waiting jobs of the queue.
  ///
  /// If the queue has that many jobs, enqueueing waits or fails: see ``JobOption/fullQueuePolicy(_:)``. If the queue is
  /// not full, a batch of any size is stored as a whole. Jobs that return to the queue are not affected.
  ///
  /// While a queue has this setting, each transaction that adds jobs counts the pending ones. This takes O(*n*) in the
  /// limit.
  case maxPendingJobCount(Int?)
  /// Pauses the queue after a number of failures in a row, for example because a service is down.
  ///
  /// An attempt counts as a failure if it ends with an error, whether or not the job is retried. A success or
  /// ``Jobs/resumeQueue(_:)`` resets the count. Crashes, cancellations and snoozes don't change it.
  case maxFailureCount(Int?)
  /// Raises waiting jobs of the queue by one priority for each interval that they have waited.
  ///
  /// Jobs of a low priority are then claimed even if there are always jobs of a higher one. The stored priority does
  /// not change, and no job rises above `veryHigh`. The waiting time begins when the job becomes ready, and begins
  /// again when the job returns after a failure.
  case agingInterval(Duration?)
}

extension JobQueueChange {
  /// Stops the program if a value makes no sense.
  func requireValid(for queue: String) {
    switch self {
    case .maxRunningJobCount(let count):
      require(
        count ?? 0 >= 0,
        "The maxRunningJobCount \(count ?? 0) of the queue \(queue) is negative: use 0, or nil for no limit.")
    case .maxPendingJobCount(let count):
      require(
        count ?? 1 > 0,
        "A queue with the maxPendingJobCount \(count ?? 1) would accept no jobs: use a positive number.")
    case .maxFailureCount(let count):
      require(
        count ?? 1 > 0, "The queue \(queue) can't be paused after \(count ?? 1) failures: use a positive number.")
    case .agingInterval(let interval):
      require(
        interval ?? .seconds(1) > .zero,
        "The priority of jobs in the queue \(queue) can't rise every \(interval ?? .zero): use a positive interval, or "
          + "nil.")
    }
  }
}

/// The pause, the settings and the failure count of a queue.
@_spi(JobStore) public struct JobQueueRecord: Hashable, Codable, Sendable {
  /// Whether the queue is paused.
  public var isPaused = false
  /// The settings.
  public var settings = JobQueueSettings()
  /// The number of attempts that have failed since the last success, while there is a maximum.
  public var failureCount = 0

  /// Creates the record of a queue without settings.
  public init() {}

  /// Pauses or resumes the queue.
  public mutating func setPaused(_ isPaused: Bool) {
    self.isPaused = isPaused
    if !isPaused { failureCount = 0 }
  }

  /// Changes a setting.
  public mutating func set(_ setting: JobQueueChange) {
    switch setting {
    case .maxRunningJobCount(let count): settings.maxRunningJobCount = count
    case .maxPendingJobCount(let count): settings.maxPendingJobCount = count
    case .maxFailureCount(let count):
      settings.maxFailureCount = count
      failureCount = 0
    case .agingInterval(let interval): settings.agingInterval = interval
    }
  }

  /// Notes how an attempt has ended and pauses the queue after too many failures in a row.
  public mutating func note(_ action: JobEnding.Action) {
    guard let limit = settings.maxFailureCount else { return }
    switch action {
    case .succeed: failureCount = 0
    case .retry, .fail:
      failureCount += 1
      if failureCount >= limit { isPaused = true }
    case .snooze, .wait, .release, .cancel: break
    }
  }

  /// Returns whether the change from an old record might make jobs claimable.
  public func mayClaimMore(than old: JobQueueRecord) -> Bool {
    !isPaused && (old.isPaused || settings.maxRunningJobCount != old.settings.maxRunningJobCount)
  }

  /// Returns the priority of a waiting job, which rises with time up to `veryHigh`.
  ///
  /// - Parameters:
  ///   - priority: The stored priority of the job.
  ///   - ready: When the job took its place in the queue.
  ///   - now: The time of the store's clock.
  /// - Returns: The priority that claims use.
  public func priority(_ priority: Int, since ready: StoreTime, at now: StoreTime) -> Int {
    guard let aging = settings.agingInterval, aging > .zero, ready < now else { return priority }
    let levels = Int(min((now - ready) / aging, Double(Self.maxLevelCount)))
    // A priority that is higher anyway does not rise, and the sum can't overflow.
    return priority >= Self.highestPriority
      ? priority : min(Self.highestPriority, priority + levels * Self.levelHeight)
  }

  private static let highestPriority = 8
  private static let levelHeight = 4
  private static let maxLevelCount = 1_000
}

extension JobQueueCounts {
  /// Creates the counts of a queue without jobs.
  @_spi(JobStore) public init(_ queue: JobQueueRecord) {
    self.init(isPaused: queue.isPaused, settings: queue.settings, failureCount: queue.failureCount)
  }
}
