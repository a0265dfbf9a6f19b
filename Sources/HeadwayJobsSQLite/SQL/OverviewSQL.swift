#if Jobs
@_spi(JobStore) import HeadwayJobs

/// The statements of snapshots and overviews that only SQLite understands.
enum OverviewSQL: OverviewStatements {
  /// The workers, whose locks show whether they are alive.
  static let workers = "SELECT id, started, stopped, info FROM headway_worker"

  /// The latest activity; by the primary key, because the table has no other index.
  static let activity = """
    SELECT counted, \(JobSQL.list(ActivityColumns.all)) FROM (
      SELECT * FROM headway_activity ORDER BY id DESC LIMIT ?2) latest
    WHERE counted >= ?1
    """

  /// The waiting jobs by queue, kind and version, and the first one of each group; by `headway_job_waiting`,
  /// `headway_job_keyed` and `headway_job_suspect`.
  ///
  /// The columns without an aggregate have the values of the row with the minimum.
  static let waitingJobs = ["crashes = 0", "crashes > 0"].map { condition in
    """
    SELECT queue, kind, version, count(*), min(position), id, enqueued, ready, history FROM headway_job
    WHERE \(JobState.waiting.condition) AND \(condition) GROUP BY queue, kind, version
    """
  }

  /// The number of unfinished jobs with the lowest numbers among which the oldest waiting jobs are searched.
  private static let oldestCount = 1_000

  /// The same, counted in equal shares for each priority of a group; by the index of the part.
  ///
  /// Each step of the recursion finds the next priority, version, kind or queue in the index, and skips the jobs of the
  /// last one. After the maximum number of groups of a queue, it continues with the next queue. Therefore, the waiting
  /// jobs with the lowest numbers are returned, too: the oldest job can be in a group that was skipped.
  static func waitingJobs(of part: JobPart, groupsPerQueue count: Int) -> String {
    let next = "SELECT id FROM headway_job n WHERE \(part.condition) AND"
    let same =
      "\(part.condition) AND queue = j.queue AND kind = j.kind AND version = j.version AND priority = j.priority"
    let share = "(SELECT max(?1 / count(*), 1) FROM step)"
    // A priority begins with its oldest job, unless the index has other columns before the positions.
    let (order, limit) = part == .plain ? ("ORDER BY position", "1") : ("", share)
    let oldest = """
      UNION ALL SELECT queue, kind, version, 0, position, id, enqueued, ready, history FROM (
        SELECT * FROM headway_job ORDER BY id LIMIT \(oldestCount)) WHERE \(JobState.waiting.condition)
      """
    return """
      WITH RECURSIVE step(id, queue, place) AS (
        SELECT * FROM (SELECT id, queue, 1 FROM headway_job WHERE \(part.condition)
          ORDER BY queue, kind, version, priority DESC LIMIT 1)
        UNION ALL
        SELECT next.id, next.queue, iif(next.queue = step.queue, step.place + 1, 1)
        FROM step CROSS JOIN headway_job j ON j.id = step.id CROSS JOIN headway_job next ON next.id = coalesce(
          CASE WHEN step.place < \(count) THEN coalesce(
            (\(next) n.queue = j.queue AND n.kind = j.kind AND n.version = j.version AND n.priority < j.priority
              ORDER BY n.priority DESC LIMIT 1),
            (\(next) n.queue = j.queue AND n.kind = j.kind AND n.version > j.version
              ORDER BY n.version, n.priority DESC LIMIT 1),
            (\(next) n.queue = j.queue AND n.kind > j.kind ORDER BY n.kind, n.version, n.priority DESC LIMIT 1)) END,
          (\(next) n.queue > j.queue ORDER BY n.queue, n.kind, n.version, n.priority DESC LIMIT 1)))
      SELECT j.queue, j.kind, j.version,
      (SELECT count(*) FROM (SELECT 1 FROM headway_job WHERE \(same) LIMIT \(share))),
      oldest.position, oldest.id, oldest.enqueued, oldest.ready, oldest.history
      FROM step CROSS JOIN headway_job j ON j.id = step.id CROSS JOIN headway_job oldest ON oldest.id = (
        SELECT id FROM (SELECT id, position FROM headway_job WHERE \(same) \(order) LIMIT \(limit))
        ORDER BY position LIMIT 1)
      \(part == .plain ? oldest : "")
      """
  }
}
#endif
