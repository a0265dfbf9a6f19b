#if PostgreSQL
@_spi(JobStore) import HeadwayJobs

/// Statements about statistics.
enum StatisticsSQL: StatisticsStatements {
  /// Inserts activity, without waiting for other transactions.
  static let insertActivity = JobSQL.insertion(into: "headway.activity", ["counted"] + ActivityColumns.all)
  /// Inserts the activity of one group, without waiting for other transactions.
  static let insertActivityOfGroup = """
    INSERT INTO headway.activity (counted, \(JobSQL.list(ActivityColumns.all)))
    VALUES (\(JobSQL.list((1...ActivityColumns.all.count + 1).map { "$\($0)" })))
    """
  /// Deletes the oldest activity, up to a limit; by `activity_counted`.
  ///
  /// Only one process merges activity at a time, so no other transaction locks or moves the rows.
  static let takeActivity = """
    DELETE FROM headway.activity WHERE ctid = ANY(
      ARRAY(SELECT ctid FROM headway.activity ORDER BY counted LIMIT $1))
    RETURNING counted, \(JobSQL.list(ActivityColumns.all))
    """
  /// The rows of periods; by the primary key.
  static let find = """
    SELECT \(JobSQL.list((ActivityColumns.period + ActivityColumns.all).map { "s.\($0)" }))
    FROM unnest($1::bigint[], $2::timestamptz[]) AS x(level, start)
    JOIN headway.statistic s ON s.level = x.level AND s.start = x.start
    """
  /// Inserts or replaces rows of periods; by the primary key.
  static let put = """
    \(JobSQL.insertion(into: "headway.statistic", ActivityColumns.period + ActivityColumns.all))
    ON CONFLICT (level, start, queue, kind) DO UPDATE
    SET \(JobSQL.list(ActivityColumns.all.dropFirst(2).map { "\($0) = excluded.\($0)" }))
    """
  /// Deletes the rows of old periods, up to a limit; by the primary key.
  static let deleteExpired = """
    DELETE FROM headway.statistic WHERE ctid = ANY(
      ARRAY(SELECT ctid FROM headway.statistic WHERE level = $1 AND start < $2 ORDER BY start LIMIT $3))
    """
}
#endif
