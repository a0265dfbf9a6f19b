#if PostgreSQL
@_spi(JobStore) import HeadwayJobs

/// Statements about queues and limits.
enum LimitSQL: LimitStatements {
  // MARK: Queues

  /// All queues that are paused or have settings.
  static let queues = "SELECT \(QueueRow.columns) FROM headway.queue"
  /// A queue, whose row is locked; by the primary key.
  static let lockQueue = "\(queues) WHERE name = $1 FOR UPDATE"
  /// Locks the queues that count failures.
  ///
  /// The locks are acquired in alphabetical order, so that exchanges don't deadlock.
  static let lockFailureCounts = """
    SELECT name FROM headway.queue WHERE failure_limit IS NOT NULL ORDER BY name FOR UPDATE
    """
  /// Inserts or replaces a queue; by the primary key.
  static let putQueue = """
    INSERT INTO headway.queue (\(QueueRow.columns)) VALUES ($1, $2, $3, $4, $5, $6, $7)
    ON CONFLICT (name) DO UPDATE SET paused = excluded.paused, slots = excluded.slots, pending = excluded.pending,
    failure_limit = excluded.failure_limit, failures = excluded.failures, aging = excluded.aging
    """
  /// Deletes a queue that has no settings and is not paused; by the primary key.
  static let deleteQueue = "DELETE FROM headway.queue WHERE name = $1"
  /// The given queues that have at least as many pending jobs as their limits; by an index for each part.
  static let fullQueues = """
    SELECT name FROM unnest($1::text[], $2::bigint[]) AS x(name, at_most)
    WHERE headway.pending_count(name, at_most) >= at_most
    """

  // MARK: Counting

  /// The number of running jobs of a queue; by `job_running`.
  static let runningCount = "SELECT count(*) FROM headway.job WHERE \(JobState.running.condition) AND queue = $1"
  /// The sum of the weights of running jobs whose first limit has a key; by `job_slots`.
  static let runningWeight = """
    SELECT coalesce(sum(weight), 0)::bigint FROM headway.job
    WHERE \(JobState.running.condition) AND limit_key IS NOT NULL AND limit_key = $1
    """
  /// The same sum, and the numbers of running jobs by their further limits; by `job_slots` and `job_further`.
  static let runningWeights = """
    SELECT NULL::text, coalesce(sum(weight), 0)::bigint FROM headway.job
    WHERE \(JobState.running.condition) AND limit_key IS NOT NULL AND limit_key = $1
    UNION ALL SELECT further, count(*) FROM headway.job WHERE \(JobState.running.condition) AND further > '-'
    GROUP BY further
    """
  /// The first job of a serial key that has not ended; by `job_serial`.
  static let firstOfSerialKey = """
    SELECT id FROM headway.job WHERE slots = 0 AND \(JobCondition.hasSerialPlace) AND limit_key = $1
    ORDER BY position LIMIT 1
    """

  // MARK: Rates and turns

  /// A bucket; by the primary key.
  static let bucket = "SELECT fills, next FROM headway.bucket WHERE key = $1"
  /// Inserts or replaces a bucket; by the primary key.
  static let putBucket = """
    INSERT INTO headway.bucket (key, fills, next) VALUES ($1, $2, $3)
    ON CONFLICT (key) DO UPDATE SET fills = excluded.fills, next = excluded.next
    """
  /// The priorities of waiting jobs with keys, highest first, with the turn of each; by `job_keyed`.
  static let turns = """
    WITH RECURSIVE \(ClaimSQL.levels(in: ClaimSQL.keyed))
    SELECT level.priority, key, coalesce(plain_next, false), heavy, further
    FROM level LEFT JOIN headway.turn t ON t.queue = $1 AND t.priority = level.priority
    WHERE level.priority IS NOT NULL ORDER BY level.priority DESC
    """
  /// Inserts or replaces which key is next; by the primary key.
  static let putTurn = """
    INSERT INTO headway.turn (queue, priority, key, plain_next, heavy, further) VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (queue, priority) DO UPDATE SET key = excluded.key, plain_next = excluded.plain_next,
    heavy = excluded.heavy, further = excluded.further
    """
}

/// Statements about the advisory locks of ``StoreLock``, which end with the transaction.
enum LockSQL {
  /// Acquires a lock exclusively.
  static let lock = "SELECT pg_advisory_xact_lock($1, $2)"
  /// Acquires a lock that other transactions can share.
  static let share = "SELECT pg_advisory_xact_lock_shared($1, $2)"
  /// Acquires a lock exclusively if it is free and returns whether it was free.
  static let tryLock = "SELECT pg_try_advisory_xact_lock($1, $2)"
}
#endif
