#if PostgreSQL
@_spi(JobStore) import HeadwayJobs

extension JobSQL: JobStatements {
  // MARK: Finding jobs

  /// Unfinished jobs, whose rows are locked in ascending order of ID; by the primary key.
  static let findUnfinished = """
    SELECT \(unfinishedColumns) FROM headway.job WHERE id = ANY($1) ORDER BY id FOR UPDATE
    """
  /// Finished jobs, whose rows are locked; by the primary key.
  static let findFinished = "SELECT \(finishedColumns) FROM headway.done WHERE id = ANY($1) ORDER BY id FOR UPDATE"
  /// Whether a job is unfinished; by the primary key.
  static let isUnfinished = "SELECT FROM headway.job WHERE id = $1"
  /// The job of an attempt, whose row is locked; by the primary key.
  static let findRunning = "SELECT id FROM headway.job WHERE \(isRun) FOR UPDATE"
  /// The jobs of a worker that it runs, up to a limit; by `job_running`.
  static let runningJobs = """
    SELECT \(unfinishedColumns) FROM headway.job WHERE \(JobState.running.condition) AND owner = $1 ORDER BY id LIMIT $2
    FOR UPDATE
    """
  /// The jobs that have missed their deadlines, except locked ones; by `job_deadline`.
  static let lateJobs = """
    SELECT \(unfinishedColumns) FROM headway.job
    WHERE deadline <= $1 AND deadline IS NOT NULL AND \(JobCondition.isChangeable)
    ORDER BY deadline, id LIMIT $2 FOR UPDATE SKIP LOCKED
    """
  /// The scheduled and retrying jobs that are due, except locked ones; by `job_due`.
  static let dueJobs = """
    SELECT \(unfinishedColumns) FROM headway.job WHERE \(JobCondition.waitsForTime) AND due <= $1
    ORDER BY due, id LIMIT $2 FOR UPDATE SKIP LOCKED
    """
  /// The unfinished jobs that hold keys; by `job_unique`.
  static let holders = "SELECT unique_key, id FROM headway.job WHERE unique_key = ANY($1)"
  /// The unfinished jobs that hold keys, whose rows are locked in ascending order of ID; by `job_unique`.
  static let lockHolders = """
    SELECT unique_key, id FROM headway.job WHERE unique_key = ANY($1) ORDER BY id FOR UPDATE
    """
  /// The jobs that hold keys until a later time; by the primary key.
  static let timedHolders = "SELECT key, job FROM headway.key WHERE key = ANY($1) AND until > $2"
  /// Makes jobs hold keys until a time and returns those keys that no other job holds now; by the primary key.
  static let holdKeys = """
    INSERT INTO headway.key AS k (key, job, until)
    SELECT * FROM unnest($1::text[], $2::bigint[], $3::timestamptz[])
    ON CONFLICT (key) DO UPDATE SET job = excluded.job, until = excluded.until WHERE k.until <= $4 RETURNING key
    """
  /// The settings and the history of a job, as they are stored; by the primary keys.
  static let findParts = """
    SELECT settings, history FROM headway.job WHERE id = $1
    UNION ALL SELECT settings, history FROM headway.done WHERE id = $1
    """
  /// Numbers and positions for new jobs.
  static let nextNumbers = """
    SELECT nextval('headway.job_number'), nextval('headway.position') FROM generate_series(1, $1)
    """
  /// Positions behind all other jobs.
  static let nextPositions = "SELECT nextval('headway.position') FROM generate_series(1, $1)"

  // MARK: Writing jobs

  /// Inserts unfinished jobs.
  static let insert = insertion(into: "headway.job", JobRow.common + JobRow.unfinished)
  /// Replaces all columns of unfinished jobs, or inserts finished jobs that are run again; by the primary key.
  static let put = """
    \(insert) ON CONFLICT (id) DO UPDATE SET
    \(list(
      (JobRow.common + JobRow.unfinished).dropFirst().map { column in
        column == "flags"
          ? "flags = (job.flags & \(JobRow.hasCheckpoints)) | excluded.flags" : "\(column) = excluded.\(column)"
      }))
    """
  /// Inserts finished jobs, or replaces the rows with the same numbers; by the primary key.
  static let putFinished = """
    \(insertion(into: "headway.done", JobRow.common + JobRow.finished)) ON CONFLICT (id) DO UPDATE SET
    \(list((JobRow.common + JobRow.finished).dropFirst().map { "\($0) = excluded.\($0)" }))
    """
  /// Deletes unfinished jobs; by the primary key.
  static let deleteUnfinished = "DELETE FROM headway.job WHERE id = ANY($1)"
  /// Deletes finished jobs; by the primary key.
  static let deleteFinished = "DELETE FROM headway.done WHERE id = ANY($1)"
  /// Changes the progress of a running job; by the primary key.
  static let setProgress = "UPDATE headway.job SET progress = $2, progress_text = $3 WHERE id = $1"
  /// Changes the stored parts of an unfinished job; by the primary key.
  static let setUnfinishedParts = "UPDATE headway.job SET settings = $2, history = $3 WHERE id = $1"
  /// Changes the stored parts of a finished job; by the primary key.
  static let setFinishedParts = "UPDATE headway.done SET settings = $2, history = $3 WHERE id = $1"

  /// Moves the jobs of attempts that have succeeded to the table `done`, unless they are not kept; by the primary key.
  ///
  /// The parameters are the fences and the results, and the time. The rows are locked in ascending order of ID.
  static let succeed = """
    WITH ending AS (
      SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bytea[])
      AS x(job, at_attempt, at_epoch, by_owner, value)),
    locked AS MATERIALIZED (
      SELECT j.id, x.value FROM headway.job j JOIN ending x ON j.id = x.job AND j.attempt = x.at_attempt
      AND j.epoch = x.at_epoch AND j.owner = x.by_owner AND j.\(isRunning) WHERE j.keep IS NOT NULL
      ORDER BY j.id FOR UPDATE OF j),
    gone AS (DELETE FROM headway.job j USING locked l WHERE j.id = l.id RETURNING j.*, l.value),
    kept AS (
      INSERT INTO headway.done (\(list(JobRow.common + JobRow.finished)))
      SELECT \(list(JobRow.succeeded)), $6,
      $6 + keep * interval '1 microsecond', NULL, NULL, value, NULL FROM gone
      WHERE keep > 0 OR flags & \(JobRow.hasDependents) <> 0),
    edges AS (
      DELETE FROM headway.edge e USING gone g WHERE e.dependent = g.id
      AND NOT (g.keep > 0 OR g.flags & \(JobRow.hasDependents) <> 0))
    SELECT id, flags, queue, kind, claimed FROM gone
    """
  /// Claims waiting jobs, whose rows are locked; by the primary key.
  static let claim = """
    UPDATE headway.job SET state = \(JobState.running.rawValue), owner = $2, claimed = $3,
    first_claimed = coalesce(first_claimed, $3), epoch = epoch + 1, attempt = attempt + 1,
    unique_key = CASE WHEN flags & \(JobRow.holdsKeyUntilClaim) <> 0 THEN NULL ELSE unique_key END
    WHERE id = ANY($1)
    """

  static func insertion(into table: String, _ columns: [String]) -> String {
    let parameters = columns.indices.map { "$\($0 + 1)" }
    return "INSERT INTO \(table) (\(list(columns))) SELECT * FROM unnest(\(list(parameters)))"
  }

  // MARK: Deleting jobs

  /// Finished jobs whose retention has expired and that no unfinished job needs, up to a limit; by `done_expires`.
  static let findExpired = """
    SELECT id FROM headway.done WHERE expires <= coalesce($1::timestamptz, clock_timestamp())
    AND NOT \(isNeeded("done.id")) ORDER BY expires LIMIT \(JobCommand.maxChangedCount)
    """
  /// Returns the given finished jobs whose retention has expired and locks their rows, except rows that are locked; by
  /// the primary key.
  static let lockExpired = "SELECT id FROM headway.done WHERE id = ANY($1) AND expires <= $2 FOR UPDATE SKIP LOCKED"
  /// The given jobs that no unfinished job needs; by the primary keys.
  static let unneeded = "SELECT id FROM unnest($1::bigint[]) AS x(id) WHERE NOT \(isNeeded("x.id")) ORDER BY id"
  /// Deletes expired keys, up to a limit; by `key_until`.
  static let pruneKeys = """
    DELETE FROM headway.key WHERE key IN (SELECT key FROM headway.key WHERE until <= $1
    ORDER BY until LIMIT \(JobCommand.maxPrunedKeyCount) FOR UPDATE SKIP LOCKED)
    """
  /// Deletes full buckets, up to a limit; reads all buckets.
  static let pruneBuckets = """
    DELETE FROM headway.bucket WHERE key IN (SELECT key FROM headway.bucket WHERE fills <= $1
    ORDER BY fills LIMIT \(JobCommand.maxPrunedKeyCount) FOR UPDATE SKIP LOCKED)
    """
  /// Deletes the turns of queues that have no waiting jobs with keys, up to a limit; reads all turns.
  static let pruneTurns = """
    DELETE FROM headway.turn WHERE (queue, priority) IN (SELECT queue, priority FROM headway.turn t
    WHERE NOT EXISTS (SELECT FROM headway.job WHERE \(ClaimSQL.keyed) AND queue = t.queue)
    ORDER BY queue, priority LIMIT \(JobCommand.maxPrunedKeyCount) FOR UPDATE SKIP LOCKED)
    """
}

/// Statements about the values of steps, signals and waits.
enum CheckpointSQL: CheckpointStatements {
  /// Checkpoints of one name; by the primary key.
  static let find = "SELECT job, value FROM headway.checkpoint WHERE job = ANY($1) AND name = $2"
  /// Inserts or replaces checkpoints; by the primary key.
  static let put = """
    INSERT INTO headway.checkpoint (job, name, value) SELECT * FROM unnest($1::bigint[], $2::text[], $3::bytea[])
    ON CONFLICT (job, name) DO UPDATE SET value = excluded.value
    """
  /// Notes that jobs have checkpoints; by the primary key.
  static let note = "UPDATE headway.job SET flags = flags | \(JobRow.hasCheckpoints) WHERE id = ANY($1)"
  /// Deletes the checkpoints of jobs; by the primary key.
  static let delete = "DELETE FROM headway.checkpoint WHERE job = ANY($1)"
  /// Deletes checkpoints of jobs that have succeeded or do not exist, in the next part of the table.
  ///
  /// Earlier versions of Headway left such checkpoints behind.
  static let sweep = """
    WITH part AS (
      SELECT job, name FROM headway.checkpoint
      WHERE job > coalesce((SELECT value FROM headway.meta WHERE name = 'swept'), 0)
      ORDER BY job, name LIMIT \(JobCommand.maxChangedCount)),
    gone AS (
      DELETE FROM headway.checkpoint c USING part p WHERE c.job = p.job AND c.name = p.name
      AND NOT EXISTS (SELECT FROM headway.job WHERE id = c.job)
      AND NOT EXISTS (SELECT FROM headway.done WHERE id = c.job AND NOT (\(JobState.succeeded.condition))))
    INSERT INTO headway.meta AS m VALUES ('swept', coalesce((SELECT max(job) FROM part), 0))
    ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE m.value <> excluded.value
    """
}
#endif
