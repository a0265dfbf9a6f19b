#if PostgreSQL
import CPostgreSQL
@_spi(JobStore) import HeadwayJobs

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// An open connection to a server.
///
/// Only one thread uses it. libpq is in pipeline mode and never blocks: the thread waits in `poll`, with a time limit.
final class PostgresSession {
  private let connection: OpaquePointer
  private let settings: ConnectionSettings
  /// The identifier of the server's process for this connection, and when that process started.
  private(set) var backend = Backend(process: 0, start: 0)
  /// Whether a pooler such as PgBouncer gives each transaction another connection to the server.
  ///
  /// If true, named statements, session settings, and notifications are not available.
  private(set) var isPooled = false
  /// Whether the server was a standby when the connection was opened.
  ///
  /// A standby can only be read. After a failover, a server name can still lead to the old primary server. Therefore, a
  /// connection that is used to write is lost, so that the name is resolved again.
  private(set) var isStandby = false
  /// The names of the prepared statements by their text.
  var prepared: [String: String] = [:]
  /// The names of prepared statements with outdated plans, which the server still has.
  var outdated: [String] = []
  /// Statements to send before the next one, whose results are not needed.
  var deferred: [Statement] = []
  /// The notifications that have arrived.
  private var notifications: [String] = []
  /// The number of requests that were sent.
  ///
  /// Each request is a round trip.
  private(set) var requestCount = 0
  /// The number of statements that were sent.
  private(set) var statementCount = 0
  /// The error that has ended the session.
  ///
  /// The next answers of the server could belong to earlier requests, so the session can't be used again.
  var loss: PostgresError?

  private var mayInsertJobs: Bool?

  struct Backend: Equatable, Sendable {
    var process: Int64
    var start: Int64
  }

  /// Opens a connection.
  ///
  /// - Parameters:
  ///   - settings: The servers, and the time limits.
  ///   - failures: The number of attempts in a row that have failed. Of several servers, each attempt begins at the
  ///     next one.
  /// - Throws: `PostgresError` without the password.
  init(_ settings: ConnectionSettings, after failures: Int = 0) throws {
    self.settings = settings
    connection = try Self.open(settings, after: failures)
    // The errors are thrown, so libpq must not print them.
    PQsetNoticeProcessor(connection, { _, _ in }, nil)
    // If one of these fails, the connection is closed by the deinitializer.
    guard PQsetnonblocking(connection, 1) == 0, PQenterPipelineMode(connection) == 1 else {
      throw PostgresError.lost("libpq can't enter its pipeline mode. Install version 14 or later.")
    }
    try configure()
  }

  deinit { PQfinish(connection) }

  private static func open(_ settings: ConnectionSettings, after failures: Int) throws -> OpaquePointer {
    let end = ContinuousClock.now + settings.limits.connection
    let parameters = settings.parameters(after: failures)
    var keywords = parameters.map { strdup($0.name) } + [nil]
    var values = parameters.map { strdup($0.value) } + [nil]
    defer { for text in keywords + values { free(text) } }
    let connection = keywords.withUnsafeMutableBufferPointer { keywords in
      values.withUnsafeMutableBufferPointer { values in
        keywords.withMemoryRebound(to: UnsafePointer<CChar>?.self) { keywords in
          values.withMemoryRebound(to: UnsafePointer<CChar>?.self) { values in
            PQconnectStartParams(keywords.baseAddress, values.baseAddress, 0)
          }
        }
      }
    }
    guard let connection else { throw PostgresError.lost("There is not enough memory for a connection.") }
    do {
      var state = PGRES_POLLING_WRITING
      while state != PGRES_POLLING_OK {
        guard PQstatus(connection) != CONNECTION_BAD, state != PGRES_POLLING_FAILED else {
          let message = PQerrorMessage(connection).map { String(cString: $0) } ?? ""
          throw PostgresError.lost(settings.redacted(message))
        }
        let events = state == PGRES_POLLING_READING ? POLLIN : POLLOUT
        guard try wait(PQsocket(connection), Int16(events), until: end) else {
          throw PostgresError.lost("The server has not answered within \(settings.limits.connection).")
        }
        state = PQconnectPoll(connection)
      }
      return connection
    } catch {
      PQfinish(connection)
      throw error
    }
  }

  /// Finds out whether there is a pooler and sets the time limits.
  private func configure() throws {
    let process = try run(Statement(SessionSQL.process))
    guard let row = process.first else { throw PostgresError.lost("The server does not describe its process.") }
    backend = Backend(process: row.int64(0), start: row.int64(1))
    isStandby = row.bool(2)
    // When the connection is opened, a pooler answers with its own number.
    isPooled = row.int64(0) != Int64(PQbackendPID(connection))
    if !isPooled { _ = try run(settingStatement(isLocal: false)) }
  }

  /// Sets the time limits and makes commits durable, whatever the defaults of the role are.
  func settingStatement(isLocal: Bool) -> Statement {
    var statement = Statement(SessionSQL.settings)
    statement.add("\(settings.limits.lock.milliseconds)")
    statement.add("\(settings.limits.statement.milliseconds)")
    statement.add(isLocal)
    statement.add("\(settings.limits.idleTransaction.milliseconds)")
    return statement
  }

  /// The statements at the beginning of each transaction.
  var transactionSettings: [Statement] { isPooled ? [settingStatement(isLocal: true)] : [] }

  /// The statements before a request that writes outside of a transaction block.
  ///
  /// The server resets these two variables at the beginning of each transaction, so they need no `LOCAL`, which would
  /// cause a warning outside of a transaction block. They must come before any query.
  var requestSettings: [Statement] {
    guard isPooled else { return [] }
    return [Statement(SessionSQL.readCommitted), Statement(SessionSQL.writing)] + transactionSettings
  }

  /// Begins a transaction that writes.
  static let begin = Statement(SessionSQL.begin)

  /// Ends the session of a standby, which does not show what the primary server has committed.
  func requirePrimary() throws {
    guard isStandby else { return }
    let error = PostgresError.lost("The server is a standby.")
    loss = error
    throw error
  }

  /// Returns whether the role can write to the tables.
  ///
  /// Otherwise, it can add jobs only through the function `enqueue`. The first call queries the server.
  func mayInsertJobs(_ schema: SchemaName) throws -> Bool {
    if let mayInsertJobs { return mayInsertJobs }
    let answer = try run(Statement(schema.sql(SessionSQL.mayInsertJobs))).first?.bool(0) ?? false
    mayInsertJobs = answer
    return answer
  }

  // MARK: Executing

  /// Executes a statement.
  func run(_ statement: Statement) throws -> QueryResult { try run([statement])[0] }

  /// Sends a statement together with the next one.
  ///
  /// If the deferred statement fails, the next statement fails with its error.
  func runLater(_ statement: Statement) { deferred.append(statement) }

  func forgetDeferred() { deferred = [] }

  /// Sends the deferred statements if there are many, so that a transaction is not silent for a long time.
  func sendDeferredIfMany() throws { if deferred.count >= 200 { _ = try run([]) } }

  /// Executes statements in one round trip.
  ///
  /// Outside of a transaction block, they are one transaction.
  ///
  /// - Throws: `PostgresError`: the first error of a statement, or the error that has ended the session.
  /// - Returns: The result of each statement, in order.
  func run(_ statements: [Statement]) throws -> [QueryResult] {
    if let loss { throw loss }
    do {
      try deallocateOutdated()
      let all = deferred + statements
      deferred = []
      let answer = try exchange(all)
      if let failure = answer.failure { throw failure.error }
      return Array(answer.results.suffix(statements.count))
    } catch let error as PostgresError where error.isConnectionLost {
      loss = error
      throw error
    }
  }

  /// The answer of the server to statements.
  struct Answer {
    var results: [QueryResult] = []
    /// The first error, and the index of its statement.
    ///
    /// The server has skipped the statements after this one.
    var failure: (error: PostgresError, index: Int)?
  }

  /// Sends statements and waits for their results.
  func exchange(_ statements: [Statement]) throws -> Answer {
    let end = ContinuousClock.now + settings.limits.answer
    requestCount += 1
    statementCount += statements.count
    var commands: [Command] = []
    for statement in statements { commands += try send(statement) }
    guard PQpipelineSync(connection) == 1 else { throw lost() }
    try flush(until: end)
    var answer = Answer()
    for command in commands {
      guard let result = try nextResult(until: end) else { throw lost() }
      if let error = error(of: result), answer.failure == nil {
        answer.failure = (note(error, of: command), answer.results.count)
      }
      if !command.isPreparation {
        answer.results.append(result)
      } else if PQresultStatus(result.handle) != PGRES_COMMAND_OK {
        prepared[command.sql] = nil
      }
      while try nextResult(until: end) != nil {}
    }
    guard let sync = try nextResult(until: end), PQresultStatus(sync.handle) == PGRES_PIPELINE_SYNC else {
      throw answer.failure?.error ?? lost()
    }
    collectNotifications()
    return answer
  }

  /// Forgets a prepared statement that can't be executed again and returns the error with its consequences.
  private func note(_ error: PostgresError, of command: Command) -> PostgresError {
    var error = error
    switch error.sqlState {
    case "25006" where isStandby, "0A000" where isStandby && command.isForWriting: error.isConnectionLost = true
    // The tables were migrated. Otherwise, the error occurs again when the statement has been prepared again.
    case "0A000" where command.isPrepared:
      if let name = prepared.removeValue(forKey: command.sql) { outdated.append(name) }
      error.isPlanOutdated = true
    // The code of an application has deallocated all statements.
    case "26000" where command.isPrepared: prepared = [:]
    default: break
    }
    return error
  }

  /// Deallocates outdated statements, which is not possible in a transaction that has failed.
  private func deallocateOutdated() throws {
    guard !outdated.isEmpty, PQtransactionStatus(connection) == PQTRANS_IDLE else { return }
    let statements = outdated.map { Statement(SessionSQL.deallocate($0)) }
    outdated = []
    _ = try exchange(statements)
  }

  /// Commits a transaction.
  ///
  /// - Throws: `PostgresError`. If the connection was lost, it is not known whether the transaction was committed.
  /// - Returns: False if the transaction was rolled back instead, because a statement had failed before.
  func commit() throws -> Bool {
    let result = try run(Statement(SessionSQL.commit))
    return PQcmdStatus(result.handle).map { String(cString: $0) } == SessionSQL.commit
  }

  /// A command that was sent.
  private struct Command {
    let sql: String
    var isPreparation = false
    /// Whether the command executes a statement that was prepared earlier.
    var isPrepared = false

    /// Whether the command sets a mode of a transaction that a standby rejects.
    var isForWriting: Bool { sql == SessionSQL.begin || sql == SessionSQL.writing }
  }

  /// Sends a statement and prepares it first if it is frequent.
  private func send(_ statement: Statement) throws -> [Command] {
    let sql = statement.sql
    guard statement.isFrequent, !isPooled else {
      try sendOnce(statement, name: nil)
      return [Command(sql: sql)]
    }
    if let name = prepared[sql] {
      try sendOnce(statement, name: name)
      return [Command(sql: sql, isPrepared: true)]
    }
    number += 1
    let name = "headway_\(number)"
    let types = statement.parameters.types
    guard PQsendPrepare(connection, name, sql, Int32(types.count), types) == 1 else { throw lost() }
    prepared[sql] = name
    try sendOnce(statement, name: name)
    return [Command(sql: sql, isPreparation: true), Command(sql: sql)]
  }

  /// The number of the last prepared statement.
  private var number = 0

  private func sendOnce(_ statement: Statement, name: String?) throws {
    let parameters = statement.parameters
    let count = Int32(parameters.count)
    let lengths = parameters.ranges.map { Int32($0?.count ?? 0) }
    let isSent = parameters.bytes.withUnsafeBytes { bytes -> Int32 in
      let values = parameters.ranges.map { range -> UnsafePointer<CChar>? in
        guard let range, let base = bytes.baseAddress else { return nil }
        return (base + range.lowerBound).assumingMemoryBound(to: CChar.self)
      }
      let format: Int32 = statement.isText ? 0 : 1
      if let name {
        return PQsendQueryPrepared(connection, name, count, values, lengths, parameters.formats, format)
      }
      return PQsendQueryParams(
        connection, statement.sql, count, parameters.types, values, lengths, parameters.formats, format)
    }
    guard isSent == 1 else { throw lost() }
  }

  private func flush(until end: ContinuousClock.Instant) throws {
    while true {
      let rest = PQflush(connection)
      if rest == 0 { return }
      guard rest == 1 else { throw lost() }
      // The server might not read further before its answers are read.
      guard try Self.wait(PQsocket(connection), Int16(POLLIN | POLLOUT), until: end) else { throw silence() }
      guard PQconsumeInput(connection) == 1 else { throw lost() }
    }
  }

  private func nextResult(until end: ContinuousClock.Instant) throws -> QueryResult? {
    while PQisBusy(connection) == 1 {
      guard try Self.wait(PQsocket(connection), Int16(POLLIN), until: end) else { throw silence() }
      guard PQconsumeInput(connection) == 1 else { throw lost() }
    }
    return PQgetResult(connection).map(QueryResult.init)
  }

  private func error(of result: QueryResult) -> PostgresError? {
    switch PQresultStatus(result.handle) {
    case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY: return nil
    case PGRES_PIPELINE_ABORTED: return nil
    default:
      var error = PostgresError(result.handle, isConnectionLost: false)
      // The server closes the connection after errors of these classes.
      let isEnd = error.sqlState.map { $0.hasPrefix("57P") || $0.hasPrefix("08") || $0 == "25P03" } ?? true
      error.isConnectionLost = isEnd || PQstatus(connection) == CONNECTION_BAD
      return error
    }
  }

  private func lost() -> PostgresError {
    let message = PQerrorMessage(connection).map { String(cString: $0) } ?? ""
    return .lost(settings.redacted(message.isEmpty ? "The connection was lost." : message))
  }

  private func silence() -> PostgresError {
    .lost("The server has not answered within \(settings.limits.answer), so the connection was closed.")
  }

  /// Waits until the descriptor is ready.
  ///
  /// - Returns: False if the time limit has expired.
  private static func wait(_ descriptor: Int32, _ events: Int16, until end: ContinuousClock.Instant) throws -> Bool {
    guard descriptor >= 0 else { throw PostgresError.lost("The connection was lost.") }
    while true {
      let rest = (end - ContinuousClock.now).milliseconds
      var entry = pollfd(fd: descriptor, events: events, revents: 0)
      let count = poll(&entry, 1, Int32(rest) + 1)
      if count > 0 { return true }
      if count < 0, errno != EINTR { throw PostgresError.lost(systemMessage(errno)) }
      if ContinuousClock.now >= end { return false }
    }
  }

  // MARK: Idle connections

  /// The descriptor of the connection, for waiting until something has arrived.
  var descriptor: Int32 { PQsocket(connection) }

  /// Reads what has arrived while the connection was idle.
  ///
  /// - Throws: `PostgresError` if the connection was lost.
  func receive() throws {
    guard PQconsumeInput(connection) == 1, PQstatus(connection) != CONNECTION_BAD else { throw lost() }
    collectNotifications()
  }

  private func collectNotifications() {
    while let notification = PQnotifies(connection) {
      notifications.append(String(cString: notification.pointee.extra))
      PQfreemem(notification)
    }
  }

  /// Returns the strings of the notifications that have arrived since the last call.
  func takeNotifications() -> [String] {
    defer { notifications = [] }
    return notifications
  }
}
#endif
