extension StoreReader {
  func statistics(over span: JobStatistics.Span, queue: String?) throws -> JobStatistics {
    preferIndexes()
    var sum = StatisticsSum(over: span, queue: queue, at: now)
    for row in try statisticsRows(of: sum.level, since: sum.startTime) { sum.add(row.group, at: row.period.startTime) }
    let activity = StoreStatement(
      StatisticsSQL.activity, .time(sum.startTime), .number(StatisticsSQL.maxActivityCount), isFrequent: true)
    try forEachRow(activity) { sum.add(ActivityColumns.read($0, at: 1), at: $0.time(0)) }
    return sum.result
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
    let select = StoreStatement(StatisticsSQL.rows, .number(level.rawValue), .time(time), isFrequent: true)
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

  /// Checks that the activity of each hour is the sum of its minutes, if all of them are still kept.
  private func hourDefects() throws -> [String] {
    let minutes = try statisticsRows(of: .minute, since: expiration(of: .minute))
    guard let first = minutes.map(\.period.startTime).min() else { return [] }
    var sums: [StoreTime: [JobGroupName: JobActivity]] = [:]
    for row in minutes {
      let hour = StatisticsPeriod(.hour, of: row.period.startTime).startTime
      sums[hour, default: [:]][JobGroupName(row.group), default: JobActivity()] += row.group.activity
    }
    var hours: [StoreTime: [JobGroupName: JobActivity]] = [:]
    for row in try statisticsRows(of: .hour, since: first) {
      hours[row.period.startTime, default: [:]][JobGroupName(row.group)] = row.group.activity
    }
    return Set(sums.keys).union(hours.keys).filter { $0 >= first && sums[$0] != hours[$0] }.sorted().map { hour in
      "the statistics of the hour from \(hour) are not the sums of its minutes"
    }
  }
}
