/// The columns of activity in a database.
@_spi(JobStore) public enum ActivityColumns {
  /// The columns with numbers.
  static let numbers = ["enqueued", "restarted", "succeeded", "failed", "cancelled", "failed_attempts", "crashes"]
  /// All columns.
  public static let all = ["queue", "kind"] + numbers + ["waits", "runs"]
  /// The columns that identify a period.
  public static let period = ["level", "start"]

  /// Adds the values of all columns.
  static func write(_ group: JobStatistics.Group, to values: inout some StoredRowWriter) {
    let activity = group.activity
    values.add(group.queue)
    values.add(group.kind.rawValue)
    values.add(activity.enqueued)
    values.add(activity.restarted)
    values.add(activity.succeeded)
    values.add(activity.failed)
    values.add(activity.cancelled)
    values.add(activity.failedAttempts)
    values.add(activity.crashes)
    values.add(activity.waits.stored)
    values.add(activity.runs.stored)
  }

  /// Reads all columns.
  static func read(_ row: some StoredRow, at column: Int) -> JobStatistics.Group {
    JobStatistics.Group(
      queue: row.text(column), kind: row.kind(column + 1), activity: readActivity(row, at: column + 2))
  }

  /// Reads the columns that follow the queue and the kind.
  private static func readActivity(_ row: some StoredRow, at column: Int) -> JobActivity {
    var activity = JobActivity()
    activity.enqueued = row.int(column)
    activity.restarted = row.int(column + 1)
    activity.succeeded = row.int(column + 2)
    activity.failed = row.int(column + 3)
    activity.cancelled = row.int(column + 4)
    activity.failedAttempts = row.int(column + 5)
    activity.crashes = row.int(column + 6)
    activity.waits = JobDurations(stored: row.optional(column + 7, row.bytes))
    activity.runs = JobDurations(stored: row.optional(column + 8, row.bytes))
    return activity
  }

  /// Reads the columns of a period, and all columns.
  ///
  /// - Returns: The row; nil if a newer release has stored an unknown level.
  static func readRow(_ row: some StoredRow) -> StatisticsRow? {
    StatisticsPeriod.Level(rawValue: row.int(0)).map { level in
      StatisticsRow(StatisticsPeriod(level, startingAt: row.time(1)), read(row, at: 2))
    }
  }
}
