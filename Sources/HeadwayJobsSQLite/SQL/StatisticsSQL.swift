#if Jobs
@_spi(JobStore) import HeadwayJobs

/// Statements about statistics.
enum StatisticsSQL: StatisticsStatements {
  /// Inserts activity at the end of the table.
  static let insertActivity = JobSQL.insertion("INSERT", into: "headway_activity", ["counted"] + ActivityColumns.all)
  static let insertActivityOfGroup = insertActivity
  /// Deletes the oldest activity, up to a limit; by the primary key.
  static let takeActivity = """
    DELETE FROM headway_activity WHERE id IN (SELECT id FROM headway_activity ORDER BY id LIMIT ?1)
    RETURNING counted, \(JobSQL.list(ActivityColumns.all))
    """
  /// The rows of a period; by the primary key.
  static let find = """
    SELECT \(JobSQL.list(ActivityColumns.period + ActivityColumns.all)) FROM headway_statistic
    WHERE level = ?1 AND start = ?2
    """
  /// Inserts or replaces a row of a period; by the primary key.
  static let put = JobSQL.insertion(
    "INSERT OR REPLACE", into: "headway_statistic", ActivityColumns.period + ActivityColumns.all)
  /// Deletes the rows of old periods, up to a limit; by the primary key.
  static let deleteExpired = """
    DELETE FROM headway_statistic WHERE (level, start, queue, kind) IN (
      SELECT level, start, queue, kind FROM headway_statistic WHERE level = ?1 AND start < ?2
      ORDER BY start LIMIT ?3)
    """
}
#endif
