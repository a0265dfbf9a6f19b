#if Jobs
public import FoundationEssentials
public import GRDB
import GRDBSQLite
public import Headway
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
  ///   - job: The job.
  ///   - queue: The queue of the store that the job waits in.
  ///   - priority: The priority among the waiting jobs of the queue.
  ///   - delay: How long the job waits before it is ready for the first time.
  ///   - date: The earliest time at which the job runs, if there is no delay.
  ///   - unique: A key that only one job can hold at a time.
  ///   - after: The jobs that the new job waits for: handles or numbers, or their `success`.
  ///   - options: Other options. The other parameters take precedence.
  ///   - database: A connection that can write. If it is not in a transaction, the job is stored in its own
  ///     transaction.
  /// - Returns: A handle to the new job, or to the one that holds the key.
  /// - Throws: `JobError`, for example with the code `payloadTooLarge`, or `queueFull`, because the call never waits
  ///   for room; or GRDB's `DatabaseError`. The job was not stored.
  @discardableResult
  public func enqueue<Type: Job>(
    _ job: Type, queue: String? = nil, priority: Operation.QueuePriority? = nil, delay: Duration? = nil,
    at date: Date? = nil, unique: UniqueKey? = nil, after: [any JobReference] = [], options: JobOptions = JobOptions(),
    in database: Database
  ) throws -> JobHandle<Type.Output> {
    let given = JobOptions(
      queue: queue, priority: priority, delay: delay, startDate: date, unique: unique,
      after: after.isEmpty ? nil : after.map(\.dependency))
    return handle(try add([try encode(job, options: given.merged(over: options))], in: database)[0])
  }

  /// Stores the jobs of a batch in a transaction of the application; they exist if the transaction is committed.
  ///
  /// - Precondition: The store is an ``SQLiteJobStore`` with the database of the connection.
  /// - Parameters:
  ///   - batch: The jobs.
  ///   - database: A connection that can write. If it is not in a transaction, the jobs are stored in their own
  ///     transaction.
  /// - Returns: The handles of the jobs.
  /// - Throws: `JobError`, for example with the code `dependencyCycle`, or GRDB's `DatabaseError`. No job was stored.
  @discardableResult
  public func enqueue(_ batch: JobBatch, in database: Database) throws -> JobBatch.Handles {
    handles(of: batch, try add(batch.encoded(for: self), in: database))
  }

  private func add(_ new: [NewJob], in database: Database) throws -> [Enqueued] {
    let store = sqliteStore
    require(
      database.isMainDatabase(at: store.file),
      "The connection's database is not the job store's database, \(store.file). Open the store with the pool of this "
        + "connection, SQLiteJobStore(pool), or use enqueue(_:) outside of the transaction.")
    try database.checkFile()
    var enqueued: [Enqueued]?
    try database.inSavepoint {
      let transaction = JobTransaction(database, at: store.now)
      let added = try transaction.enqueue(new)
      enqueued = added
      try transaction.storeCounters()
      let hints = transaction.hints
      database.afterNextTransaction { [self] _ in
        store.send(hints)
        for (added, new) in zip(added, new) { noteEnqueued(added, new) }
      }
      return .commit
    }
    guard let enqueued else { misuse("GRDB has not called the function.") }
    return enqueued
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
  ///   - body: The function that writes. It is called on a thread of the store. It can use savepoints, but must not
  ///     begin or end transactions.
  /// - Returns: The value that `body` has returned. If it is encodable, it is stored as the result of the job.
  /// - Throws: The error of `body`; `JobError`, with the code `leaseLost` if the attempt no longer runs the job,
  ///   `timeLimitExceeded`, or `transactionEnded`. Nothing was written, and the job has not ended. The code is
  ///   `alreadyFinished` if an earlier call has ended the job, or has not returned yet.
  @discardableResult
  public func finish<Value: Sendable>(
    within limit: Duration = .seconds(5), _ body: @escaping @Sendable (Database) throws -> Value
  ) async throws -> Value {
    let (fence, leaseLost) = (fence, leaseLost)
    let store = jobs.sqliteStore
    // Noted before the commit. Otherwise, the worker could find after the commit that the attempt no longer runs the
    // job.
    guard beginFinishing() else {
      throw JobError(
        .alreadyFinished, "Job \(id) has already ended by a call of finish(_:). After that call, return.")
    }
    var isCommitted = false
    defer { if !isCommitted { cancelFinishing() } }
    let value = try await store.change(runsUserCode: true) { transaction in
      guard try transaction.isRun(by: fence) else { throw leaseLost }
      let value = try transaction.run(within: limit, body)
      guard transaction.database.isInsideTransaction else { throw JobError.transactionEnded }
      let result = try self.encodedResult(value)
      guard try transaction.end([JobEnding(fence, .succeed(result: result))]) == [.recorded] else { throw leaseLost }
      return value
    }
    isCommitted = true
    return value
  }
}

extension Database {
  /// Returns whether the file of the connection's main database is at a path.
  fileprivate func isMainDatabase(at path: String) -> Bool {
    sqliteConnection.flatMap { sqlite3_db_filename($0, "main") }.map { String(cString: $0) } == path
  }
}
#endif
