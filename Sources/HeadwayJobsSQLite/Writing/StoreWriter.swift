#if Jobs
import GRDB
import GRDBSQLite
import Headway
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

/// The thread that writes to the database of a store.
///
/// It executes the requests in the inbox in one transaction. The next requests accumulate while the commit waits for
/// the disk. Therefore, the size of the transactions adapts to the load, and no request waits for a timer.
///
/// All stores of the database, in all processes, write one at a time, while they hold `writer.lock`.
final class StoreWriter: Sendable {
  private let pool: DatabasePool
  private let ownsPool: Bool
  private let inbox: WriterInbox
  private let lock: LockFile
  private let clock: @Sendable () -> StoreTime
  private let onCommit: @Sendable (JobHints) -> Void
  private let onEnd: @Sendable () -> Void

  /// A request without a savepoint has failed after it has written.
  private struct IncompleteRequest: Error {}

  /// The index of a request that has ended the transaction, and its error.
  private struct EndedTransaction: Error {
    let index: Int
    let error: any Error
  }

  init(
    _ pool: DatabasePool, ownsPool: Bool, inbox: WriterInbox, lock: LockFile,
    clock: @escaping @Sendable () -> StoreTime, onCommit: @escaping @Sendable (JobHints) -> Void,
    onEnd: @escaping @Sendable () -> Void
  ) {
    self.pool = pool
    self.ownsPool = ownsPool
    self.inbox = inbox
    self.lock = lock
    self.clock = clock
    self.onCommit = onCommit
    self.onEnd = onEnd
  }

  func start() throws {
    let code = startThread(named: "headway-jobs") { self.run() }
    guard code == 0 else {
      throw JobError(.unusableStore, "No thread can be started: \(String(cString: strerror(code))).")
    }
  }

  private func run() {
    let transactionGuard = TransactionGuard()
    let checkpoint = pool.writeWithoutTransaction { database -> Checkpoint? in
      guard let connection = database.sqliteConnection else { return nil }
      database.add(transactionObserver: transactionGuard)
      return Checkpoint(writer: connection)
    }
    transactionGuard.checkpoint = checkpoint
    while let batch = inbox.next() { commit(batch, transactionGuard, checkpoint) }
    pool.writeWithoutTransaction { database in
      guard database.sqliteConnection != nil else { return }
      database.remove(transactionObserver: transactionGuard)
      checkpoint?.stop()
    }
    if ownsPool {
      // The readers are closed first. The last connection that closes removes the write-ahead log, but a reader can't.
      pool.releaseMemory()
      try? pool.close()
    }
    onEnd()
  }

  private func commit(_ batch: [WriteRequest], _ transactionGuard: TransactionGuard, _ checkpoint: Checkpoint?) {
    do {
      // Acquire the lock before the connection, because transactions of the application wait for the connection.
      try lock.lock()
      defer { lock.unlock() }
      let (resumptions, hints) = try pool.writeWithoutTransaction { database in
        // The application might have closed its pool.
        guard database.sqliteConnection != nil else { throw DatabaseError(resultCode: .SQLITE_MISUSE) }
        try database.checkFile()
        checkpoint?.lockAcquired()
        let durability = try DurabilitySetting(isDurable: batch.contains(where: \.isDurable), database)
        defer { if !ownsPool { durability.restore(database) } }
        let answer = execute(batch, transactionGuard, database)
        _ = checkpoint?.afterCommit()
        return answer
      }
      // Notify observers before the callers, because a caller might immediately check the effects of the observers.
      onCommit(hints)
      for resume in resumptions { resume() }
    } catch {
      let error = JobError(error, "Nothing was changed.")
      for request in batch { request.fail(error) }
    }
  }

  /// Executes the requests in one transaction; a request that fails does not affect other requests.
  ///
  /// If code of the application ends the transaction, or fails with an error that ends it in SQLite, the other requests
  /// are executed again, in another transaction. If the code leaves state behind that only the end of the transaction
  /// can remove, the requests after it are executed in another transaction.
  ///
  /// A savepoint for each request would be expensive, because SQLite copies each page for each savepoint before it
  /// changes the page. Therefore, batches without code of the application have no savepoints. If a request fails after
  /// it has written, the batch is executed again, with savepoints.
  private func execute(
    _ batch: [WriteRequest], _ transactionGuard: TransactionGuard, _ database: Database
  ) -> (resumptions: [@Sendable () -> Void], hints: JobHints) {
    var (rest, resumptions, hints) = (batch, [@Sendable () -> Void](), JobHints())
    var usesSavepoints = batch.contains(where: \.runsUserCode)
    while !rest.isEmpty {
      do {
        let answer = try executeOnce(rest, usesSavepoints, transactionGuard, database)
        rest.removeFirst(answer.resumptions.count)
        resumptions += answer.resumptions
        hints.formUnion(answer.hints)
      } catch is IncompleteRequest {
        usesSavepoints = true
      } catch let end as EndedTransaction {
        let request = rest.remove(at: end.index)
        resumptions.append { request.fail(end.error) }
      } catch {
        let error = JobError(error, "Nothing was changed.")
        resumptions += rest.map { request in { request.fail(error) } }
        rest = []
      }
    }
    return (resumptions, hints)
  }

  /// Executes the requests, up to a request that leaves state behind, and commits.
  private func executeOnce(
    _ batch: [WriteRequest], _ usesSavepoints: Bool, _ transactionGuard: TransactionGuard, _ database: Database
  ) throws -> (resumptions: [@Sendable () -> Void], hints: JobHints) {
    try database.beginWriting()
    let transaction = JobTransaction(database, at: clock())
    defer { _ = transaction.leftovers?.restore(database) }
    do {
      var resumptions: [@Sendable () -> Void] = []
      for (index, request) in batch.enumerated() where transaction.leftovers == nil {
        do {
          resumptions.append(
            try usesSavepoints
              ? attemptInSavepoint(request, transactionGuard, transaction) : attempt(request, transaction))
        } catch {
          guard request.runsUserCode || !error.endsTransaction, !(error is IncompleteRequest) else { throw error }
          // The application's code might have thrown the error of another database, so try the other requests without
          // it.
          guard database.isInsideTransaction, !error.endsTransaction else {
            throw EndedTransaction(index: index, error: error)
          }
          let answer = request.runsUserCode ? error : JobError(error, "Nothing was changed.")
          resumptions.append { request.fail(answer) }
        }
      }
      try transaction.storeCounters()
      try database.commit()
      return (resumptions, transaction.hints)
    } catch {
      if database.isInsideTransaction { try? database.rollback() }
      throw error
    }
  }

  private func attempt(_ request: WriteRequest, _ transaction: JobTransaction) throws -> @Sendable () -> Void {
    let mark = transaction.mark
    let changeCount = transaction.database.totalChangesCount
    do {
      return try request.perform(transaction)
    } catch {
      guard error.endsTransaction || transaction.database.totalChangesCount == changeCount else {
        throw IncompleteRequest()
      }
      transaction.restore(mark)
      throw error
    }
  }

  private func attemptInSavepoint(
    _ request: WriteRequest, _ transactionGuard: TransactionGuard, _ transaction: JobTransaction
  ) throws -> @Sendable () -> Void {
    let database = transaction.database
    // The code of the application might also assign numbers, and its savepoint can be rolled back.
    if request.runsUserCode { try transaction.storeCounters() }
    let mark = transaction.mark
    do {
      guard request.runsUserCode else {
        try SQLStatement(SessionSQL.beginRequest, database).run()
        let resume = try request.perform(transaction)
        try SQLStatement(SessionSQL.endRequest, database).run()
        return resume
      }
      // The code uses GRDB, so GRDB must know about the savepoint.
      var resume: @Sendable () -> Void = {}
      try database.inSavepoint {
        resume = try transactionGuard.run(in: database) { try request.perform(transaction) }
        return .commit
      }
      return resume
    } catch {
      transaction.restore(mark)
      if !request.runsUserCode, database.isInsideTransaction {
        try SQLStatement(SessionSQL.undoRequest, database).run()
        try SQLStatement(SessionSQL.endRequest, database).run()
      }
      throw error
    }
  }
}

extension Database {
  /// The time that a transaction waits for connections of the application or of other programs.
  private static let busyTimeout = Duration.seconds(10)
  private static let busyPause: UInt32 = 1_000

  /// Begins a transaction that writes.
  ///
  /// It waits for other connections, regardless of the configuration.
  func beginWriting() throws { try Self.retryingWhileBusy { try beginTransaction(.immediate) } }

  /// Calls a function again while another connection prevents it.
  ///
  /// SQLite itself does not wait if that could be a deadlock, for example if several processes open a new database.
  static func retryingWhileBusy<Value>(_ body: () throws -> Value) throws -> Value {
    let start = ContinuousClock.now
    while true {
      do {
        return try body()
      } catch let error as DatabaseError
        where error.resultCode == .SQLITE_BUSY && ContinuousClock.now - start < Self.busyTimeout
      {
        usleep(Self.busyPause)
      }
    }
  }
}

extension Error {
  /// Whether the error ends the transaction in SQLite.
  var endsTransaction: Bool {
    guard let error = self as? DatabaseError else { return false }
    let codes: [ResultCode] = [.SQLITE_FULL, .SQLITE_IOERR, .SQLITE_NOMEM, .SQLITE_CORRUPT, .SQLITE_INTERRUPT]
    return codes.contains(error.resultCode)
  }
}

extension JobError {
  /// Creates the error for callers of a store from an error of SQLite.
  init(_ error: any Error, _ consequence: String) {
    if let error = error as? JobError {
      self = error
      return
    }
    switch (error as? DatabaseError)?.extendedResultCode {
    case let code? where code.primaryResultCode == .SQLITE_FULL:
      self.init(.storeFull, "The disk or the database is full. \(consequence)", underlyingError: error)
    // The same request always fails.
    case .SQLITE_TOOBIG?, .SQLITE_MISMATCH?, .SQLITE_CONSTRAINT_CHECK?, .SQLITE_CONSTRAINT_NOTNULL?:
      self.init(.refusedValue, "The database rejects a value: \(error). \(consequence)", underlyingError: error)
    default:
      self.init(.storeFailed, "The database failed: \(error). \(consequence)", underlyingError: error)
    }
  }
}
#endif
