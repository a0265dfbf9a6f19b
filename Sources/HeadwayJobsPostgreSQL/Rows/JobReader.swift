#if PostgreSQL
@_spi(JobStore) import HeadwayJobs

/// The state of a store at one moment.
struct JobReader: StoreReader {
  typealias Overview = OverviewSQL
  typealias Search = JobSQL

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
    return try run(Statement(ClaimSQL.queueNames, isFrequent: true, name ?? "", limit)).rows.map { $0.text(0) }
  }
}

extension Statement {
  /// Creates the statement of a reader.
  init(_ statement: StoreStatement) {
    self.init(statement.sql, isFrequent: statement.isFrequent)
    for value in statement.values {
      switch value {
      case .integer(let value): add(value)
      case .text(let value): add(value)
      case .bytes(let value): add(value)
      case .time(let value): add(value)
      case .integers(let values): add(array: values)
      case .texts(let values): add(array: values)
      }
    }
  }
}

extension JobTransaction {
  /// Reads the state of the transaction.
  var reader: JobReader { JobReader(session: session, schema: schema, now: now) }
}
#endif
