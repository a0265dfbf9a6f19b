#if Jobs
@_spi(JobStore) import HeadwayJobs

/// Statements about schedules.
enum ScheduleSQL: ScheduleStatements {
  /// The schedules that have a due tick, and whether their last jobs are unfinished; by `headway_schedule_next`.
  static let due = """
    SELECT \(ScheduleRow.columns), EXISTS (SELECT 1 FROM headway_job WHERE id = last_job) FROM headway_schedule
    WHERE next <= ?1 ORDER BY next, name LIMIT ?2
    """
  /// The definitions of the schedules that have a due tick, up to a limit; by `headway_schedule_next`.
  static let dueDefinitions = "SELECT definition FROM headway_schedule WHERE next <= ?1 ORDER BY next, name LIMIT ?2"
  /// A schedule; by the primary key.
  static let find = "SELECT \(ScheduleRow.columns) FROM headway_schedule WHERE name = ?1"
  /// Inserts or replaces a schedule; by the primary key.
  static let put = """
    INSERT OR REPLACE INTO headway_schedule (\(ScheduleRow.columns)) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
    """
  /// Writes what a tick changes; by the primary key.
  static let putTicks = """
    UPDATE headway_schedule SET decided = ?2, last_tick = ?3, last_job = ?4, next = ?5, gaps = ?6 WHERE name = ?1
    """
  /// Changes the next tick of a schedule; by the primary key.
  static let postpone = "UPDATE headway_schedule SET next = ?2 WHERE name = ?1"
  /// Deletes a schedule; by the primary key.
  static let delete = "DELETE FROM headway_schedule WHERE name = ?1 RETURNING name"
}
#endif
