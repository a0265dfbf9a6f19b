/// The activity of several periods.
///
/// Stores that keep rows elsewhere load the periods, add activity, and write the rows that have changed.
struct StatisticsTable: Sendable {
  private var periods: [StatisticsPeriod: [JobGroupName: JobActivity]] = [:]
  private var changed: [StatisticsPeriod: Set<JobGroupName>] = [:]
  /// The minute of the last call of ``settle(at:)``.
  private var minute: StatisticsPeriod?

  /// Creates a table with rows.
  init(_ rows: [StatisticsRow] = []) {
    for row in rows {
      let name = JobGroupName(row.group)
      periods[row.period, default: [:]][name] = row.group.activity
    }
  }

  /// Adds activity to all periods of a time that are kept.
  ///
  /// If the hour has enough groups, others are counted together.
  mutating func add(_ group: JobStatistics.Group, at time: StoreTime, now: StoreTime) {
    let name = periods[StatisticsPeriod(.hour, of: time)]?.name(of: group) ?? JobGroupName(group)
    for period in StatisticsPeriod.kept(of: time, at: now) {
      let name = period.level == .total ? .rest : name
      periods[period, default: [:]][name, default: JobActivity()] += group.activity
      changed[period, default: []].insert(name)
    }
  }

  /// The rows.
  var rows: [StatisticsRow] { periods.flatMap { period, groups in groups.map { row(period, $0, $1) } } }

  /// Returns the rows that have changed since the last call.
  mutating func takeChanges() -> [StatisticsRow] {
    defer { changed = [:] }
    return changed.flatMap { period, names in
      names.map { row(period, $0, periods[period]?[$0] ?? JobActivity()) }
    }
  }

  private func row(_ period: StatisticsPeriod, _ name: JobGroupName, _ activity: JobActivity) -> StatisticsRow {
    StatisticsRow(period, JobStatistics.Group(queue: name.queue, kind: name.kind, activity: activity))
  }

  /// Forgets what has changed and, once per minute, removes periods that are no longer kept.
  mutating func settle(at now: StoreTime) {
    changed = [:]
    let current = StatisticsPeriod(.minute, of: now)
    guard minute != current else { return }
    minute = current
    periods = periods.filter { period, _ in
      period.level.expiration(at: now).map { period.startTime >= $0 } ?? true
    }
  }
}

extension Dictionary where Key == JobGroupName {
  /// Returns the name that the activity of a group is counted under: its own, if there are not too many others.
  fileprivate func name(of group: JobStatistics.Group) -> JobGroupName {
    let name = JobGroupName(group)
    let count = count - (self[.rest] == nil ? 0 : 1)
    return count < JobStatistics.maxGroupCount || self[name] != nil ? name : .rest
  }
}

/// Sums rows to the statistics of a span.
struct StatisticsSum {
  private var statistics: JobStatistics
  private let queue: String?
  /// The place of each group in its period.
  private var places: [[JobGroupName: Int]]

  /// The level whose rows are summed.
  var level: StatisticsPeriod.Level { statistics.span == .hour ? .minute : .hour }
  /// The beginning of the first period.
  var startTime: StoreTime { statistics.periods[0].startTime }

  /// Creates an empty sum.
  ///
  /// - Parameters:
  ///   - span: The time of the statistics.
  ///   - queue: Only activity of this queue is added; nil for all.
  ///   - now: The time of the store's clock.
  init(over span: JobStatistics.Span, queue: String?, at now: StoreTime) {
    statistics = JobStatistics(span: span, endingAt: now)
    self.queue = queue
    places = Array(repeating: [:], count: span.periodCount)
  }

  /// Adds the activity at the given time.
  mutating func add(_ group: JobStatistics.Group, at time: StoreTime) {
    if let queue, !group.queue.utf8.elementsEqual(queue.utf8) { return }
    let index = Int(((time - startTime) / statistics.span.periodLength).rounded(.down))
    guard places.indices.contains(index) else { return }
    let name = places[index].name(of: group)
    if let place = places[index][name] {
      statistics.periods[index].groups[place].activity += group.activity
    } else {
      places[index][name] = statistics.periods[index].groups.count
      statistics.periods[index].groups.append(
        JobStatistics.Group(queue: name.queue, kind: name.kind, activity: group.activity))
    }
  }

  /// The statistics.
  var result: JobStatistics {
    var result = statistics
    for index in result.periods.indices {
      // A database returns its rows in this order, and sorting takes longer than reading them.
      let names = result.periods[index].groups.map(JobGroupName.init)
      guard !zip(names, names.dropFirst()).allSatisfy({ $0 < $1 }) else { continue }
      result.periods[index].groups.sort { JobGroupName($0) < JobGroupName($1) }
    }
    return result
  }
}
