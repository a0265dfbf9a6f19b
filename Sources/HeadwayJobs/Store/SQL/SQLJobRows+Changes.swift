@_spi(JobStore) extension SQLJobRows {
  /// Returns the record of a change that an earlier transaction has written; nil if there is none.
  public func findChange(token: Int64) throws -> JobsChangeRecord? {
    try reader.rows(StoreStatement(ChangeSQL.find, .integer(token))) { ChangeSQL.read($0) }.first
  }

  /// Writes the record of a change.
  ///
  /// If its number is 0, the database assigns the next number.
  public func write(_ change: JobsChangeRecord, token: Int64) throws {
    let stored = StoredValue.bytes(StoredForm.encode(change))
    let statement =
      change.number == 0
      ? StoreStatement(
        ChangeSQL.insert, .time(change.time), .text(change.author), .integer(change.job?.rawValue ?? 0),
        .integer(token), stored)
      : StoreStatement(ChangeSQL.update, .integer(token), stored)
    try reader.forEachRow(statement) { _ in }
  }

  /// Deletes records of changes past their retention period, up to a limit.
  func pruneChanges() throws {
    let time = now + (.zero - JobsChangeRecord.retention)
    try reader.forEachRow(StoreStatement(ChangeSQL.prune, .time(time), .number(JobCommand.maxChangedCount))) { _ in }
  }
}

extension StoreReader {
  /// Returns the records of changes, newest first.
  func changes(of job: JobID?, before number: Int64?, limit: Int) throws -> [JobsChangeRecord] {
    let end = StoredValue.integer(number ?? .max)
    let statement =
      job.map { StoreStatement(ChangeSQL.latestOfJob, .id($0), end, .number(limit)) }
      ?? StoreStatement(ChangeSQL.latest, end, .number(limit))
    return try rows(statement) { ChangeSQL.read($0) }
  }
}
