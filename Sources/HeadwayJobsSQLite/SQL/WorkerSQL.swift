#if Jobs
@_spi(JobStore) import HeadwayJobs

/// Statements about workers, and about what is due.
enum WorkerSQL {
  /// Inserts a worker.
  static let insert = "INSERT INTO headway_worker (id, started, info) VALUES (?1, ?2, ?3)"
  /// All workers.
  static let all = "SELECT id FROM headway_worker ORDER BY id"
  /// Whether a worker has stopped; by the primary key.
  static let find = "SELECT stopped FROM headway_worker WHERE id = ?1"
  /// Notes that a worker has stopped; by the primary key.
  static let stop = "UPDATE headway_worker SET stopped = 1 WHERE id = ?1"
  /// Deletes a worker; by the primary key.
  static let delete = "DELETE FROM headway_worker WHERE id = ?1"
  /// Whether the worker of an attempt must cancel it; by the primary key.
  static let beat = "SELECT flags & \(JobRow.cancelRequested) FROM headway_job WHERE \(JobSQL.isRun)"

  // MARK: Time

  /// Whether a schedule has a due tick; by `headway_schedule_next`.
  static let hasDueTicks = "SELECT 1 FROM headway_schedule WHERE next <= ?1 LIMIT 1"
  /// Whether edges of ended jobs are not settled.
  static let hasCascades = "SELECT 1 FROM headway_cascade WHERE ?1 NOT NULL LIMIT 1"
  /// Whether a job has missed its deadline; by `headway_job_deadline`.
  static let hasLateJobs = """
    SELECT 1 FROM headway_job WHERE deadline <= ?1 AND deadline NOT NULL AND \(JobCondition.isChangeable) LIMIT 1
    """
  /// Whether a scheduled or retrying job is due; by `headway_job_due`.
  static let hasDueJobs = "SELECT 1 FROM headway_job WHERE \(JobCondition.waitsForTime) AND due <= ?1 LIMIT 1"
  /// The time of the next change; by an index for each part.
  static let nextTime = """
    SELECT min(time) FROM (SELECT min(due) AS time FROM headway_job WHERE \(JobCondition.waitsForTime)
    UNION ALL SELECT min(deadline) FROM headway_job WHERE deadline NOT NULL AND \(JobCondition.isChangeable)
    UNION ALL SELECT min(next) FROM headway_bucket WHERE next NOT NULL AND next > ?1
    UNION ALL SELECT min(next) FROM headway_schedule WHERE next NOT NULL
    UNION ALL SELECT 0 FROM headway_cascade)
    """
}
#endif
