#if PostgreSQL
import Headway
@_spi(JobStore) public import HeadwayJobs

extension PostgresJobStore {
  /// Runs a transaction of the application, which can also add jobs.
  ///
  /// ```swift
  /// import HeadwayJobs
  ///
  /// try await store.transaction { transaction in
  ///   try transaction.execute("INSERT INTO photo (path) VALUES ($1)", path)
  ///   try jobs.enqueue(Resize(path: path), in: transaction)
  /// }
  /// ```
  ///
  /// If the function throws an error, nothing was written. Up to four transactions run at a time, each on its own
  /// connection. While a transaction is open, the server can't remove old versions of rows, so it has a time limit.
  ///
  /// - Parameters:
  ///   - limit: The time limit of `body`.
  ///   - body: A function that makes the changes. It is called once, on a thread of the store, and can block.
  /// - Returns: The value that `body` has returned.
  /// - Throws: The error of `body`; `JobError` with the code `timeLimitExceeded` or `transactionEnded`. The code is
  ///   `outcomeUnknown` if the connection was lost during the commit.
  public func transaction<Value: Sendable>(
    within limit: Duration = .seconds(5), _ body: @escaping @Sendable (PostgresTransaction) throws -> Value
  ) async throws -> Value {
    try await runTransaction(within: limit, body)
  }

  func runTransaction<Value: Sendable>(
    within limit: Duration, _ body: @escaping @Sendable (PostgresTransaction) throws -> Value
  ) async throws -> Value {
    do {
      return try await connections.forApplication.run(isRepeatable: false) { [self] session in
        let transaction = PostgresTransaction(session, self, within: limit)
        do {
          try runner.begin(session, within: limit)
          let value = try body(transaction)
          try transaction.checkTime()
          try runner.commit(session, resets: transaction.hasExecuted)
          send(transaction.hints)
          transaction.complete()
          return value
        } catch {
          TransactionRunner.rollBack(session, resets: transaction.hasExecuted)
          throw error
        }
      }
    } catch let error as UnknownCommit {
      throw JobError(error, "")
    } catch let error as NotBegun {
      throw JobError(error, "Nothing was written.")
    } catch let error as PostgresError where error.isConnectionLost {
      throw JobError(error, "Nothing was written.")
    }
  }
}

extension Jobs {
  /// Stores a job in a transaction of the application; the job exists if the transaction is committed.
  ///
  /// - Precondition: The store is the ``PostgresJobStore`` of the transaction.
  /// - Parameters:
  ///   - job: The job to store.
  ///   - options: Options of the job. They take precedence over the options of the type. A delay begins with this call.
  ///   - transaction: A transaction of the same store.
  /// - Returns: A handle to the new job, or to the one that holds the key.
  /// - Throws: `JobError`, for example with the code `payloadTooLarge`, or `queueFull`, because the call never waits
  ///   for room; or ``PostgresError``. The job was not stored.
  @discardableResult
  public func enqueue<Type: Job>(
    _ job: Type, _ options: JobOption..., in transaction: PostgresTransaction
  ) throws -> JobHandle<Type.Output> {
    handle(try add([try encode(job, options: JobOptions(options))], in: transaction)[0])
  }

  /// Stores the jobs of a batch in a transaction of the application; they exist if the transaction is committed.
  ///
  /// - Precondition: The store is the ``PostgresJobStore`` of the transaction.
  /// - Parameters:
  ///   - batch: The jobs, with the dependencies between them.
  ///   - transaction: A transaction of the same store.
  /// - Returns: The handles of the jobs.
  /// - Throws: `JobError`, for example with the code `dependencyCycle`, or ``PostgresError``. No job was stored.
  @discardableResult
  public func enqueue(_ batch: JobBatch, in transaction: PostgresTransaction) throws -> JobBatch.Handles {
    handles(of: batch, try add(batch.encoded(for: self), in: transaction))
  }

  /// Sends a signal to a job in a transaction of the application.
  ///
  /// The signal is sent if the transaction is committed.
  ///
  /// The row of the job is locked until the transaction ends.
  ///
  /// - Precondition: The store is the ``PostgresJobStore`` of the transaction.
  /// - Parameters:
  ///   - id: The ID of the job.
  ///   - name: The name of the signal.
  ///   - value: The value; `true` by default.
  ///   - transaction: A transaction of the same store.
  /// - Returns: False if the job has ended or does not exist.
  /// - Throws: `JobError`, for example with the code `tooManySignals`, or ``PostgresError``. Nothing was sent.
  @discardableResult
  public func signal(
    _ id: JobID, _ name: String, _ value: some Encodable = true, in transaction: PostgresTransaction
  ) throws -> Bool {
    let signal = try JobSignal(name, value)
    try check(signal)
    requireStore(of: transaction)
    let command = JobCommand.signal(.id(id), signal)
    let origin = try origin(filter: command.filter)
    return try transaction.change({ try $0.perform(command, by: origin) }) { [self] count in
      notePerformed(command, count: count)
    } > 0
  }

  private func add(_ new: [NewJob], in transaction: PostgresTransaction) throws -> [Enqueued] {
    requireStore(of: transaction)
    let hasKeys = new.contains { $0.settings.unique != nil }
    return try transaction.change(isRepeatable: hasKeys, { try $0.enqueue(new) }) { [self] enqueued in
      for (enqueued, new) in zip(enqueued, new) { noteEnqueued(enqueued, new) }
    }
  }

  private func requireStore(of transaction: PostgresTransaction) {
    require(
      store === transaction.store,
      "The transaction belongs to another store. Use the store of these jobs, or the function outside of it."
    )
  }

  var postgresStore: PostgresJobStore {
    guard let store = backend as? PostgresJobStore else {
      misuse(
        "The jobs are in a \(type(of: store)), which can't take part in a transaction of PostgreSQL. Use a "
          + "PostgresJobStore.")
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
  /// let size = try await context.checkpoint("record") { transaction in
  ///   try transaction.execute("INSERT INTO photo (path) VALUES ($1)", path)
  ///   return path.utf8.count
  /// }
  /// ```
  ///
  /// - Precondition: The store is a ``PostgresJobStore``.
  /// - Parameters:
  ///   - name: The name of the step. Each attempt can use a name only once.
  ///   - limit: The time limit of `body`.
  ///   - body: The code of the step, which runs only if no attempt has stored its value. It is called once, on a thread
  ///     of the store. It can use savepoints but must not begin or end transactions.
  /// - Returns: The value of the step, from this attempt or an earlier one.
  /// - Throws: The error of `body`; `JobError`, with the code `leaseLost` if the attempt no longer runs the job,
  ///   `duplicateCheckpoint`, `payloadTooLarge`, `timeLimitExceeded`, or `transactionEnded`; `JobSuspension` if the
  ///   attempt ends with a wait. Nothing was written. The code is `outcomeUnknown` if the connection was lost during
  ///   the commit. In this case, the next attempt determines whether the step has run.
  @discardableResult
  public func checkpoint<Value: Codable & Sendable>(
    _ name: String, within limit: Duration = .seconds(5),
    _ body: @escaping @Sendable (PostgresTransaction) throws -> Value
  ) async throws -> Value {
    let store = jobs.postgresStore
    if let stored = try await storedCheckpoint(name, as: Value.self) { return stored }
    return try await store.runTransaction(within: limit) { [fence, leaseLost] transaction in
      let value = try body(transaction)
      let payload = try self.encodedCheckpoint(name, value)
      let isRun = try transaction.change({ rows in
        guard try rows.isRun(by: fence) else { return false }
        try rows.putCheckpoints([(fence.id, name, payload)])
        return true
      }) { _ in }
      guard isRun else { throw leaseLost }
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
  /// try await context.checkpoint("record") { transaction in
  ///   try transaction.execute("INSERT INTO photo (path) VALUES ($1)", path)
  /// }
  /// ```
  ///
  /// - Precondition: The store is a ``PostgresJobStore``.
  /// - Parameters:
  ///   - name: The name of the step. Each attempt can use a name only once.
  ///   - limit: The time limit of `body`.
  ///   - body: The code of the step, which runs only if no attempt has completed the step. It is called once, on a
  ///     thread of the store. It can use savepoints but must not begin or end transactions.
  /// - Throws: The error of `body`; `JobError`, with the code `leaseLost` if the attempt no longer runs the job,
  ///   `duplicateCheckpoint`, `timeLimitExceeded`, or `transactionEnded`; `JobSuspension` if the attempt ends with a
  ///   wait. Nothing was written. The code is `outcomeUnknown` if the connection was lost during the commit. In this
  ///   case, the next attempt determines whether the step has run.
  public func checkpoint(
    _ name: String, within limit: Duration = .seconds(5),
    _ body: @escaping @Sendable (PostgresTransaction) throws -> Void
  ) async throws {
    _ = try await checkpoint(name, within: limit) { transaction throws -> CompletedStep in
      try body(transaction)
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
  ///   return try await context.finish { transaction in
  ///     try transaction.execute("UPDATE photo SET size = $1 WHERE path = $2", size, path)
  ///     return size
  ///   }
  /// }
  /// ```
  ///
  /// When the function returns, the job has succeeded, no matter what its code does afterward, so return immediately.
  ///
  /// - Precondition: The store is a ``PostgresJobStore``.
  /// - Parameters:
  ///   - limit: The time limit of `body`.
  ///   - body: The function that writes. It is called once, on a thread of the store. It can use savepoints but must
  ///     not begin or end transactions.
  /// - Returns: The value that `body` has returned. If it is encodable, it is stored as the result of the job.
  /// - Throws: The error of `body`; `JobError`, with the code `leaseLost` if the attempt no longer runs the job,
  ///   `timeLimitExceeded`, or `transactionEnded`. Nothing was written, and the job has not ended. The code is
  ///   `alreadyFinished` if an earlier call has finished the job, or has not returned yet. The code is `outcomeUnknown`
  ///   if the connection was lost during the commit: then either all was written and the job has succeeded, or the job
  ///   runs again. `JobSuspension` if the attempt ends with a wait.
  @discardableResult
  public func finish<Value: Sendable>(
    within limit: Duration = .seconds(5), _ body: @escaping @Sendable (PostgresTransaction) throws -> Value
  ) async throws -> Value {
    let store = jobs.postgresStore
    return try await finishOnce {
      try await store.runTransaction(within: limit) { [fence, leaseLost] transaction in
        let value = try body(transaction)
        let result = try self.encodedResult(value)
        guard try transaction.end(fence, result) else { throw leaseLost }
        return value
      }
    }
  }
}
#endif
