/// The settings of a queue of the store, which apply to all processes.
public struct JobQueueSettings: Hashable, Codable, Sendable {
  /// The maximum number of running jobs of the queue, on all workers together.
  public var limit: Int?
  /// The pending limit: the queue is full when it has this many scheduled and waiting jobs.
  public var pendingLimit: Int?
  /// The failure limit: the queue is paused after this many failures in a row.
  public var failureLimit: Int?
  /// The aging interval: a waiting job rises by one priority each time that this interval has passed.
  public var aging: Duration?

  /// Creates settings without values.
  public init() {}
}

/// A setting of a queue, with its new value; nil removes it.
public enum JobQueueSetting: Hashable, Sendable {
  /// The maximum number of running jobs of the queue, on all workers together.
  case limit(Int?)
  /// The pending limit: the queue is full when it has this many scheduled and waiting jobs.
  case pendingLimit(Int?)
  /// The failure limit: the queue is paused after this many failures in a row.
  case failureLimit(Int?)
  /// The aging interval: a waiting job rises by one priority each time that this interval has passed.
  case aging(Duration?)
}

/// The pause, the settings and the failure count of a queue.
package struct JobQueueRecord: Hashable, Sendable {
  /// Whether the queue is paused.
  package var isPaused = false
  /// The settings.
  package var settings = JobQueueSettings()
  /// The number of attempts that have failed since the last success, while there is a failure limit.
  package var failureCount = 0

  /// Creates the record of a queue without settings.
  package init() {}

  /// Pauses or resumes the queue.
  package mutating func setPaused(_ isPaused: Bool) {
    self.isPaused = isPaused
    if !isPaused { failureCount = 0 }
  }

  /// Changes a setting.
  package mutating func set(_ setting: JobQueueSetting) {
    switch setting {
    case .limit(let limit): settings.limit = limit
    case .pendingLimit(let limit): settings.pendingLimit = limit
    case .failureLimit(let limit):
      settings.failureLimit = limit
      failureCount = 0
    case .aging(let time): settings.aging = time
    }
  }

  /// Notes how an attempt has ended, and pauses the queue after too many failures in a row.
  package mutating func note(_ action: JobEnding.Action) {
    guard let limit = settings.failureLimit else { return }
    switch action {
    case .succeed: failureCount = 0
    case .retry, .fail:
      failureCount += 1
      if failureCount >= limit { isPaused = true }
    case .snooze, .release, .cancel: break
    }
  }

  /// Returns whether the change from an old record might make jobs claimable.
  package func mayClaimMore(than old: JobQueueRecord) -> Bool {
    !isPaused && (old.isPaused || settings.limit != old.settings.limit)
  }

  /// Returns the priority of a waiting job, which rises with time up to `veryHigh`.
  ///
  /// - Parameters:
  ///   - priority: The stored priority of the job.
  ///   - ready: When the job took its place in the queue.
  ///   - now: The time of the store's clock.
  /// - Returns: The priority that claims use.
  package func priority(_ priority: Int, since ready: StoreTime, at now: StoreTime) -> Int {
    guard let aging = settings.aging, aging > .zero, ready < now else { return priority }
    let levels = Int(min((now - ready) / aging, Double(Self.maxLevelCount)))
    // A priority that is higher anyway does not rise, and the sum can't overflow.
    return priority >= Self.highestPriority
      ? priority : min(Self.highestPriority, priority + levels * Self.levelHeight)
  }

  private static let highestPriority = 8
  private static let levelHeight = 4
  private static let maxLevelCount = 1_000
}

extension JobState {
  /// Whether a job in this state counts toward the pending limit of its queue.
  package var isPending: Bool { self == .scheduled || self == .waiting }
}

extension JobQueueCounts {
  /// Creates the counts of a queue without jobs.
  package init(_ queue: JobQueueRecord) {
    self.init(isPaused: queue.isPaused, settings: queue.settings, failureCount: queue.failureCount)
  }
}
