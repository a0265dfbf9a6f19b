/// A period for which a store has statistics.
///
/// See `Docs/decisions/0057-statistics-of-jobs.md`.
@_spi(JobStore) public struct StatisticsPeriod: Hashable, Sendable {
  /// The length of periods.
  public enum Level: Int, CaseIterable, Sendable {
    /// Minutes, which are kept for two hours.
    case minute
    /// Hours, which are kept for seven days.
    case hour
    /// The time since the store was created.
    case total

    /// The length of a period; nil for all time.
    var length: Duration? {
      switch self {
      case .minute: .seconds(60)
      case .hour: .seconds(3_600)
      case .total: nil
      }
    }

    /// How long a period is kept after it has begun; nil for forever.
    var retention: Duration? {
      switch self {
      case .minute: .seconds(2 * 3_600)
      case .hour: .seconds(7 * 86_400)
      case .total: nil
      }
    }

    /// The periods that begin before this time are deleted; nil for none.
    func expiration(at now: StoreTime) -> StoreTime? { retention.map { now + (.zero - $0) } }
  }

  /// The length.
  public let level: Level
  /// When the period begins.
  public let startTime: StoreTime

  /// Creates a period.
  ///
  /// - Parameters:
  ///   - level: The length of the period.
  ///   - startTime: When it begins.
  public init(_ level: Level, startingAt startTime: StoreTime) { (self.level, self.startTime) = (level, startTime) }

  /// Creates the period that contains the given time.
  init(_ level: Level, of time: StoreTime) {
    self.init(level, startingAt: level.length.map { time.rounded(downTo: $0) } ?? StoreTime(microseconds: 0))
  }

  /// Returns the periods of a time that are still kept.
  static func kept(of time: StoreTime, at now: StoreTime) -> [StatisticsPeriod] {
    Level.allCases.map { StatisticsPeriod($0, of: time) }.filter { period in
      period.level.expiration(at: now).map { period.startTime >= $0 } ?? true
    }
  }
}

/// The activity of the jobs of a queue and a kind in a period, as a store keeps it.
@_spi(JobStore) public struct StatisticsRow: Sendable {
  /// The period.
  public let period: StatisticsPeriod
  /// The queue and the kind, with their activity.
  public let group: JobStatistics.Group

  /// Creates a row.
  ///
  /// - Parameters:
  ///   - period: The period of the activity.
  ///   - group: The queue and the kind, with their activity.
  public init(_ period: StatisticsPeriod, _ group: JobStatistics.Group) { (self.period, self.group) = (period, group) }
}

/// The activity of a transaction that is not part of a period yet.
@_spi(JobStore) public struct CountedActivity: Sendable {
  /// The time of the transaction.
  public let time: StoreTime
  /// A queue and a kind, with their activity.
  public let group: JobStatistics.Group

  /// Creates a description.
  ///
  /// - Parameters:
  ///   - time: The time of the transaction.
  ///   - group: A queue and a kind, with their activity.
  public init(_ time: StoreTime, _ group: JobStatistics.Group) { (self.time, self.group) = (time, group) }
}
