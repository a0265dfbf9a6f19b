#if Jobs
public import GRDB
import GRDBSQLite
import Headway
@_spi(JobStore) public import HeadwayJobs

extension Jobs {
  /// Stores a job in a transaction of the application; the job exists if the transaction is committed.
  ///
  /// ```swift
  /// import HeadwayJobs
  ///
  /// try await pool.write { database in
  ///   try database.execute(sql: "INSERT INTO photo (path) VALUES (?)", arguments: [path])
  ///   try jobs.enqueue(Resize(path: path), in: database)
  /// }
  /// ```
  ///
  /// The job is as durable as the transaction. With GRDB's default settings, a commit survives the end of the process,
  /// but the last commits can be missing after a loss of power.
  ///
  /// - Precondition: The store is an ``SQLiteJobStore`` with the database of the connection.
  /// - Parameters:
  ///   - job: The job to store.
  ///   - options: Options of the job. They take precedence over the options of the type.
  ///   - database: A connection that can write. If it is not in a transaction, the job is stored in its own
  ///     transaction.
  /// - Returns: A handle to the new job, or to the one that holds the key.
  /// - Throws: `JobError`, for example with the code `payloadTooLarge`, or `queueFull`, because the call never waits
  ///   for room; or GRDB's `DatabaseError`. The job was not stored.
  @discardableResult
  public func enqueue<Type: Job>(
    _ job: Type, _ options: JobOption..., in database: Database
  ) throws -> JobHandle<Type.Output> {
    handle(try add([try encode(job, options: JobOptions(options))], in: database)[0])
  }

  /// Stores the jobs of a batch in a transaction of the application; they exist if the transaction is committed.
  ///
  /// - Precondition: The store is an ``SQLiteJobStore`` with the database of the connection.
  /// - Parameters:
  ///   - batch: The jobs, with the dependencies between them.
  ///   - database: A connection that can write. If it is not in a transaction, the jobs are stored in their own
  ///     transaction.
  /// - Returns: The handles of the jobs.
  /// - Throws: `JobError`, for example with the code `dependencyCycle`, or GRDB's `DatabaseError`. No job was stored.
  @discardableResult
  public func enqueue(_ batch: JobBatch, in database: Database) throws -> JobBatch.Handles {
    handles(of: batch, try add(batch.encoded(for: self), in: database))
  }

  /// Sends a signal to a job in a transaction of the application.
  ///
  /// The signal is sent if the transaction is committed.
  ///
  /// ```swift
  /// import HeadwayJobs
  ///
  /// let handle = try await jobs.enqueue(Resize(path: path))
  /// try await pool.write { database in
  ///   try database.execute(sql: "INSERT INTO photo (path) VALUES (?)", arguments: [path])
  ///   try jobs.signal(handle.id, "uploaded", path, in: database)
  /// }
  /// ```
  ///
  /// - Precondition: The store is an ``SQLiteJobStore`` with the database of the connection.
  /// - Parameters:
  ///   - id: The ID of the job.
  ///   - name: The name of the signal.
  ///   - value: The value; `true` by default.
  ///   - database: A connection that can write. If it is not in a transaction, the signal is sent in its own
  ///     transaction.
  /// - Returns: False if the job has ended or does not exist.
  /// - Throws: `JobError`, for example with the code `tooManySignals`, or GRDB's `DatabaseError`. Nothing was sent.
  @discardableResult
  public func signal(
    _ id: JobID, _ name: String, _ value: some Encodable = true, in database: Database
  ) throws -> Bool {
    let signal = try JobSignal(name, value)
    try check(signal)
    let command = JobCommand.signal(.id(id), signal)
    let origin = try origin(filter: command.filter)
    return try change(in: database, { try $0.perform(command, by: origin) }) { [self] count in
      notePerformed(command, count: count)
    } > 0
  }

  private func add(_ new: [NewJob], in database: Database) throws -> [Enqueued] {
    try change(in: database, { try $0.enqueue(new) }) { [self] enqueued in
      for (enqueued, new) in zip(enqueued, new) { noteEnqueued(enqueued, new) }
    }
  }

  /// Changes jobs in a transaction of the application and calls a function after its commit.
  private func change<Answer: Sendable>(
    in database: Database, _ body: (JobTransaction) throws -> Answer,
    _ completion: @escaping @Sendable (Answer) -> Void
  ) throws -> Answer {
    let store = sqliteStore
    require(
      database.isMainDatabase(at: store.file),
      "The connection's database is not the job store's database, \(store.file). Open the store with the pool of this "
        + "connection, SQLiteJobStore(pool), or use the function outside of the transaction.")
    try database.checkFile()
    var answer: Answer?
    try database.inSavepoint {
      let transaction = JobTransaction(database, at: store.now)
      let given = try body(transaction)
      try transaction.settle()
      answer = given
      try transaction.storeCounters()
      let hints = transaction.hints
      database.afterNextTransaction { _ in
        store.send(hints)
        completion(given)
      }
      return .commit
    }
    guard let answer else { misuse("GRDB has not called the function.") }
    return answer
  }

  fileprivate var sqliteStore: SQLiteJobStore {
    guard let store = backend as? SQLiteJobStore else {
      misuse(
        "The jobs are in a \(type(of: store)), which can't take part in a transaction of SQLite. Use an SQLiteJobStore."
      )
    }
    return store
  }
}

extension JobContext {
  /// Runs a step that writes to the database of the store, exactly once across all attempts, and returns its value.
  ///
  /// Either both the writes of the step and its value are committed, or neither. In later attempts, this function
  /// returns the stored value and doesn't call `body`.
  ///
  /// ```swift
  /// import HeadwayJobs
  ///
  /// let size = try await context.checkpoint("record") { database in
  ///   try database.execute(sql: "INSERT INTO photo (path) VALUES (?)", arguments: [path])
  ///   return path.utf8.count
  /// }
  /// ```
  ///
  /// The function `body` runs under the same conditions as the function that you pass to ``finish(within:_:)``.
  ///
  /// - Precondition: The store is an ``SQLiteJobStore``.
  /// - Parameters:
  ///   - name: The name of the step. Each attempt can use a name only once.
  ///   - limit: The time limit of `body`.
  ///   - body: The code of the step, which runs only if no attempt has stored its value. It is called on a thread of
  ///     the store. It can use savepoints but must not begin or end transactions.
  /// - Returns: The value of the step, from this attempt or an earlier one.
  /// - Throws: The error of `body`; `JobError`, with the code `leaseLost` if the attempt no longer runs the job,
  ///   `duplicateCheckpoint`, `payloadTooLarge`, `timeLimitExceeded`, or `transactionEnded`; `JobSuspension` if the
  ///   attempt ends with a wait. Nothing was written.
  @discardableResult
  public func checkpoint<Value: Codable & Sendable>(
    _ name: String, within limit: Duration = .seconds(5), _ body: @escaping @Sendable (Database) throws -> Value
  ) async throws -> Value {
    let store = jobs.sqliteStore
    if let stored = try await storedCheckpoint(name, as: Value.self) { return stored }
    return try await store.change(runsUserCode: true) { [fence, leaseLost] transaction in
      guard try transaction.isRun(by: fence) else { throw leaseLost }
      let value = try transaction.run(within: limit, body)
      guard transaction.database.isInsideTransaction else { throw JobError.transactionEnded }
      try transaction.putCheckpoints([(fence.id, name, self.encodedCheckpoint(name, value))])
      return value
    }
  }

  /// Runs a step that writes to the database of the store and returns nothing, exactly once across all attempts.
  ///
  /// Either both the writes of the step and its end are committed, or neither. In later attempts, this function doesn't
  /// call `body`.
  ///
  /// ```swift
  /// import HeadwayJobs
  ///
  /// try await context.checkpoint("record") { database in
  ///   try database.execute(sql: "INSERT INTO photo (path) VALUES (?)", arguments: [path])
  /// }
  /// ```
  ///
  /// The function `body` runs under the same conditions as the function that you pass to ``finish(within:_:)``.
  ///
  /// - Precondition: The store is an ``SQLiteJobStore``.
  /// - Parameters:
  ///   - name: The name of the step. Each attempt can use a name only once.
  ///   - limit: The time limit of `body`.
  ///   - body: The code of the step, which runs only if no attempt has completed the step. It is called on a thread of
  ///     the store. It can use savepoints but must not begin or end transactions.
  /// - Throws: The error of `body`; `JobError`, with the code `leaseLost` if the attempt no longer runs the job,
  ///   `duplicateCheckpoint`, `timeLimitExceeded`, or `transactionEnded`; `JobSuspension` if the attempt ends with a
  ///   wait. Nothing was written.
  public func checkpoint(
    _ name: String, within limit: Duration = .seconds(5), _ body: @escaping @Sendable (Database) throws -> Void
  ) async throws {
    _ = try await checkpoint(name, within: limit) { database throws -> CompletedStep in
      try body(database)
      return CompletedStep()
    }
  }

  /// Commits writes of the application together with the success of the job, or neither.
  ///
  /// Therefore, the writes happen exactly once, no matter when the process crashes.
  ///
  /// ```swift
  /// import HeadwayJobs
  ///
  /// func perform(in context: JobContext) async throws -> Int {
  ///   let size = try await fetch(path).utf8.count
  ///   return try await context.finish { database in
  ///     try database.execute(sql: "UPDATE photo SET size = ? WHERE path = ?", arguments: [size, path])
  ///     return size
  ///   }
  /// }
  /// ```
  ///
  /// When the function returns, the job has succeeded, no matter what its code does afterward, so return immediately.
  /// Other requests to the store wait while `body` runs, so it must be short. After the time limit, its statements are
  /// interrupted.
  ///
  /// When `body` has returned, the store restores the settings (`PRAGMA`) of the connection, and removes temporary
  /// tables and attached databases that `body` has added, so that they don't affect other code.
  ///
  /// If code of another job in the same transaction exceeds its time limit or ends the transaction, the writes are
  /// undone, and `body` is called again.
  ///
  /// - Precondition: The store is an ``SQLiteJobStore``.
  /// - Parameters:
  ///   - limit: The time limit of `body`.
  ///   - body: The function that writes. It is called on a thread of the store. It can use savepoints but must not
  ///     begin or end transactions.
  /// - Returns: The value that `body` has returned. If it is encodable, it is stored as the result of the job.
  /// - Throws: The error of `body`; `JobError`, with the code `leaseLost` if the attempt no longer runs the job,
  ///   `timeLimitExceeded`, or `transactionEnded`. Nothing was written, and the job has not ended. The code is
  ///   `alreadyFinished` if an earlier call has finished the job, or has not returned yet. `JobSuspension` if the
  ///   attempt ends with a wait.
  @discardableResult
  public func finish<Value: Sendable>(
    within limit: Duration = .seconds(5), _ body: @escaping @Sendable (Database) throws -> Value
  ) async throws -> Value {
    let store = jobs.sqliteStore
    return try await finishOnce {
      try await store.change(runsUserCode: true) { [fence, leaseLost] transaction in
        guard try transaction.isRun(by: fence) else { throw leaseLost }
        let value = try transaction.run(within: limit, body)
        guard transaction.database.isInsideTransaction else { throw JobError.transactionEnded }
        let result = try self.encodedResult(value)
        guard try transaction.end([JobEnding(fence, .succeed(result: result))]) == [.recorded] else { throw leaseLost }
        return value
      }
    }
  }
}

extension Database {
  /// Returns whether the file of the connection's main database is at a path.
  fileprivate func isMainDatabase(at path: String) -> Bool {
    sqliteConnection.flatMap { sqlite3_db_filename($0, "main") }.map { String(cString: $0) } == path
  }
}
#endif
