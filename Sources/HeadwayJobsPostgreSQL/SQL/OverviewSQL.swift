#if PostgreSQL
@_spi(JobStore) import HeadwayJobs

/// The statements of snapshots and overviews that only PostgreSQL understands.
enum OverviewSQL: OverviewStatements {
  /// The workers, and whether their leases are valid.
  static let workers = "SELECT id, started, stopped, info, lease > clock_timestamp() FROM headway.worker"

  /// The latest activity; by `activity_counted`.
  static let activity = """
    SELECT counted, \(JobSQL.list(ActivityColumns.all)) FROM headway.activity WHERE counted >= $1
    ORDER BY counted DESC LIMIT $2
    """

  /// The waiting jobs by queue, kind and version, and the first one of each group; reads all waiting jobs.
  static let waitingJobs = [
    """
    SELECT n.queue, n.kind, n.version, n.number, n.position, j.id, j.enqueued, j.ready, j.history FROM (
      SELECT queue, kind, version, count(*) AS number, min(position) AS position FROM headway.job
      WHERE \(JobState.waiting.condition) GROUP BY queue, kind, version) n
    JOIN headway.job j ON j.\(JobState.waiting.condition) AND j.queue = n.queue AND j.kind = n.kind
    AND j.version = n.version AND j.position = n.position
    """
  ]

  /// The same, among the first jobs of each priority of a queue, in equal shares; by the index of the part.
  ///
  /// The indexes do not contain the kinds, so rows are read. Jobs whose kind no worker supports are among these,
  /// because they remain in the queue. Each step of the recursion finds the next priority of the queue, or else the
  /// next queue. The first job of a priority is the oldest one, so all priorities are read.
  static func waitingJobs(of part: JobPart, groupsPerQueue count: Int) -> String {
    """
    WITH RECURSIVE q AS (
      (SELECT queue, priority FROM headway.job WHERE \(part.condition) ORDER BY queue, priority DESC LIMIT 1)
      UNION ALL
      SELECT n.queue, n.priority FROM q CROSS JOIN LATERAL (
        (SELECT queue, priority FROM headway.job WHERE \(part.condition) AND queue = q.queue
        AND priority < q.priority ORDER BY priority DESC LIMIT 1)
        UNION ALL (SELECT queue, priority FROM headway.job WHERE \(part.condition) AND queue > q.queue
        ORDER BY queue, priority DESC LIMIT 1) LIMIT 1) n)
    SELECT q.queue, w.kind, w.version, w.number, w.position, w.id, o.enqueued, o.ready, o.history
    FROM q CROSS JOIN LATERAL (
      SELECT kind, version, count(*) AS number, min(position) AS position,
      (array_agg(id ORDER BY position))[1] AS id FROM (
        SELECT id, kind, version, position FROM headway.job j
        WHERE \(part.condition) AND j.queue = q.queue AND j.priority = q.priority
        ORDER BY \(part == .keyed ? "further, limit_key, position" : "position")
        LIMIT (SELECT greatest($1 / count(*), 1) FROM q)) counted
      GROUP BY kind, version) w JOIN headway.job o ON o.id = w.id
    """
  }

  /// Makes the statements of a transaction read by index, even if the statistics of the server are old.
  ///
  /// A bitmap contains all rows of an index that meet a condition, even if the statement needs only the first ones.
  static let preferIndexes =
    "SELECT set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true)"
}
#endif
