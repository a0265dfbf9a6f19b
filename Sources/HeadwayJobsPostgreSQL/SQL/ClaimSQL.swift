#if PostgreSQL
@_spi(JobStore) import HeadwayJobs

/// Statements that find waiting jobs for claims, and lock their rows, except locked ones.
///
/// The first parameters are the queue, the time, and the kinds and versions that the worker supports.
enum ClaimSQL {
  /// The conditions of the waiting jobs, in parts that each have an index.
  static let plain = JobPart.plain.condition
  static let keyed = JobPart.keyed.condition
  static let suspects = JobPart.suspect.condition

  /// Returns a statement for the jobs that the worker supports.
  private static func jobs(_ condition: String, _ rest: String) -> String {
    """
    SELECT \(JobSQL.unfinishedColumns) FROM headway.job WHERE \(condition)
    AND queue = $1 AND (deadline IS NULL OR deadline > $2) AND EXISTS (
    SELECT FROM unnest($3::text[], $4::bigint[]) AS x(known, newest) WHERE known = kind AND version <= newest) \(rest)
    """
  }

  // MARK: Plain jobs

  /// The plain jobs in their order, up to a limit; by `job_waiting`.
  static let plainJobs = jobs(plain, "ORDER BY priority DESC, position LIMIT $5 FOR UPDATE SKIP LOCKED")
  /// The plain jobs after the marks of their priorities, up to a limit; by `job_waiting`.
  ///
  /// The server executes this as a loop over the priorities, which ends as soon as there are enough jobs.
  static let plainJobsAfterMarks = """
    SELECT waiting.* FROM unnest($6::bigint[], $7::bigint[]) AS level(value, mark)
    CROSS JOIN LATERAL (
      \(jobs(
        plain,
        "AND priority = level.value AND position > mark ORDER BY position LIMIT $5 FOR UPDATE SKIP LOCKED"))) waiting
    LIMIT $5
    """
  /// The next jobs of a part, of all priorities or of one, after a place, up to a limit; by the index of the part.
  static func page(of part: String) -> String {
    jobs(
      part,
      """
      AND ($5::bigint IS NULL OR priority = $5)
      AND ($6::bigint IS NULL OR priority < $6 OR priority = $6 AND position > $7)
      ORDER BY priority DESC, position LIMIT $8 FOR UPDATE SKIP LOCKED
      """)
  }
  /// The priorities of the waiting jobs of a queue, highest first; by the index of the part.
  static func priorities(in part: String) -> String {
    "WITH RECURSIVE \(levels(in: part)) SELECT priority FROM level WHERE priority IS NOT NULL"
  }
  /// Finds the next priority in the index of a part with each step.
  static func levels(in part: String) -> String {
    """
    level AS (
      SELECT max(priority) AS priority FROM headway.job WHERE \(part) AND queue = $1
      UNION ALL SELECT (SELECT max(priority) FROM headway.job WHERE \(part) AND queue = $1
      AND priority < level.priority) FROM level WHERE level.priority IS NOT NULL)
    """
  }

  // MARK: Jobs with keys

  /// The next groups of a priority, up to a last one, and to a limit; by `job_keyed`.
  ///
  /// The parameters are the queue, the priority, the group before, the last group, and the limit.
  static let groups = """
    WITH RECURSIVE step(value) AS (
      (\(nextGroup("$3")))
      UNION ALL SELECT (\(nextGroup("step.value"))) FROM step WHERE value IS NOT NULL)
    SELECT value FROM step WHERE value IS NOT NULL LIMIT $5
    """
  private static func nextGroup(_ group: String) -> String {
    """
    SELECT further FROM headway.job WHERE \(keyed) AND queue = $1 AND priority = $2
    AND ($4::text IS NULL OR further <= $4) AND further > \(group) ORDER BY further LIMIT 1
    """
  }

  /// The first job of each group after a key, except chosen ones; by `job_keyed`.
  static let firstJobs = """
    SELECT waiting.* FROM unnest($8::text[]) AS listed(value) CROSS JOIN LATERAL (
      \(jobs(
        keyed,
        """
        AND priority = $5 AND further = listed.value AND limit_key > $6 AND id <> ALL($7)
        ORDER BY limit_key, position LIMIT 1 FOR UPDATE SKIP LOCKED
        """))) waiting
    """

  /// The first job of a group whose key is in a relation to another one, except chosen jobs; by `job_keyed`.
  static func firstJob(ofKey relation: KeyRelation) -> String {
    jobs(
      keyed,
      """
      AND priority = $5 AND further = $8 AND limit_key \(relation.rawValue) $6 AND id <> ALL($7)
      ORDER BY limit_key, position LIMIT 1 FOR UPDATE SKIP LOCKED
      """)
  }

  /// The relation of a key to a given one.
  enum KeyRelation: String {
    case equal = "="
    case after = ">"
    case atOrAfter = ">="
  }

  /// The next key whose limit might admit its first job, or whose first job takes several units; by `job_keyed`.
  ///
  /// The last parameters are the priority, the key before, the group, and whether heavy jobs are wanted.
  static let firstKeyWithRoom = """
    WITH RECURSIVE key(value) AS (
      \(nextKey("$6"))
      UNION ALL SELECT (\(nextKey("key.value"))) FROM key WHERE value IS NOT NULL)
    SELECT value FROM key CROSS JOIN LATERAL (
      \(jobs(
        "\(keyed) AND priority = $5 AND further = $7 AND limit_key = key.value",
        "ORDER BY position LIMIT 1"))) waiting
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(weight), 0) AS used FROM headway.job
      WHERE \(JobState.running.condition) AND limit_key IS NOT NULL AND limit_key = key.value
    ) running
    WHERE CASE
      WHEN slots > 0 THEN $8 AND waiting.weight > 1 OR used + waiting.weight <= slots
      WHEN slots = 0 THEN used = 0 AND NOT EXISTS (
        SELECT FROM headway.job other WHERE other.slots = 0 AND other.\(JobCondition.hasSerialPlace)
        AND other.limit_key = key.value AND other.position < waiting.position)
      ELSE true END
    LIMIT 1
    """
  private static func nextKey(_ key: String) -> String {
    """
    SELECT min(limit_key) FROM headway.job WHERE \(keyed) AND queue = $1 AND priority = $5 AND further = $7
    AND limit_key > \(key)
    """
  }

  /// A job with keys, by its number; by the primary key.
  static let heavyJob = jobs(keyed, "AND priority = $5 AND id = $6 FOR UPDATE SKIP LOCKED")
  /// Whether a job with keys waits: number, queue, priority and time; by the primary key.
  static let heavyJobWaits = """
    SELECT FROM headway.job WHERE id = $1 AND \(keyed) AND queue = $2 AND priority = $3
    AND (deadline IS NULL OR deadline > $4)
    """

  // MARK: Queues

  /// The queues with keys and suspects among the queues in a list; by the indexes of the parts.
  static let queues = states(of: "SELECT name FROM unnest($1::text[]) AS x(name)")

  /// The queues with waiting jobs among the queues in a list; by the indexes of the parts.
  ///
  /// Each step finds the first queue with waiting jobs that is not before the next name of the list and continues with
  /// the name after that queue. Therefore, there are at most as many steps as names, and at most as many as queues with
  /// waiting jobs.
  static let waitingQueues = """
    WITH RECURSIVE names AS MATERIALIZED (
      SELECT array_agg(name ORDER BY name) AS list FROM unnest($1::text[]) AS x(name)),
    step(place, queue) AS (
      SELECT 1, NULL::text
      UNION ALL SELECT width_bucket(found.queue, list) + 1, found.queue FROM step CROSS JOIN names
      CROSS JOIN LATERAL (SELECT least(\(firstQueues(">= list[place]"))) AS queue) found
      WHERE place <= cardinality(list) AND found.queue IS NOT NULL)
    \(states(of: "SELECT queue AS name FROM step CROSS JOIN names WHERE queue = list[place - 1]"))
    """

  /// The names of queues with waiting jobs after a name, up to a limit; by the indexes of the parts.
  ///
  /// Each step finds the next queue of each index.
  static let queueNames = """
    WITH RECURSIVE step(count, queue) AS (
      SELECT 0, $1::text
      UNION ALL SELECT count + 1, least(\(firstQueues("> step.queue"))) FROM step
      WHERE count < $2 AND queue IS NOT NULL)
    SELECT queue FROM step WHERE count > 0 AND queue IS NOT NULL ORDER BY count
    """

  private static func states(of queues: String) -> String {
    """
    SELECT name, EXISTS (SELECT FROM headway.job WHERE \(keyed) AND queue = name),
    EXISTS (SELECT FROM headway.job WHERE \(suspects) AND queue = name),
    pg_snapshot_xmin(snapshot)::text::bigint, pg_snapshot_xmax(snapshot)::text::bigint
    FROM pg_current_snapshot() snapshot LEFT JOIN (\(queues)) waiting ON true
    """
  }

  private static func firstQueues(_ condition: String) -> String {
    JobSQL.list(
      [plain, keyed, suspects].map { part in
        "(SELECT queue FROM headway.job WHERE \(part) AND queue \(condition) ORDER BY queue LIMIT 1)"
      })
  }
}
#endif
