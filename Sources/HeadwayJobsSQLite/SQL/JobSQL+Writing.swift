#if Jobs
@_spi(JobStore) import HeadwayJobs

extension JobSQL: JobStatements {
  // MARK: Finding jobs

  /// An unfinished job; by the primary key.
  static let findUnfinished = "SELECT \(unfinishedColumns) FROM headway_job WHERE id = ?1"
  /// A finished job; by the primary key.
  static let findFinished = "SELECT \(finishedColumns) FROM headway_done WHERE id = ?1"
  /// Whether a job is unfinished; by the primary key.
  static let isUnfinished = "SELECT 1 FROM headway_job WHERE id = ?1"
  /// The job of an attempt; by the primary key.
  static let findRunning = "SELECT 1 FROM headway_job WHERE \(isRun)"
  /// The jobs of a worker that it runs, up to a limit; by `headway_job_running`.
  static let runningJobs = """
    SELECT \(unfinishedColumns) FROM headway_job WHERE \(JobState.running.condition) AND owner = ?1 ORDER BY id
    LIMIT ?2
    """
  /// The jobs that have missed their deadlines, up to a limit; by `headway_job_deadline`.
  static let lateJobs = """
    SELECT \(unfinishedColumns) FROM headway_job
    WHERE deadline <= ?1 AND deadline NOT NULL AND \(JobCondition.isChangeable) ORDER BY deadline, id LIMIT ?2
    """
  /// The scheduled and retrying jobs that are due, up to a limit; by `headway_job_due`.
  static let dueJobs = """
    SELECT \(unfinishedColumns) FROM headway_job WHERE \(JobCondition.waitsForTime) AND due <= ?1
    ORDER BY due, id LIMIT ?2
    """
  /// The unfinished job that holds a key; by `headway_job_unique`.
  static let holders = "SELECT unique_key, id FROM headway_job WHERE unique_key = ?1"
  /// The job that holds a key until a later time; by the primary key.
  static let timedHolders = "SELECT key, job FROM headway_key WHERE key = ?1 AND until > ?2"
  /// Makes a job hold a key until a time; by the primary key.
  static let holdKey = "INSERT OR REPLACE INTO headway_key (key, job, until) VALUES (?1, ?2, ?3)"
  /// The settings and the history of a job, as they are stored; by the primary keys.
  static let findParts = """
    SELECT settings, history FROM headway_job WHERE id = ?1
    UNION ALL SELECT settings, history FROM headway_done WHERE id = ?1
    """

  // MARK: Writing jobs

  /// Deletes an unfinished job; by the primary key.
  static let deleteUnfinished = "DELETE FROM headway_job WHERE id = ?1"
  /// Deletes a finished job; by the primary key.
  static let deleteFinished = "DELETE FROM headway_done WHERE id = ?1"
  /// Changes the progress of a running job; by the primary key.
  static let setProgress = "UPDATE headway_job SET progress = ?2, progress_text = ?3 WHERE id = ?1"
  /// Changes the stored parts of an unfinished job; by the primary key.
  static let setUnfinishedParts = "UPDATE headway_job SET settings = ?2, history = ?3 WHERE id = ?1"
  /// Changes the stored parts of a finished job; by the primary key.
  static let setFinishedParts = "UPDATE headway_done SET settings = ?2, history = ?3 WHERE id = ?1"

  /// The requirements for the success of an attempt; by the primary key.
  ///
  /// The statements of a success have no `RETURNING` clauses, because SQLite would create a table for each execution.
  static let findSucceeding =
    "SELECT flags, keep, queue, kind, claimed FROM headway_job WHERE \(isRun) AND keep NOT NULL"
  /// Claims a waiting job; by the primary key.
  ///
  /// The parameters are the ID of the job, the worker, the time, the epoch and the attempt.
  static let claim = "UPDATE headway_job SET \(claimed) WHERE id = ?1"
  /// Claims a waiting job, which no longer holds its key; by the primary key.
  static let claimAndReleaseKey = "UPDATE headway_job SET \(claimed), unique_key = NULL WHERE id = ?1"
  private static let claimed = """
    state = \(JobState.running.rawValue), owner = ?2, claimed = ?3, first_claimed = coalesce(first_claimed, ?3),
    epoch = ?4, attempt = ?5
    """

  // MARK: Deleting jobs

  /// Whether unfinished jobs depend on a job; by the primary keys.
  static let findNeeded = "SELECT 1 WHERE \(isNeeded("?1"))"
  /// A finished job whose retention has expired; by the primary key.
  static let findExpired = "SELECT 1 FROM headway_done WHERE id = ?1 AND expires <= ?2"
  /// Deletes expired keys, up to a limit; by `headway_key_until`.
  static let pruneKeys = """
    DELETE FROM headway_key WHERE key IN (SELECT key FROM headway_key WHERE until <= ?1 ORDER BY until
    LIMIT \(JobCommand.maxPrunedKeyCount))
    """
  /// Deletes full buckets, up to a limit; reads all buckets.
  static let pruneBuckets = """
    DELETE FROM headway_bucket WHERE key IN (SELECT key FROM headway_bucket WHERE full <= ?1 ORDER BY full
    LIMIT \(JobCommand.maxPrunedKeyCount))
    """
  /// Deletes the turns of queues that have no waiting jobs with keys, up to a limit; reads all turns.
  static let pruneTurns = """
    DELETE FROM headway_turn WHERE (queue, priority) IN (SELECT queue, priority FROM headway_turn t WHERE NOT EXISTS (
      SELECT 1 FROM headway_job WHERE \(ClaimSQL.keyed) AND queue = t.queue)
    LIMIT \(JobCommand.maxPrunedKeyCount))
    """
}

/// Statements about the values of steps, signals and waits.
enum CheckpointSQL: CheckpointStatements {
  /// A checkpoint of a job; by the primary key.
  static let find = "SELECT job, value FROM headway_checkpoint WHERE job = ?1 AND name = ?2"
  /// Inserts or replaces a checkpoint; by the primary key.
  static let put = "INSERT OR REPLACE INTO headway_checkpoint (job, name, value) VALUES (?1, ?2, ?3)"
  /// Notes that a job has checkpoints; by the primary key.
  static let note = "UPDATE headway_job SET flags = flags | \(JobRow.hasCheckpoints) WHERE id = ?1"
  /// Deletes the checkpoints of a job; by the primary key.
  static let delete = "DELETE FROM headway_checkpoint WHERE job = ?1"
}
#endif
