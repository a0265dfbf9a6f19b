#if PostgreSQL
@_spi(JobStore) import HeadwayJobs

/// The state of a store at one moment.
struct JobReader: StoreReader {
  typealias Overview = OverviewSQL
  typealias Search = SearchSQL

  let session: PostgresSession
  let schema: SchemaName
  let now: StoreTime

  func run(_ statement: Statement) throws -> QueryResult { try session.run(statement.translated(for: schema)) }

  func forEachRow(_ statement: StoreStatement, _ body: (ResultRow) throws -> Void) throws {
    for row in try run(Statement(statement)).rows { try body(row) }
  }

  func preferIndexes() { session.runLater(Statement(OverviewSQL.preferIndexes)) }

  func isAlive(_ row: ResultRow) -> Bool { row.bool(4) }

  func waitingQueues(after name: String?, limit: Int) throws -> [String] {
    preferIndexes()
    return try run(Statement(WaitingQueues.names, isFrequent: true, name ?? "", limit)).rows.map { $0.text(0) }
  }
}

extension JobTransaction {
  /// Reads the state of the transaction, with the rows that were not sent yet.
  var reader: JobReader {
    writeNewRowsLater()
    return JobReader(session: session, schema: schema, now: now)
  }
}
#endif
