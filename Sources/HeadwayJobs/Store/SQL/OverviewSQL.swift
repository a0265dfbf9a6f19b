/// The statements of snapshots and overviews that differ between databases.
@_spi(JobStore) public protocol OverviewStatements {
  /// The workers: `id, started, stopped, info`, and further columns for ``StoreReader/isAlive(_:)``.
  static var workers: String { get }

  /// Statements that return the waiting jobs by queue, kind and version: `queue, kind, version`, their number, and
  /// `position, id, enqueued, ready, history` of the first job.
  ///
  /// Several rows can belong to the same group.
  static var waitingJobs: [String] { get }

  /// Returns a statement with the same columns that reads a limited number of the jobs of a part.
  ///
  /// The parameter is about the maximum number of jobs, which all groups share.
  ///
  /// - Parameters:
  ///   - part: The part, with waiting jobs.
  ///   - count: The maximum number of kinds, versions and priorities of a queue, if an index has the kinds.
  /// - Returns: The statement.
  static func waitingJobs(of part: JobPart, groupsPerQueue count: Int) -> String

  /// Returns the latest activity that is not part of a period yet: its time, and the columns of ``ActivityColumns``.
  ///
  /// The parameters are the earliest time, and the maximum number of rows to examine. There can be many more rows,
  /// because only workers merge them.
  static var activity: String { get }
}

/// The statements of snapshots and overviews that all databases understand.
enum OverviewSQL {
  /// The queues that are paused or have settings.
  static let queues = "SELECT \(QueueRow.columns) FROM headway.queue"
  /// The schedules.
  static let schedules = "SELECT \(ScheduleRow.columns) FROM headway.schedule"
  /// The value of a checkpoint; by the primary key.
  static let checkpoint = "SELECT value FROM headway.checkpoint WHERE job = $1 AND name = $2"

  /// The edges from and to jobs; by the primary key and the index `edge_dependent`.
  static func edges(from: String, to: String) -> String {
    """
    SELECT \(JobRow.edge) FROM headway.edge WHERE \(from)
    UNION SELECT \(JobRow.edge) FROM headway.edge WHERE \(to) ORDER BY 1, 2
    """
  }

  /// The number of jobs of each queue in each state; reads all jobs.
  static let counts = """
    SELECT queue, state, count(*) FROM headway.job GROUP BY queue, state
    UNION ALL SELECT queue, state, count(*) FROM headway.done GROUP BY queue, state
    """

  /// The number of jobs of each queue in a part, up to a limit; by the index of the part.
  ///
  /// Each step of the recursion finds the next queue in the index, and skips the jobs of the previous queue.
  static func counts(of part: JobPart) -> String {
    """
    WITH RECURSIVE q(queue) AS (
      SELECT (SELECT queue FROM headway.job WHERE \(part.condition) ORDER BY queue LIMIT 1)
      UNION ALL
      SELECT (SELECT queue FROM headway.job WHERE \(part.condition) AND queue > q.queue ORDER BY queue LIMIT 1) FROM q
      WHERE q.queue IS NOT NULL)
    SELECT q.queue, (SELECT count(*) FROM (
      SELECT 1 FROM headway.job j WHERE \(part.condition) AND j.queue = q.queue LIMIT $1) counted)
    FROM q WHERE q.queue IS NOT NULL
    """
  }

  /// The number of running jobs of each queue; by the index `job_running`.
  ///
  /// There are few running jobs: the jobs in the slots of workers, and the jobs claimed ahead.
  static let runningCounts =
    "SELECT queue, count(*) FROM headway.job WHERE \(JobState.running.condition) GROUP BY queue"

  /// The running jobs; by the index `job_running`.
  static let running = """
    SELECT owner, id, kind, queue, attempt, claimed, progress, progress_text FROM headway.job
    WHERE \(JobState.running.condition)
    """

  /// The number of failed or cancelled jobs, up to a limit; by the index `done_unsuccessful`.
  static let unsuccessfulCount = """
    SELECT count(*) FROM (
      SELECT 1 FROM headway.done WHERE \(JobCondition.isUnsuccessful) AND state = $1 LIMIT $2) counted
    """

  /// The number of failed jobs by kind, and the last one of each kind; reads all failed jobs.
  static let failures = """
    SELECT kind, number, id, finished FROM (
      SELECT kind, id, finished, count(*) OVER (PARTITION BY kind) AS number,
      row_number() OVER (PARTITION BY kind ORDER BY finished DESC, id DESC) AS place FROM headway.done
      WHERE \(JobCondition.isUnsuccessful) AND \(JobState.failed.condition)) ranked
    WHERE place = 1
    """

  /// The failed jobs with the highest numbers, up to a limit; by the index `done_unsuccessful`.
  static let latestFailures = """
    SELECT id, finished FROM headway.done WHERE \(JobCondition.isUnsuccessful) AND \(JobState.failed.condition)
    ORDER BY id DESC LIMIT $1
    """

  /// The jobs that have ended after a time, latest first; by the index `done_finished`.
  static let endings = """
    SELECT id, queue, kind, state, ready, claimed, finished FROM headway.done WHERE finished > $1
    ORDER BY finished DESC, id DESC LIMIT $2
    """
}
