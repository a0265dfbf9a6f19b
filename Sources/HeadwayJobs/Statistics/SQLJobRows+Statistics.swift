@_spi(JobStore) extension SQLJobRows {
  // MARK: Statistics

  /// Stores the activity of the transaction, with its time.
  public func insertActivity(_ groups: [JobStatistics.Group]) throws {
    let now = now
    func write(_ group: JobStatistics.Group, to values: inout Values) {
      values.add(now)
      ActivityColumns.write(group, to: &values)
    }
    // Most transactions concern one group, and a statement without lists takes a third of the time.
    if groups.count == 1 {
      try run(Statistics.insertActivityOfGroup) { write(groups[0], to: &$0) }
    } else {
      try run(Statistics.insertActivity, for: groups) { write($0, to: &$1) }
    }
  }

  /// Removes the oldest activity that is not part of a period yet, up to a limit.
  public func takeActivity(limit: Int) throws -> [CountedActivity] {
    try rows(Statistics.takeActivity, { $0.add(limit) }) {
      CountedActivity($0.time(0), ActivityColumns.read($0, at: 1))
    }
  }

  /// Returns the rows of periods.
  public func statistics(in periods: [StatisticsPeriod]) throws -> [StatisticsRow] {
    let found = try rows(
      Statistics.find, for: periods,
      { period, values in
        values.add(period.level.rawValue)
        values.add(period.startTime)
      }, constants: { _ in }, { ActivityColumns.readRow($0) })
    return found.compactMap(\.self)
  }

  /// Inserts or replaces the rows of periods.
  public func putStatistics(_ rows: [StatisticsRow]) throws {
    try run(Statistics.put, for: rows) { row, values in
      values.add(row.period.level.rawValue)
      values.add(row.period.startTime)
      ActivityColumns.write(row.group, to: &values)
    }
  }

  /// Deletes the rows of periods that begin before a time, oldest first, up to ``JobCommand/maxChangedCount``.
  public func deleteStatistics(of level: StatisticsPeriod.Level, before time: StoreTime) throws {
    try run(Statistics.deleteExpired) { values in
      values.add(level.rawValue)
      values.add(time)
      values.add(JobCommand.maxChangedCount)
    }
  }
}
