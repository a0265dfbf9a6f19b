#if Jobs
import GRDB
import GRDBSQLite
@_spi(JobStore) import HeadwayJobs

/// Prevents code of the application from ending a transaction of the store.
///
/// A commit in the code would commit other requests, but not the end of the job. Therefore, this observer turns it into
/// a rollback.
final class TransactionGuard: TransactionObserver {
  /// The checkpoints of the connection, because the code can replace their hook.
  var checkpoint: Checkpoint?
  private var isActive = false
  private var hasEnded = false

  /// Runs code of the application.
  ///
  /// - Throws: The error of the code. If the transaction has ended, its writes were undone, and the error is SQLite's
  ///   error, or a `JobError` with the code `timeLimitExceeded` or `transactionEnded`.
  func run<Result>(in database: Database, _ code: () throws -> Result) throws -> Result {
    (isActive, hasEnded) = (true, false)
    let result = Swift.Result { try code() }
    isActive = false
    checkpoint?.installHook()
    guard hasEnded || !database.isInsideTransaction else { return try result.get() }
    // The code might have begun another transaction.
    if database.isInsideTransaction { try? database.rollback() }
    if case .failure(let error) = result, error.endsTransaction || (error as? JobError)?.code == .timeLimitExceeded {
      throw error
    }
    throw JobError.transactionEnded
  }

  func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }

  func databaseDidChange(with event: DatabaseEvent) {}

  func databaseWillCommit() throws { if isActive { throw JobError.transactionEnded } }

  func databaseDidCommit(_ database: Database) {}

  func databaseDidRollback(_ database: Database) { hasEnded = true }
}

extension JobError {
  static var transactionEnded: JobError {
    JobError(
      .transactionEnded,
      "The code that was passed to finish(_:) or checkpoint(_:_:) has executed COMMIT or ROLLBACK, so all its writes "
        + "were undone, and the job has not ended. "
        + "To commit, return from the code; to undo its writes, throw an error.")
  }
}

extension JobTransaction {
  /// Runs application code and restores the state of the connection.
  ///
  /// - Throws: The error of the code; `JobError` with the code `timeLimitExceeded`.
  func run<Result>(within limit: Duration, _ code: (Database) throws -> Result) throws -> Result {
    let state = try session ?? SessionState(database)
    session = state
    defer { if !state.restore(database) { leftovers = state } }
    let result = try database.run(within: limit, code)
    // Before the settings are restored, because SQLite then forgets violations that `defer_foreign_keys` has deferred.
    try database.checkDeferredForeignKeys()
    return result
  }
}

extension Database {
  /// Runs code of the application and interrupts its statements after a time limit.
  ///
  /// - Throws: The error of the code; `JobError` with the code `timeLimitExceeded`.
  fileprivate func run<Result>(within limit: Duration, _ code: (Database) throws -> Result) throws -> Result {
    let end = TimeLimit(ContinuousClock.now + limit)
    sqlite3_progress_handler(
      sqliteConnection, TimeLimit.instructionCount,
      { context in context.map { Unmanaged<TimeLimit>.fromOpaque($0).takeUnretainedValue().isOver } == true ? 1 : 0 },
      Unmanaged.passUnretained(end).toOpaque())
    defer { sqlite3_progress_handler(sqliteConnection, 0, nil, nil) }
    let result = Swift.Result { try code(self) }
    guard end.isOver else { return try result.get() }
    if case .failure(let error) = result, (error as? DatabaseError)?.resultCode != .SQLITE_INTERRUPT { throw error }
    throw JobError(
      .timeLimitExceeded,
      "The code that was passed to finish(_:) or checkpoint(_:_:) took longer than \(limit), while all other requests "
        + "to the store waited. Its writes were undone, and the job has not ended. Do slow work before the call, or "
        + "set another limit.")
  }
}

/// The time when code of the application must have returned.
private final class TimeLimit {
  private let end: ContinuousClock.Instant
  /// SQLite checks the time after this number of its virtual machine's instructions.
  static let instructionCount: Int32 = 1_000

  init(_ end: ContinuousClock.Instant) { self.end = end }

  var isOver: Bool { ContinuousClock.now >= end }
}
#endif
