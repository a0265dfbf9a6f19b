#if PostgreSQL
@_spi(JobStore) import HeadwayJobs

/// Statements about schedules.
enum ScheduleSQL: ScheduleStatements {
  /// The schedules that have a due tick, whose rows are locked, and whether their last jobs are unfinished; by
  /// `schedule_next`.
  static let due = """
    SELECT \(ScheduleRow.columns), EXISTS (SELECT FROM headway.job WHERE id = last_job) FROM headway.schedule
    WHERE next <= $1 ORDER BY next, name LIMIT $2 FOR UPDATE
    """
  /// A schedule, whose row is locked; by the primary key.
  static let find = "SELECT \(ScheduleRow.columns) FROM headway.schedule WHERE name = $1 FOR UPDATE"
  /// Inserts or replaces a schedule; by the primary key.
  static let put = """
    INSERT INTO headway.schedule (\(ScheduleRow.columns)) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
    ON CONFLICT (name) DO UPDATE SET definition = excluded.definition, anchor = excluded.anchor,
    decided = excluded.decided, last_tick = excluded.last_tick, last_job = excluded.last_job, paused = excluded.paused,
    next = excluded.next, gaps = excluded.gaps
    """
  /// Writes what ticks change; by the primary key.
  static let putTicks = """
    UPDATE headway.schedule s SET decided = x.decided, last_tick = x.last_tick, last_job = x.last_job, next = x.next,
    gaps = x.gaps
    FROM unnest($1, $2, $3, $4, $5, $6) AS x(name, decided, last_tick, last_job, next, gaps) WHERE s.name = x.name
    """
  /// Changes the next ticks of schedules; by the primary key.
  static let postpone = "UPDATE headway.schedule SET next = $2 WHERE name = ANY($1)"
  /// Deletes a schedule; by the primary key.
  static let delete = "DELETE FROM headway.schedule WHERE name = $1 RETURNING name"
}
#endif
