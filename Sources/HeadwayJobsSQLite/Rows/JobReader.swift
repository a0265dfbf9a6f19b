#if Jobs
import FoundationEssentials
import GRDB
@_spi(JobStore) import HeadwayJobs

/// The state of a store at one moment.
struct JobReader: StoreReader {
  typealias Overview = OverviewSQL
  typealias Search = JobSQL

  let database: Database
  let now: StoreTime
  /// The locks that show which workers are alive.
  private let locks: WorkerLocks?

  init(_ database: Database, at now: StoreTime, locks: WorkerLocks? = nil) {
    (self.database, self.now, self.locks) = (database, now, locks)
  }

  func forEachRow(_ statement: StoreStatement, _ body: (SQLStatement) throws -> Void) throws {
    let rows = try SQLStatement(Self.translated(statement.sql), database)
    for (value, index) in zip(statement.values, Int32(1)...) { try Self.bind(value, to: rows, at: index) }
    try rows.forEachRow(body)
  }

  /// Returns a text with the names of SQLite's tables and parameters: `headway_job` and `?1` for `headway.job` and
  /// `$1`.
  private static func translated(_ sql: String) -> String {
    let name = "headway".utf8
    var bytes = Array(sql.utf8)
    for index in bytes.indices {
      switch bytes[index] {
      case UInt8(ascii: "$"): bytes[index] = UInt8(ascii: "?")
      case UInt8(ascii: ".") where bytes[..<index].suffix(name.count).elementsEqual(name):
        bytes[index] = UInt8(ascii: "_")
      default: break
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func bind(_ value: StoredValue, to statement: SQLStatement, at index: Int32) throws {
    switch value {
    case .integer(let value): statement.bind(value, at: index)
    case .text(let value): statement.bind(value, at: index)
    case .bytes(let value): statement.bind(value, at: index)
    case .time(let value): statement.bind(value.microseconds, at: index)
    case .integers(let values): try statement.bind(json(values), at: index)
    case .texts(let values): try statement.bind(json(values), at: index)
    }
  }

  private static func json(_ values: some Encodable) throws -> String {
    String(decoding: try JSONEncoder().encode(values), as: UTF8.self)
  }

  /// Decodes the definitions of due schedules, up to the limit of a transaction.
  ///
  /// Decoding takes longer than all other steps of a tick, so it happens before the transaction.
  func dueDefinitions() throws -> ScheduleRow.KnownDefinitions {
    let due = StoreStatement(ScheduleSQL.dueDefinitions, .time(now), .integer(Int64(JobCommand.maxChangedCount)))
    let known = Set(try rows(due) { $0.bytes(0) }).compactMap { stored in
      (try? ScheduleDefinition(stored: stored)).map { (stored, $0) }
    }
    return Dictionary(uniqueKeysWithValues: known)
  }

  func isAlive(_ row: SQLStatement) -> Bool { locks?.isAlive(row.worker(0)) ?? false }

  func waitingQueues(after name: String?, limit: Int) throws -> [String] {
    try WaitingQueues.names(after: name, limit: limit, database)
  }
}

extension JobTransaction {
  /// Reads the state of the transaction.
  var reader: JobReader { JobReader(database, at: now) }
}
#endif
