#if PostgreSQL
@_spi(JobStore) import HeadwayJobs

/// Statements about job rows: unfinished jobs are in `job`, finished ones in `done`.
enum JobSQL {
  /// The columns of the table `job` that `JobRow.read(_:)` expects.
  static let unfinishedColumns = list(JobRow.common + JobRow.unfinished + noEnd)
  /// The columns of the table `done` that `JobRow.read(_:)` expects.
  static let finishedColumns = list(JobRow.common + notUnfinished + JobRow.finished)

  private static let noEnd = [
    "NULL::timestamptz", "NULL::timestamptz", "NULL", "NULL", "NULL::bytea", "NULL::bigint",
  ]
  private static let notUnfinished = [
    "NULL::timestamptz", "0::bigint", "NULL::bigint", "NULL", "NULL", "NULL::bigint", "0::bigint", "NULL::bigint",
    "NULL", "NULL",
  ]

  /// The condition that an attempt runs a job, with the parameters of its fence; by the primary key.
  static let isRun = "id = $1 AND attempt = $2 AND epoch = $3 AND owner = $4 AND \(isRunning)"
  /// The condition that a job runs, if the job's number is known.
  ///
  /// The addition keeps the server from using the index of running jobs, which can contain many dead rows.
  static let isRunning = "state + 0 = \(JobState.running.rawValue)"

  /// Returns the condition that unfinished jobs depend on a job, so that they might read its result; by the primary
  /// keys.
  static func isNeeded(_ id: String) -> String {
    "EXISTS (SELECT FROM headway.edge e JOIN headway.job j ON j.id = e.dependent WHERE e.dependency = \(id))"
  }

  static func list(_ columns: [String]) -> String { columns.joined(separator: ", ") }
}
#endif
