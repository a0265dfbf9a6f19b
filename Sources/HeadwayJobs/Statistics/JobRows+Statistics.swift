@_spi(JobStore) extension JobRows {
  /// The maximum number of transactions whose activity is merged in one transaction.
  private var maxMergedCount: Int { JobCommand.maxChangedCount }

  /// Writes what the transaction has done; call it before the commit.
  public func storeActivity() throws {
    guard activity.count > 0 else { return }
    try insertActivity(activity.take())
  }

  /// Adds the activity of earlier transactions to the periods, and deletes old periods.
  ///
  /// No other transaction may merge at the same time. A transaction merges a limited number of rows.
  ///
  /// - Returns: Whether there might be more activity to merge.
  /// - Throws: An error of the store.
  public func mergeActivity() throws -> Bool {
    for level in StatisticsPeriod.Level.allCases {
      if let time = level.expiration(at: now) { try deleteStatistics(of: level, before: time) }
    }
    let counted = try takeActivity(limit: maxMergedCount)
    guard !counted.isEmpty else { return false }
    let periods = Set(counted.flatMap { StatisticsPeriod.kept(of: $0.time, at: now) })
    var table = StatisticsTable(try statistics(in: Array(periods)))
    for part in counted { table.add(part.group, at: part.time, now: now) }
    try putStatistics(table.takeChanges())
    return counted.count == maxMergedCount
  }

  /// Notes how an attempt of a job has ended.
  func noteActivity(_ action: JobEnding.Action, queue: String, kind: JobKind, claimedAt claimed: StoreTime?) {
    var error: JobErrorDescription?
    switch action {
    case .release: return
    case .retry(_, let given): error = given
    case .fail(_, let given): error = given
    case .succeed, .snooze, .wait, .cancel: break
    }
    if error != nil { activity.note(.failedAttempt, queue: queue, kind: kind) }
    if let claimed { activity.note(.ran(now.microseconds(since: claimed)), queue: queue, kind: kind) }
  }

  /// Notes how long claimed jobs have waited.
  func noteWaits(of jobs: [JobRecord]) {
    for job in jobs { activity.note(.claimed(wait: now.microseconds(since: job.waitStartTime)), of: job) }
  }
}

// Requirements that only stores with statistics implement.
@_spi(JobStore) extension JobRows {
  /// An empty log, which forgets all events.
  public var activity: JobActivityLog {
    get { JobActivityLog() }
    set {}
  }

  /// Does nothing.
  ///
  /// - Parameter groups: The activity of the transaction.
  public func insertActivity(_ groups: [JobStatistics.Group]) {}

  /// Returns no activity.
  ///
  /// - Parameter limit: The maximum number of rows.
  /// - Returns: No rows.
  public func takeActivity(limit: Int) -> [CountedActivity] { [] }

  /// Returns no rows.
  ///
  /// - Parameter periods: The periods to read.
  /// - Returns: No rows.
  public func statistics(in periods: [StatisticsPeriod]) -> [StatisticsRow] { [] }

  /// Does nothing.
  ///
  /// - Parameter rows: The rows to write.
  public func putStatistics(_ rows: [StatisticsRow]) {}

  /// Does nothing.
  ///
  /// - Parameters:
  ///   - level: The length of the periods.
  ///   - time: The time of the first period to keep.
  public func deleteStatistics(of level: StatisticsPeriod.Level, before time: StoreTime) {}
}

extension StoreTime {
  /// The number of microseconds since another time, without the slow arithmetic of durations.
  fileprivate func microseconds(since start: StoreTime) -> Int64 {
    microseconds.subtractingReportingOverflow(start.microseconds).partialValue
  }
}
