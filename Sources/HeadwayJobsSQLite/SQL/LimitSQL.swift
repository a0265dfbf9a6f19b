#if Jobs
@_spi(JobStore) import HeadwayJobs

/// Statements about queues and limits.
enum LimitSQL: LimitStatements {
  // MARK: Queues

  /// All queues that are paused or have settings.
  static let queues = "SELECT \(QueueRow.columns) FROM headway_queue"
  /// Inserts or replaces a queue; by the primary key.
  static let putQueue = "INSERT OR REPLACE INTO headway_queue (\(QueueRow.columns)) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"
  /// Deletes a queue that has no settings and is not paused; by the primary key.
  static let deleteQueue = "DELETE FROM headway_queue WHERE name = ?1"
  /// The number of pending jobs of a queue up to a limit; by an index for each part.
  static let pendingCount = """
    SELECT count(*) FROM (
      \(JobPart.pending.map { "SELECT 1 FROM headway_job WHERE \($0.condition) AND queue = ?1" }
        .joined(separator: " UNION ALL "))
      LIMIT ?2)
    """

  // MARK: Counting

  /// The number of running jobs of a queue, counted by worker; by `headway_job_running`.
  static let runningCount = """
    SELECT count(*) FROM headway_worker CROSS JOIN headway_job
    ON headway_job.owner = headway_worker.id AND headway_job.queue = ?1 AND headway_job.\(JobState.running.condition)
    """
  /// The sum of the weights of running jobs whose first limit has a key; by `headway_job_slots`.
  static let runningWeight = """
    SELECT coalesce(sum(weight), 0) FROM headway_job
    WHERE \(JobState.running.condition) AND limit_key NOT NULL AND limit_key = ?1
    """
  /// The numbers of running jobs by their further limits; by `headway_job_further`.
  static let furtherCounts = """
    SELECT further, count(*) FROM headway_job WHERE \(JobState.running.condition) AND further > '-' GROUP BY further
    """
  /// The first job of a serial key that has not ended; by `headway_job_serial`.
  static let firstOfSerialKey = """
    SELECT id FROM headway_job WHERE slots = 0 AND \(JobCondition.hasSerialPlace) AND limit_key = ?1
    ORDER BY position LIMIT 1
    """
  /// The settings of a job; by the primary key.
  static let settings = "SELECT settings FROM headway_job WHERE id = ?1 AND settings NOT NULL"

  // MARK: Rates and turns

  /// A bucket; by the primary key.
  static let bucket = "SELECT full, next FROM headway_bucket WHERE key = ?1"
  /// Inserts or replaces a bucket; by the primary key.
  static let putBucket = "INSERT OR REPLACE INTO headway_bucket (key, full, next) VALUES (?1, ?2, ?3)"
  /// Which key is next at a priority of a queue; by the primary key.
  static let turn = "SELECT key, plain_next, heavy, further FROM headway_turn WHERE queue = ?1 AND priority = ?2"
  /// Inserts or replaces which key is next; by the primary key.
  static let putTurn = """
    INSERT OR REPLACE INTO headway_turn (queue, priority, key, plain_next, heavy, further)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6)
    """
}
#endif
