/// The events of the jobs of a store, by time, queue and kind.
///
/// A store counts in the transactions that change the jobs. Therefore, the numbers include all processes, and they
/// remain correct if a process is killed.
///
/// ```swift
/// let statistics = try await jobs.statistics(over: .hour)
/// for (queue, activity) in statistics.byQueue.sorted(by: { $0.key < $1.key }) {
///   print(queue, activity.succeeded, activity.waits.percentile(95) ?? .zero)
/// }
/// ```
///
/// If a store has many pairs of queues and kinds, some of them are counted together: see ``rest``.
public struct JobStatistics: Hashable, Codable, Sendable {
  /// The time that statistics describe.
  public enum Span: String, Codable, CaseIterable, Sendable {
    /// 60 periods of one minute. The last one is the current minute.
    case hour
    /// 24 periods of one hour. The last one is the current hour, in UTC.
    case day

    /// The length of a period.
    public var periodLength: Duration { self == .hour ? .seconds(60) : .seconds(3_600) }

    /// The number of periods.
    public var periodCount: Int { self == .hour ? 60 : 24 }
  }

  /// The activity in one period.
  public struct Period: Hashable, Codable, Sendable {
    /// When the period begins.
    public var startTime: StoreTime
    /// The queues and kinds with activity, ordered by queue and then by kind.
    public var groups: [Group]

    /// Creates a period.
    ///
    /// - Parameters:
    ///   - startTime: When the period begins.
    ///   - groups: The queues and kinds with activity, ordered by queue and then by kind.
    @_spi(JobStore) public init(startTime: StoreTime, groups: [Group] = []) {
      (self.startTime, self.groups) = (startTime, groups)
    }
  }

  /// The activity of the jobs of one kind in one queue.
  public struct Group: Hashable, Codable, Sendable {
    /// The queue; ``JobStatistics/rest`` for the jobs that are counted together.
    public var queue: String
    /// The kind; ``JobStatistics/rest`` for the jobs that are counted together.
    public var kind: JobKind
    /// The events of the jobs.
    public var activity: JobActivity

    /// Creates a group.
    ///
    /// - Parameters:
    ///   - queue: The queue of the jobs.
    ///   - kind: The kind of the jobs.
    ///   - activity: What has happened to them.
    @_spi(JobStore) public init(queue: String, kind: JobKind, activity: JobActivity) {
      (self.queue, self.kind, self.activity) = (queue, kind, activity)
    }
  }

  /// The time that the statistics describe.
  public var span: Span
  /// The periods, oldest first, including periods without activity.
  public var periods: [Period]

  /// The name of the queue and of the kind of jobs that are counted together.
  ///
  /// In each hour, a store counts the first ``maxGroupCount`` pairs of a queue and a kind separately. It counts the
  /// jobs of all other pairs together, under this name.
  public static let rest = "*"

  /// The number of pairs of a queue and a kind that a store counts separately in an hour.
  public static let maxGroupCount = 250

  /// Creates statistics.
  ///
  /// - Parameters:
  ///   - span: The time that the statistics describe.
  ///   - periods: The periods, oldest first.
  @_spi(JobStore) public init(span: Span, periods: [Period]) { (self.span, self.periods) = (span, periods) }

  /// Creates statistics without activity.
  ///
  /// - Parameters:
  ///   - span: The time that the statistics describe.
  ///   - now: The time of the store's clock, which is in the last period.
  @_spi(JobStore) public init(span: Span, endingAt now: StoreTime) {
    let first = now.rounded(downTo: span.periodLength) + span.periodLength * (1 - span.periodCount)
    let periods = (0..<span.periodCount).map { Period(startTime: first + span.periodLength * $0) }
    self.init(span: span, periods: periods)
  }

  // MARK: Parts

  /// Returns the latest periods.
  ///
  /// - Parameter length: The length of the part. It is rounded up to whole periods, and the last one, which has not
  ///   ended, counts as a whole.
  /// - Returns: The statistics of the latest periods.
  public func latest(_ length: Duration) -> JobStatistics {
    JobStatistics(span: span, periods: periods.suffix(count(of: length)))
  }

  /// Returns the periods before the latest periods.
  ///
  /// - Parameter length: The length of the part that ``latest(_:)`` returns.
  /// - Returns: The statistics of the other periods.
  public func before(latest length: Duration) -> JobStatistics {
    JobStatistics(span: span, periods: periods.dropLast(count(of: length)))
  }

  private func count(of length: Duration) -> Int {
    guard length > .zero else { return 0 }
    return Int(min((length / span.periodLength).rounded(.up), Double(periods.count)))
  }

  // MARK: Sums

  /// The sum over all periods, queues and kinds.
  public var total: JobActivity { periods.reduce(into: JobActivity()) { $0 += $1.total } }

  /// The sum over all periods and kinds, for each queue with activity.
  public var byQueue: [String: JobActivity] {
    periods.reduce(into: [:]) { sums, period in period.groups.add(to: &sums, by: \.queue) }
  }

  /// The sum over all periods and queues, for each kind with activity.
  public var byKind: [JobKind: JobActivity] {
    periods.reduce(into: [:]) { sums, period in period.groups.add(to: &sums, by: \.kind) }
  }
}

extension JobStatistics.Period {
  /// The sum over all queues and kinds.
  public var total: JobActivity { groups.reduce(into: JobActivity()) { $0 += $1.activity } }

  /// The sum over all kinds, for each queue with activity.
  public var byQueue: [String: JobActivity] {
    var sums: [String: JobActivity] = [:]
    groups.add(to: &sums, by: \.queue)
    return sums
  }

  /// The sum over all queues, for each kind with activity.
  public var byKind: [JobKind: JobActivity] {
    var sums: [JobKind: JobActivity] = [:]
    groups.add(to: &sums, by: \.kind)
    return sums
  }
}

extension [JobStatistics.Group] {
  fileprivate func add<Key>(to sums: inout [Key: JobActivity], by key: (Element) -> Key) {
    for group in self { sums[key(group), default: JobActivity()] += group.activity }
  }
}

extension StoreTime {
  /// Rounds a time down to a multiple of a duration since the beginning of 1970.
  func rounded(downTo length: Duration) -> StoreTime {
    let unit = (StoreTime(microseconds: 0) + length).microseconds
    let remainder = microseconds % unit
    let (rounded, isTooEarly) = microseconds.subtractingReportingOverflow(remainder < 0 ? remainder + unit : remainder)
    return isTooEarly ? self : StoreTime(microseconds: rounded)
  }
}
