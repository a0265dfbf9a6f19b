/// The statements that read statistics, which all databases understand.
enum StatisticsSQL {
  /// How long activity waits until it is merged, so that one process merges the activity of all.
  static let mergeDelay = Duration.seconds(10)
  /// The maximum number of transactions of one call that merges.
  static let maxMergeCount = 100
  /// The maximum number of rows of activity that one read adds to the periods.
  static let maxActivityCount = 20_000

  /// Whether there is activity outside of a time, or periods that begin before other times.
  static let mustMerge = """
    SELECT 1 WHERE EXISTS (SELECT 1 FROM headway.activity WHERE counted < $1 OR counted > $2)
    OR EXISTS (SELECT 1 FROM headway.statistic WHERE level = \(StatisticsPeriod.Level.minute.rawValue) AND start < $3)
    OR EXISTS (SELECT 1 FROM headway.statistic WHERE level = \(StatisticsPeriod.Level.hour.rawValue) AND start < $4)
    """
  /// The rows of a level in a time, in their order: level, first and last time; by the primary key.
  ///
  /// If the clock was ahead for some time, there are also rows of the future.
  static let rows = """
    SELECT \((ActivityColumns.period + ActivityColumns.all).joined(separator: ", ")) FROM headway.statistic
    WHERE level = $1 AND start >= $2 AND start <= $3
    ORDER BY start, queue, kind
    """
  /// The number of unfinished jobs, and the sums of all activity that should agree with it.
  static let sums = """
    SELECT (SELECT count(*) FROM headway.job), \(sum("enqueued")), \(sum("restarted")),
    \(sum("succeeded + failed + cancelled")) FROM (
      SELECT enqueued, restarted, succeeded, failed, cancelled FROM headway.activity
      UNION ALL SELECT enqueued, restarted, succeeded, failed, cancelled FROM headway.statistic
      WHERE level = \(StatisticsPeriod.Level.total.rawValue)) a
    """

  private static func sum(_ value: String) -> String { "CAST(coalesce(sum(\(value)), 0) AS bigint)" }
}
