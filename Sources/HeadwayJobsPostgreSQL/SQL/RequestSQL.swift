#if PostgreSQL
@_spi(JobStore) import HeadwayJobs

/// The statements of requests that read outside of transactions, and of workers.
enum RequestSQL {
  /// When the store must be advanced next, and the current time; by the indexes of the times.
  ///
  /// The parameter is the time of a test's clock, or null.
  static let nextTime = """
    SELECT least((SELECT min(due) FROM headway.job WHERE state = 1),
    (SELECT min(deadline) FROM headway.job WHERE deadline IS NOT NULL AND state < 3),
    (SELECT min(next) FROM headway.bucket WHERE next IS NOT NULL AND next > now),
    (SELECT min(next) FROM headway.schedule WHERE next IS NOT NULL),
    (SELECT '-infinity'::timestamptz FROM headway.cascade LIMIT 1)), now
    FROM (SELECT coalesce($1::timestamptz, clock_timestamp()) AS now) clock
    """

  /// Jobs whose retention has expired and that are not needed, up to the limit of a transaction; by `done_expires`.
  static let expiredJobs = """
    SELECT id FROM headway.done WHERE expires <= coalesce($1::timestamptz, clock_timestamp())
    AND NOT \(JobSQL.isNeeded("done.id")) ORDER BY expires LIMIT \(JobCommand.maxChangedCount)
    """

  /// Takes the advisory lock of a task, unless another transaction holds it.
  static let tryLock = "SELECT pg_try_advisory_xact_lock($1, $2)"
  /// Takes the advisory lock of a task.
  static let lock = "SELECT pg_advisory_xact_lock($1, $2)"

  /// Adds a worker, whose lease has a length in microseconds.
  static let addWorker = """
    INSERT INTO headway.worker (started, lease, info)
    VALUES ($1, clock_timestamp() + $2 * interval '1 microsecond', $3) RETURNING id
    """
  /// Notes that a worker has stopped; by the primary key.
  static let stopWorker = "UPDATE headway.worker SET stopped = true WHERE id = $1"
  /// Ends the lease of a worker, for tests; by the primary key.
  static let killWorker = "UPDATE headway.worker SET lease = '-infinity' WHERE id = $1"
  /// Whether the lease of a worker has ended; reads all workers.
  static let isAnyWorkerDead = "SELECT EXISTS (SELECT FROM headway.worker WHERE lease <= clock_timestamp())"
  /// Returns a row if the lease of a worker is valid; by the primary key.
  static let isAlive = "SELECT FROM headway.worker WHERE id = $1 AND lease > clock_timestamp()"

  /// Which attempts still run, by their places in the parameters, and whether they were cancelled; by the primary key.
  static let runningAttempts = """
    SELECT x.place, j.flags & \(JobRow.cancelRequested) <> 0 FROM
    unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[]) WITH ORDINALITY
    AS x(job, at_attempt, at_epoch, by_owner, place)
    JOIN headway.job j ON j.id = x.job AND j.attempt = x.at_attempt AND j.epoch = x.at_epoch
    AND j.owner = x.by_owner AND j.\(JobSQL.isRunning)
    """

  /// Renews leases by a length in microseconds, and returns which workers were renewed, and which are locked; by the
  /// primary key.
  ///
  /// The statement does not wait for locks. A worker whose row is locked keeps its lease, and its renewal is tried
  /// again.
  static let renewLeases = """
    WITH free AS (
      SELECT id FROM headway.worker WHERE id = ANY($1) AND lease > clock_timestamp() FOR UPDATE SKIP LOCKED),
    renewed AS (
      UPDATE headway.worker w SET lease = clock_timestamp() + $2 * interval '1 microsecond' FROM free
      WHERE w.id = free.id RETURNING w.id)
    SELECT id, true FROM renewed UNION ALL SELECT id, false FROM headway.worker
    WHERE id = ANY($1) AND lease > clock_timestamp() AND id NOT IN (SELECT id FROM renewed)
    """

  /// Notifies other processes.
  static let notify = "SELECT pg_notify($1, $2)"
}
#endif
