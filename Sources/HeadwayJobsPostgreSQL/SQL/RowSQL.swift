#if PostgreSQL
@_spi(JobStore) import HeadwayJobs

/// Statements about whole rows of queues and schedules.
enum RowSQL {
  /// The queues that are paused or have settings.
  static let queues = "SELECT \(QueueRow.columns) FROM headway.queue"
  /// Deletes a queue that has no settings and is not paused; by the primary key.
  static let deleteQueue = "DELETE FROM headway.queue WHERE name = $1"
  /// Inserts or replaces a queue; by the primary key.
  static let putQueue = """
    INSERT INTO headway.queue (\(QueueRow.columns))
    VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (name) DO UPDATE SET paused = excluded.paused,
    slots = excluded.slots, pending = excluded.pending, failure_limit = excluded.failure_limit,
    failures = excluded.failures, aging = excluded.aging
    """

  /// Inserts or replaces a schedule; by the primary key.
  static let putSchedule = """
    INSERT INTO headway.schedule (\(ScheduleRow.columns)) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
    ON CONFLICT (name) DO UPDATE SET definition = excluded.definition, anchor = excluded.anchor,
    decided = excluded.decided, last_tick = excluded.last_tick, last_job = excluded.last_job, paused = excluded.paused,
    next = excluded.next, gaps = excluded.gaps
    """
  /// Writes the changes that ticks have caused; by the primary key.
  static let putTicks = """
    UPDATE headway.schedule s SET decided = x.decided, last_tick = x.last_tick, last_job = x.last_job, next = x.next,
    gaps = x.gaps
    FROM unnest($1, $2, $3, $4, $5, $6) AS x(name, decided, last_tick, last_job, next, gaps) WHERE s.name = x.name
    """
}
#endif
