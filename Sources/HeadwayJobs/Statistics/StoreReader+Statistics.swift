extension StoreReader {
  /// Returns statistics, and whether they contain all activity that is not part of a period yet.
  func statistics(
    over span: JobStatistics.Span, queue: String?
  ) throws -> (statistics: JobStatistics, isComplete: Bool) {
    preferIndexes()
    var sum = StatisticsSum(over: span, queue: queue, at: now)
    for row in try statisticsRows(of: sum.level, since: sum.startTime) { sum.add(row.group, at: row.period.startTime) }
    let limit = StatisticsSQL.maxActivityCount
    let activity = StoreStatement(Overview.activity, .time(sum.startTime), .number(limit), isFrequent: true)
    var count = 0
    try forEachRow(activity) { row in
      count += 1
      sum.add(ActivityColumns.read(row, at: 1), at: row.time(0))
    }
    return (sum.result, count < limit)
  }

  /// Returns whether activity waits long enough to be merged, or old statistics can be deleted.
  func mustMergeActivity() throws -> Bool {
    preferIndexes()
    // If the clock was set back, activity of the future would never be old enough.
    let search = StoreStatement(
      StatisticsSQL.mustMerge, .time(now + (.zero - StatisticsSQL.mergeDelay)), .time(now),
      .time(expiration(of: .minute)), .time(expiration(of: .hour)), isFrequent: true)
    return try !rows(search) { _ in }.isEmpty
  }

  private func expiration(of level: StatisticsPeriod.Level) -> StoreTime {
    level.expiration(at: now) ?? StoreTime(microseconds: 0)
  }

  private func statisticsRows(of level: StatisticsPeriod.Level, since time: StoreTime) throws -> [StatisticsRow] {
    let select = StoreStatement(
      StatisticsSQL.rows, .number(level.rawValue), .time(time), .time(now), isFrequent: true)
    return try rows(select) { ActivityColumns.readRow($0) }.compactMap(\.self)
  }

  // MARK: Audits

  /// Checks that the statistics agree with the jobs, and with each other.
  func statisticsDefects() throws -> [String] {
    let sums = try rows(StoreStatement(StatisticsSQL.sums)) { row in
      (unfinished: row.int(0), enqueued: row.int(1), restarted: row.int(2), ended: row.int(3))
    }
    return sums.filter { $0.unfinished != $0.enqueued + $0.restarted - $0.ended }.map { sums in
      "\(sums.unfinished) jobs are unfinished, but the statistics contain \(sums.enqueued) new jobs, "
        + "\(sums.restarted) jobs that were run again, and \(sums.ended) jobs that have ended"
    } + (try hourDefects())
  }

  /// Checks that the minutes of an hour do not contain more activity than the hour.
  ///
  /// They can contain less: if the clock was set back, minutes of these hours have already been deleted.
  private func hourDefects() throws -> [String] {
    let minutes = try statisticsRows(of: .minute, since: expiration(of: .minute))
    guard let first = minutes.map(\.period.startTime).min() else { return [] }
    var sums: [StatisticsPeriod: [JobGroupName: JobActivity]] = [:]
    for row in minutes {
      let hour = StatisticsPeriod(.hour, of: row.period.startTime)
      sums[hour, default: [:]][JobGroupName(row.group), default: JobActivity()] += row.group.activity
    }
    let hours = try statisticsRows(of: .hour, since: StatisticsPeriod(.hour, of: first).startTime)
    for row in hours {
      guard let sum = sums[row.period]?[JobGroupName(row.group)], row.group.activity.contains(sum) else { continue }
      sums[row.period]?[JobGroupName(row.group)] = nil
    }
    return sums.filter { !$0.value.isEmpty }.keys.map(\.startTime).sorted().map { hour in
      "the statistics of the hour from \(hour) do not contain those of its minutes"
    }
  }
}

extension JobActivity {
  /// Returns whether each number is at least as great as the same number of a part.
  fileprivate func contains(_ part: JobActivity) -> Bool { zip(numbers, part.numbers).allSatisfy(>=) }

  private var numbers: [Int] {
    [enqueued, restarted, succeeded, failed, cancelled, failedAttempts, crashes, waits.count, runs.count]
  }
}
