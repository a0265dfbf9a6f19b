#if PostgreSQL
@_spi(JobStore) import HeadwayJobs

/// Statements about workers, and about what is due.
enum WorkerSQL {
  /// Inserts a worker: start, length of the lease in microseconds, description.
  static let insert = """
    INSERT INTO headway.worker (started, lease, info)
    VALUES ($1, clock_timestamp() + $2 * interval '1 microsecond', $3) RETURNING id
    """
  /// Whether a worker's lease is valid; by the primary key.
  static let isAlive = "SELECT FROM headway.worker WHERE id = $1 AND lease > clock_timestamp()"
  /// Whether a worker has stopped, and locks its row; by the primary key.
  static let lock = "SELECT stopped FROM headway.worker WHERE id = $1 FOR UPDATE"
  /// Notes that a worker has stopped; by the primary key.
  static let stop = "UPDATE headway.worker SET stopped = true WHERE id = $1"
  /// Ends a worker's lease; by the primary key.
  static let expire = "UPDATE headway.worker SET lease = '-infinity' WHERE id = $1"
  /// Deletes workers that run no jobs; by the primary key and `job_running`.
  static let deleteIdle = """
    DELETE FROM headway.worker w WHERE id = ANY($1)
    AND NOT EXISTS (SELECT FROM headway.job WHERE \(JobState.running.condition) AND owner = w.id)
    """
  /// Whether there are workers whose leases have expired.
  static let hasDead = "SELECT EXISTS (SELECT FROM headway.worker WHERE lease <= clock_timestamp())"
  /// The workers whose leases have expired, whose rows are locked, except locked ones, up to a limit.
  static let lockDead = """
    SELECT id, stopped FROM headway.worker WHERE lease <= clock_timestamp() ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED
    """
  /// The jobs that workers run, except locked ones, up to a limit; by `job_running`.
  ///
  /// A rescue must not wait for a transaction of the application that has locked a job.
  static let jobsOfDead = """
    SELECT \(JobSQL.unfinishedColumns) FROM headway.job WHERE \(JobState.running.condition) AND owner = ANY($1)
    ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED
    """
  /// The places of attempts that run their jobs, and whether their workers must cancel them; by the primary key.
  static let beat = """
    SELECT x.place, j.flags & \(JobRow.cancelRequested) <> 0 FROM
    unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[]) WITH ORDINALITY
    AS x(job, at_attempt, at_epoch, by_owner, place)
    JOIN headway.job j ON j.id = x.job AND j.attempt = x.at_attempt AND j.epoch = x.at_epoch
    AND j.owner = x.by_owner AND j.\(JobSQL.isRunning)
    """

  /// Renews leases by a length in microseconds and returns which workers were renewed, and which are locked; by the
  /// primary key.
  ///
  /// The statement does not wait for locks. A worker whose row is locked keeps its lease, and its renewal is tried
  /// again.
  static let renew = """
    WITH free AS (
      SELECT id FROM headway.worker WHERE id = ANY($1) AND lease > clock_timestamp() FOR UPDATE SKIP LOCKED),
    renewed AS (
      UPDATE headway.worker w SET lease = clock_timestamp() + $2 * interval '1 microsecond' FROM free
      WHERE w.id = free.id RETURNING w.id)
    SELECT id, true FROM renewed UNION ALL SELECT id, false FROM headway.worker
    WHERE id = ANY($1) AND lease > clock_timestamp() AND id NOT IN (SELECT id FROM renewed)
    """

  // MARK: Time

  /// The time of the server.
  static let now = "SELECT clock_timestamp()"
  /// The time of the next change, and the current time; by an index for each part.
  static let nextTime = """
    SELECT least((SELECT min(due) FROM headway.job WHERE \(JobCondition.waitsForTime)),
    (SELECT min(deadline) FROM headway.job WHERE deadline IS NOT NULL AND \(JobCondition.isChangeable)),
    (SELECT min(next) FROM headway.bucket WHERE next IS NOT NULL AND next > now),
    (SELECT min(next) FROM headway.schedule WHERE next IS NOT NULL),
    (SELECT '-infinity'::timestamptz FROM headway.cascade LIMIT 1)), now
    FROM (SELECT coalesce($1::timestamptz, clock_timestamp()) AS now) clock
    """
}
#endif
