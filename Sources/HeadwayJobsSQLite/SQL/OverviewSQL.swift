#if Jobs
@_spi(JobStore) import HeadwayJobs

/// The statements of snapshots and overviews that only SQLite understands.
enum OverviewSQL: OverviewStatements {
  /// The workers, whose locks show whether they are alive.
  static let workers = "SELECT id, started, stopped, info FROM headway_worker"

  static let findsAllGroups = true

  /// The latest activity; by the primary key, because the table has no other index.
  static let activity = """
    SELECT counted, \(JobSQL.list(ActivityColumns.all)) FROM (
      SELECT * FROM headway_activity ORDER BY id DESC LIMIT ?2) latest
    WHERE counted >= ?1
    """

  /// The waiting jobs by queue, kind and version, and the first one of each group; by `headway_job_waiting`,
  /// `headway_job_keyed` and `headway_job_suspect`.
  ///
  /// The column without an aggregate has the value of the row with the minimum.
  static let waitingJobs = ["crashes = 0", "crashes > 0"].map { condition in
    """
    SELECT queue, kind, version, count(*), min(position), id FROM headway_job
    WHERE \(JobState.waiting.condition) AND \(condition) GROUP BY queue, kind, version
    """
  }

  /// The same, counted up to a limit for each priority of a group; by the index of the part.
  ///
  /// Each step of the recursion finds the next priority, version, kind or queue in the index, and skips the jobs of the
  /// last one.
  static func waitingJobs(of part: JobPart) -> String {
    let next = "SELECT id FROM headway_job n WHERE \(part.condition) AND"
    let same =
      "\(part.condition) AND queue = j.queue AND kind = j.kind AND version = j.version AND priority = j.priority"
    // A priority begins with its oldest job, unless the index has other columns before the positions.
    let (order, limit) = part == .plain ? ("ORDER BY position", "1") : ("", "?1")
    return """
      WITH RECURSIVE step(id) AS (
        SELECT (SELECT id FROM headway_job WHERE \(part.condition)
          ORDER BY queue, kind, version, priority DESC LIMIT 1)
        UNION ALL
        SELECT coalesce(
          (\(next) n.queue = j.queue AND n.kind = j.kind AND n.version = j.version AND n.priority < j.priority
            ORDER BY n.priority DESC LIMIT 1),
          (\(next) n.queue = j.queue AND n.kind = j.kind AND n.version > j.version
            ORDER BY n.version, n.priority DESC LIMIT 1),
          (\(next) n.queue = j.queue AND n.kind > j.kind ORDER BY n.kind, n.version, n.priority DESC LIMIT 1),
          (\(next) n.queue > j.queue ORDER BY n.queue, n.kind, n.version, n.priority DESC LIMIT 1))
        FROM step JOIN headway_job j ON j.id = step.id)
      SELECT j.queue, j.kind, j.version, (SELECT count(*) FROM (SELECT 1 FROM headway_job WHERE \(same) LIMIT ?1)),
      oldest.position, oldest.id FROM step JOIN headway_job j ON j.id = step.id JOIN headway_job oldest ON oldest.id = (
        SELECT id FROM (SELECT id, position FROM headway_job WHERE \(same) \(order) LIMIT \(limit))
        ORDER BY position LIMIT 1)
      """
  }
}
#endif
