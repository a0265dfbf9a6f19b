#if Jobs
@_spi(JobStore) import HeadwayJobs

/// The statements of requests that read outside of transactions.
enum RequestSQL {
  /// Whether a job waits for a worker; by `headway_job_waiting`, `headway_job_keyed` and `headway_job_suspect`.
  static let isAnyWaiting: String = {
    let parts = JobPart.waiting.map { "EXISTS (SELECT 1 FROM headway_job WHERE \($0.condition))" }
    return "SELECT \(parts.joined(separator: " OR "))"
  }()

  /// When the store must be advanced next; by the indexes of the times.
  ///
  /// The parameter is the current time.
  static let nextTime = """
    SELECT min(time) FROM (SELECT min(due) AS time FROM headway_job WHERE state = 1
    UNION ALL SELECT min(deadline) FROM headway_job WHERE deadline NOT NULL AND state < 3
    UNION ALL SELECT min(next) FROM headway_bucket WHERE next NOT NULL AND next > ?1
    UNION ALL SELECT min(next) FROM headway_schedule WHERE next NOT NULL
    UNION ALL SELECT 0 FROM headway_cascade)
    """

  /// Jobs whose retention has expired and that are not needed, up to the limit of a transaction; by
  /// `headway_done_expires`.
  static let expiredJobs = """
    SELECT id FROM headway_done WHERE expires <= ?1 AND NOT \(JobSQL.isNeeded("headway_done.id"))
    ORDER BY expires LIMIT \(JobCommand.maxChangedCount)
    """

  /// Whether a worker is registered; by the primary key.
  static let isRegistered = "SELECT 1 FROM headway_worker WHERE id = ?1"
  /// The flags of a job that an attempt runs; by the primary key.
  static let flagsOfRun = "SELECT flags FROM headway_job WHERE \(JobSQL.isRun)"
  /// The numbers of all workers; by the primary key.
  static let workers = "SELECT id FROM headway_worker ORDER BY id"

  /// A small change that affects nothing; by the primary key.
  static let check = "INSERT OR REPLACE INTO headway_meta (name, value) VALUES ('checked', ?1)"
  /// A number that changes with each commit of another connection.
  static let dataVersion = "PRAGMA data_version"
  /// The mode of the journal, which must be `wal`.
  static let journalMode = "PRAGMA journal_mode"
}
#endif
