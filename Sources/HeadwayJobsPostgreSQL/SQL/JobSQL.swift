#if PostgreSQL
@_spi(JobStore) import HeadwayJobs

/// Statements about the rows of jobs: unfinished jobs are in the table `job`, finished ones in `done`.
enum JobSQL {
  /// The columns of `job` that `JobRow.read(_:)` expects.
  static let unfinishedColumns = list(
    JobRow.common + JobRow.unfinished
      + ["NULL::timestamptz", "NULL::timestamptz", "NULL", "NULL", "NULL::bytea", "NULL::bigint"])
  /// The columns of `done` that `JobRow.read(_:)` expects.
  static let finishedColumns = list(
    JobRow.common
      + [
        "NULL::timestamptz", "0::bigint", "NULL::bigint", "NULL", "NULL", "NULL::bigint", "0::bigint", "NULL::bigint",
        "NULL", "NULL",
      ] + JobRow.finished)

  /// The condition that an attempt runs a job, with the parameters of its fence; by the primary key.
  static let isRun = "id = $1 AND attempt = $2 AND epoch = $3 AND owner = $4 AND \(isRunning)"
  /// The condition that a job runs, if the job's number is known.
  ///
  /// The addition keeps the server from using the index of running jobs, which can contain many dead rows.
  static let isRunning = "state + 0 = 3"

  /// Returns the condition that unfinished jobs depend on a job, so that they might read its result; by the primary
  /// keys.
  ///
  /// - Parameter id: The SQL expression for the number of the job.
  static func isNeeded(_ id: String) -> String {
    "EXISTS (SELECT FROM headway.edge e JOIN headway.job j ON j.id = e.dependent WHERE e.dependency = \(id))"
  }

  /// Inserts unfinished jobs.
  static let insert = insertion(into: "headway.job", JobRow.common + JobRow.unfinished)
  /// Inserts unfinished jobs, unless other jobs hold their keys.
  static let insertIfUnique =
    insert + " ON CONFLICT (unique_key) WHERE unique_key IS NOT NULL DO NOTHING RETURNING id"
  /// Replaces unfinished jobs, or inserts finished jobs that are run again; by the primary key.
  static let put =
    insert + " ON CONFLICT (id) DO UPDATE SET "
    + list(
      (JobRow.common + JobRow.unfinished).dropFirst().map { column in
        column == "flags"
          ? "flags = (job.flags & \(JobRow.hasCheckpoints)) | excluded.flags" : "\(column) = excluded.\(column)"
      })
  /// Inserts finished jobs, or replaces the rows with the same numbers; by the primary key.
  static let putFinished =
    insertion(into: "headway.done", JobRow.common + JobRow.finished) + " ON CONFLICT (id) DO UPDATE SET "
    + list((JobRow.common + JobRow.finished).dropFirst().map { "\($0) = excluded.\($0)" })

  static func list(_ columns: [String]) -> String { columns.joined(separator: ", ") }

  private static func insertion(into table: String, _ columns: [String]) -> String {
    let parameters = columns.indices.map { "$\($0 + 1)" }
    return "INSERT INTO \(table) (\(list(columns))) SELECT * FROM unnest(\(list(parameters)))"
  }
}
#endif
