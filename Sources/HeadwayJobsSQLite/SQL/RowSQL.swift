#if Jobs
@_spi(JobStore) import HeadwayJobs

/// Statements about whole rows of queues and schedules.
enum RowSQL {
  /// Deletes a queue that has no settings and is not paused; by the primary key.
  static let deleteQueue = "DELETE FROM headway_queue WHERE name = ?1"
  /// Inserts or replaces a queue; by the primary key.
  static let putQueue = """
    INSERT OR REPLACE INTO headway_queue (\(QueueRow.columns)) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
    """

  /// Inserts or replaces a schedule; by the primary key.
  static let putSchedule = """
    INSERT OR REPLACE INTO headway_schedule (\(ScheduleRow.columns)) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
    """
  /// The definitions of due schedules, up to a limit; by `headway_schedule_next`.
  static let dueDefinitions = """
    SELECT definition FROM headway_schedule WHERE next <= ?1 ORDER BY next, name LIMIT ?2
    """
}
#endif
