#if Jobs
@_spi(JobStore) import HeadwayJobs

/// Statements about job rows: unfinished jobs are in `headway_job`, finished ones in `headway_done`.
enum JobSQL {
  /// The columns of `headway_job` that `JobRow.read(_:)` expects.
  static let unfinishedColumns = list(JobRow.common + JobRow.unfinished + JobRow.finished.map { _ in "NULL" })
  /// The columns of `headway_done` that `JobRow.read(_:)` expects.
  static let finishedColumns = list(
    JobRow.common + JobRow.unfinished.map { ["flags", "unmet"].contains($0) ? "0" : "NULL" } + JobRow.finished)

  /// The condition that an attempt runs a job, with the parameters of its fence; by the primary key.
  static let isRun = "id = ?1 AND attempt = ?2 AND epoch = ?3 AND owner = ?4 AND \(JobState.running.condition)"

  /// Returns the condition that unfinished jobs depend on a job, so that they might read its result; by the primary
  /// keys.
  ///
  /// - Parameter id: The SQL expression for the ID of the job.
  /// - Returns: A condition in SQL.
  static func isNeeded(_ id: String) -> String {
    """
    EXISTS (SELECT 1 FROM headway_edge JOIN headway_job ON headway_job.id = dependent WHERE dependency = \(id))
    """
  }

  /// Jobs whose retention has expired and that are not needed, up to the limit of a transaction; by
  /// `headway_done_expires`.
  static let expiredJobs = """
    SELECT id FROM headway_done WHERE expires <= ?1 AND NOT \(isNeeded("headway_done.id"))
    ORDER BY expires LIMIT \(JobCommand.maxChangedCount)
    """

  /// Inserts an unfinished job.
  static let insert = insertion("INSERT OR FAIL", into: "headway_job", JobRow.common + JobRow.unfinished)
  /// Inserts ``batchSize`` unfinished jobs, because SQLite opens all indexes for each statement.
  static let insertBatch = insertion(
    "INSERT OR FAIL", into: "headway_job", JobRow.common + JobRow.unfinished, rowCount: batchSize)
  /// The number of jobs that ``insertBatch`` inserts.
  ///
  /// With four times as many, it is not faster.
  static let batchSize = 32

  /// Replaces all columns of an unfinished job; by the primary key.
  static let update =
    "UPDATE headway_job SET "
    + list(
      zip(JobRow.common + JobRow.unfinished, 1...).dropFirst().map { column, index in
        column == "flags" ? "flags = (flags & \(JobRow.hasCheckpoints)) | ?\(index)" : "\(column) = ?\(index)"
      }) + " WHERE id = ?1"

  /// Inserts a finished job, or replaces the row with the same number.
  static let putFinished = insertion(
    "INSERT OR REPLACE", into: "headway_done", JobRow.common + JobRow.finished)

  /// Copies an unfinished job that has succeeded to `headway_done`; by the primary key.
  ///
  /// The parameters are the ID of the job, the time and the result.
  static let copySucceeded = """
    INSERT INTO headway_done (\(list(JobRow.common + JobRow.finished))) SELECT \
    \(list(JobRow.succeeded)), ?2, ?2 + keep, NULL, NULL, ?3, NULL \
    FROM headway_job WHERE id = ?1
    """

  static func list(_ columns: [String]) -> String { columns.joined(separator: ", ") }

  static func insertion(
    _ verb: String, into table: String, _ columns: [String], rowCount: Int = 1
  ) -> String {
    let row = "(\(list(columns.map { _ in "?" })))"
    return "\(verb) INTO \(table) (\(list(columns))) VALUES \(list(Array(repeating: row, count: rowCount)))"
  }
}
#endif
