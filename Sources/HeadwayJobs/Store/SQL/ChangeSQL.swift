/// The statements about the records of changes by people, which all databases understand.
enum ChangeSQL {
  private static let columns = "number, time, author, record"

  /// Inserts a record: time, author, job or 0, token, record.
  static let insert = """
    INSERT INTO headway.change (time, author, job, token, record) VALUES ($1, $2, $3, $4, $5)
    """
  /// Changes a record: token, record; by the index `change_token`.
  static let update = "UPDATE headway.change SET record = $2 WHERE token = $1"
  /// The record of a change: token; by the index `change_token`.
  static let find = "SELECT \(columns) FROM headway.change WHERE token = $1"
  /// The latest records: number, limit; by the primary key.
  static let latest = "SELECT \(columns) FROM headway.change WHERE number < $1 ORDER BY number DESC LIMIT $2"
  /// The latest records of a job: job, number, limit; by the index `change_job`.
  static let latestOfJob = """
    SELECT \(columns) FROM headway.change WHERE job > 0 AND job = $1 AND number < $2 ORDER BY number DESC LIMIT $3
    """
  /// Deletes old records: time, limit; by the index `change_time`.
  static let prune = """
    DELETE FROM headway.change WHERE number IN
    (SELECT number FROM headway.change WHERE time <= $1 ORDER BY time LIMIT $2)
    """

  /// Reads a row with the columns of these statements.
  ///
  /// If a newer version has written the record, only its number, time and author are known.
  static func read(_ row: some StoredRow) -> JobsChangeRecord {
    var record =
      (try? StoredForm.decode(JobsChangeRecord.self, row.bytes(3)))
      ?? JobsChangeRecord(
        number: 0, time: row.time(1), author: row.text(2), action: JobsChangeRecord.Action(rawValue: "unknown"),
        subject: .store, count: 0, ids: [], values: [])
    record.number = row.int64(0)
    return record
  }
}
