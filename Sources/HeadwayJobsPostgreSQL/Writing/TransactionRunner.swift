#if PostgreSQL
@_spi(JobStore) import HeadwayJobs

/// Runs transactions of a store on the thread of a connection.
struct TransactionRunner: Sendable {
  let schema: SchemaName
  let clock: StoreClock
  let marks = ClaimMarks()

  /// How often a transaction is repeated after a conflict with others.
  private static let maxConflictCount = 20

  /// Runs a transaction and repeats it after a conflict.
  ///
  /// - Parameters:
  ///   - session: The connection that executes the transaction.
  ///   - hold: How the transaction holds the lock of the store. If sharing it is not enough, it is repeated with the
  ///     exclusive lock.
  ///   - body: Makes the changes. It can be called several times.
  /// - Throws: The error of the body; `UnknownCommit`. If the connection was lost before the commit, the error is a
  ///   `PostgresError`.
  /// - Returns: The answer, and the hints for observers.
  func run<Answer>(
    _ session: PostgresSession, hold: JobTransaction.Hold = .none, _ body: (JobTransaction) throws -> Answer
  ) throws -> (answer: Answer, hints: JobHints) {
    var (hold, conflicts) = (hold, 0)
    while true {
      do {
        return try runOnce(session, hold, body)
      } catch is JobTransaction.MustBeAlone {
        hold = .alone
      } catch let error as PostgresError where error.isConflict && conflicts < Self.maxConflictCount {
        conflicts += 1
      } catch let error as JobTransaction.Conflict {
        conflicts += 1
        if conflicts == Self.maxConflictCount { throw error }
      }
    }
  }

  private func runOnce<Answer>(
    _ session: PostgresSession, _ hold: JobTransaction.Hold, _ body: (JobTransaction) throws -> Answer
  ) throws -> (answer: Answer, hints: JobHints) {
    do {
      let transaction = try begin(session, hold)
      let answer = try body(transaction)
      try transaction.settle()
      try transaction.storeActivity()
      try transaction.writeErrors()
      try commit(session)
      marks.moveBack(to: transaction.waitingAgain)
      return (answer, transaction.hints)
    } catch {
      Self.rollBack(session)
      throw error
    }
  }

  private func begin(_ session: PostgresSession, _ hold: JobTransaction.Hold) throws -> JobTransaction {
    let head = [PostgresSession.begin] + session.transactionSettings
    for statement in head { session.runLater(statement) }
    switch hold {
    case .none: break
    case .shared: session.runLater(lock(LockSQL.share))
    case .alone: session.runLater(lock(LockSQL.lock))
    }
    // The time and the queues are read after the lock was acquired.
    let results = try session.run([
      Statement(WorkerSQL.now, isFrequent: true), Statement(schema.sql(LimitSQL.queues), isFrequent: true),
    ])
    let transaction = JobTransaction(session, schema, hold: hold, at: note(results[0]))
    transaction.knownQueues = QueueRow.byName(results[1].rows.map { QueueRow.read($0) })
    return transaction
  }

  /// Begins a transaction of the application.
  ///
  /// - Parameters:
  ///   - session: The connection that executes the transaction.
  ///   - limit: The time limit of the transaction, which can wait that long for the code of the application.
  /// - Throws: `NotBegun` if the connection was lost.
  func begin(_ session: PostgresSession, within limit: Duration) throws {
    let head = [PostgresSession.begin] + session.transactionSettings
    let idle = Statement(SessionSQL.limitIdleTime, "\(limit.milliseconds + 1)")
    do {
      _ = try session.run(head + [idle])
    } catch let error as PostgresError where error.isConnectionLost {
      throw NotBegun(underlyingError: error)
    }
  }

  private func lock(_ sql: String) -> Statement {
    Statement(sql, isFrequent: true, schema.lockClass, StoreLock.store.rawValue)
  }

  /// Changes jobs in an application's transaction.
  ///
  /// - Parameters:
  ///   - session: The connection that executes the transaction.
  ///   - isRepeatable: Whether the changes are repeated after a conflict, which requires a savepoint.
  ///   - body: Makes the changes. It can be called several times.
  /// - Throws: The error of the body.
  /// - Returns: The answer, and the hints for observers.
  func join<Answer>(
    _ session: PostgresSession, isRepeatable: Bool = false, _ body: (JobTransaction) throws -> Answer
  ) throws -> (answer: Answer, hints: JobHints) {
    var (conflicts, hasDeadlocked) = (0, false)
    while true {
      if isRepeatable { session.runLater(Statement(SessionSQL.beginChanges)) }
      let time = try session.run(Statement(WorkerSQL.now, isFrequent: true))
      let transaction = JobTransaction(session, schema, hold: .none, at: note(time))
      do {
        let answer = try body(transaction)
        try transaction.settle()
        try transaction.storeActivity()
        try transaction.writeErrors()
        if isRepeatable { _ = try session.run(Statement(SessionSQL.endChanges)) }
        return (answer, transaction.hints)
      } catch
        where isRepeatable && conflicts < Self.maxConflictCount && !(hasDeadlocked && error.isDeadlock)
        && (error as? PostgresError)?.isConflict ?? (error is JobTransaction.Conflict)
      {
        conflicts += 1
        // If the transaction of the application has taken a lock before, only its end resolves the deadlock.
        hasDeadlocked = hasDeadlocked || error.isDeadlock
        session.forgetDeferred()
        _ = try session.run([Statement(SessionSQL.undoChanges), Statement(SessionSQL.endChanges)])
      }
    }
  }

  /// Returns the time of a transaction from the answer of the server.
  private func note(_ result: QueryResult) -> StoreTime {
    if let custom = clock.custom { return custom() }
    let time = result.first?.time(0) ?? clock.now
    clock.note(time)
    return time
  }

  /// Commits a transaction.
  ///
  /// - Parameters:
  ///   - session: The connection that executes the transaction.
  ///   - resets: Whether application code has executed statements whose effects on the session must end.
  /// - Throws: `UnknownCommit` if the connection was lost before the answer arrived; `PostgresError` if it was lost
  ///   before the commit.
  func commit(_ session: PostgresSession, resets: Bool = false) throws {
    if let loss = session.loss { throw loss }
    do {
      guard try resets ? session.end(by: SessionSQL.commit) == SessionSQL.commit : session.commit() else {
        throw JobError(
          .transactionEnded,
          "A statement of the transaction has failed, and its error was ignored. Nothing was written. To continue "
            + "after an error, use savepoints.")
      }
    } catch let error as PostgresError where error.isConnectionLost {
      throw UnknownCommit(underlyingError: error)
    }
  }

  static func rollBack(_ session: PostgresSession, resets: Bool = false) {
    session.forgetDeferred()
    // If this fails, too, the session has ended, and the server undoes the transaction.
    if resets {
      _ = try? session.end(by: SessionSQL.rollBack)
    } else {
      _ = try? session.run(Statement(SessionSQL.rollBack))
    }
  }

  // MARK: Reading

  /// Executes statements that read, in one round trip.
  func ask(_ session: PostgresSession, _ statements: [Statement]) throws -> [QueryResult] {
    let results = try session.run(session.transactionSettings + statements.map { $0.translated(for: schema) })
    return Array(results.suffix(statements.count))
  }

  /// Reads the state at one moment.
  func read<Answer>(_ session: PostgresSession, _ body: (JobReader) throws -> Answer) throws -> Answer {
    do {
      session.runLater(Statement(SessionSQL.beginReading))
      for statement in session.transactionSettings { session.runLater(statement) }
      let time = try session.run(Statement(WorkerSQL.now, isFrequent: true))
      let answer = try body(JobReader(session: session, schema: schema, now: note(time)))
      _ = try session.run(Statement(SessionSQL.commit))
      return answer
    } catch {
      Self.rollBack(session)
      throw error
    }
  }
}

extension Error {
  /// Whether a transaction has waited for another one that waits for it.
  fileprivate var isDeadlock: Bool { (self as? PostgresError)?.sqlState == "40P01" }
}
#endif
