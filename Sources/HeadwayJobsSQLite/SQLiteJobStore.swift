#if Jobs
import FoundationEssentials
public import GRDB
import GRDBSQLite
@_spi(JobStore) public import HeadwayJobs
import Synchronization

/// A store of jobs in an SQLite database, for all processes of one machine.
///
/// ```swift
/// import HeadwayJobs
///
/// let jobs = try Jobs(SQLiteJobStore(path: "jobs.sqlite"))
/// ```
///
/// If your application has its own database, opened by GRDB, keep the jobs in it. Then you can add jobs in your own
/// transactions:
///
/// ```swift
/// import GRDB
/// import HeadwayJobs
///
/// var configuration = Configuration()
/// SQLiteJobStore.prepare(&configuration)
/// let pool = try DatabasePool(path: "app.sqlite", configuration: configuration)
/// let jobs = try Jobs(SQLiteJobStore(pool))
/// try await pool.write { database in
///   try database.execute(sql: "INSERT INTO photo (path) VALUES (?)", arguments: [path])
///   try jobs.enqueue(Resize(path: path), in: database)
/// }
/// ```
///
/// When a function returns, its changes survive a loss of power. Functions that are called at the same time share a
/// transaction.
///
/// All table names begin with `headway_`. Next to the database is a folder whose name ends with `-headway`. It contains
/// the locks that show which workers are alive. Don't delete it while a program uses the database.
public final class SQLiteJobStore: JobStore {
  /// The maximum size of a payload in bytes.
  public let maxPayloadSize: Int
  /// The maximum size of a result, and of the value of a checkpoint, in bytes.
  public let maxResultSize: Int

  /// The versions of the tables before and after the store was opened; 0 if there were no tables.
  package let schemaVersions: (before: Int64, after: Int64)

  /// The path of the database, as resolved by SQLite.
  let file: String
  let pool: DatabasePool
  private let clock: @Sendable () -> StoreTime
  private let inbox = WriterInbox()
  let locks: WorkerLocks
  let changes: ChangeDetector
  private let observers = HintObservers()
  private let messages: HintMessages
  private let closing = StoreClosing()

  /// Opens a database, or creates one if there is none.
  ///
  /// - Parameters:
  ///   - path: The path of the database file.
  ///   - maxPayloadSize: The maximum size of a payload in bytes.
  ///   - maxResultSize: The maximum size of a result, and of the value of a checkpoint, in bytes.
  ///   - clock: Returns the current time; the system's time by default.
  /// - Throws: `JobError` with the code `unusableStore` or `newerSchema`.
  public convenience init(
    path: String, maxPayloadSize: Int = 64 * 1_024, maxResultSize: Int = 1_024 * 1_024,
    clock: @escaping @Sendable () -> StoreTime = { .now() }
  ) throws {
    var configuration = Configuration()
    configuration.label = "headway jobs"
    configuration.busyMode = .timeout(10)
    Self.prepare(&configuration)
    let pool: DatabasePool
    do {
      pool = try Database.retryingWhileBusy { try DatabasePool(path: path, configuration: configuration) }
    } catch {
      throw JobError(opening: path, error)
    }
    try self.init(pool, ownsPool: true, sizes: (maxPayloadSize, maxResultSize), clock: clock)
  }

  /// Keeps jobs in the database of an application.
  ///
  /// - Parameters:
  ///   - pool: The pool of the application. Its configuration must have been passed to ``prepare(_:)``.
  ///   - maxPayloadSize: The maximum size of a payload in bytes.
  ///   - maxResultSize: The maximum size of a result, and of the value of a checkpoint, in bytes.
  ///   - clock: Returns the current time; the system's time by default.
  /// - Throws: `JobError` with the code `unusableStore` or `newerSchema`.
  public convenience init(
    _ pool: DatabasePool, maxPayloadSize: Int = 64 * 1_024, maxResultSize: Int = 1_024 * 1_024,
    clock: @escaping @Sendable () -> StoreTime = { .now() }
  ) throws {
    try self.init(pool, ownsPool: false, sizes: (maxPayloadSize, maxResultSize), clock: clock)
  }

  private init(
    _ pool: DatabasePool, ownsPool: Bool, sizes: (payload: Int, result: Int),
    clock: @escaping @Sendable () -> StoreTime
  ) throws {
    requireSizes(sizes.payload, sizes.result)
    let files: StoreFiles
    do {
      files = try StoreFiles(pool, ownsPool: ownsPool)
    } catch {
      throw JobError(opening: pool.path, error)
    }
    changes = ChangeDetector(pool)
    self.pool = pool
    (maxPayloadSize, maxResultSize) = sizes
    self.clock = clock
    file = files.database
    schemaVersions = files.schemaVersions
    locks = WorkerLocks(folder: files.folder)
    messages = HintMessages(folder: files.folder)
    let writer = StoreWriter(
      pool, ownsPool: ownsPool, inbox: inbox, lock: files.writerLock, clock: clock,
      onCommit: { [observers, messages] in
        observers.send($0)
        messages.send($0)
      }, onEnd: { [closing] in closing.end() })
    try writer.start()
  }

  deinit {
    inbox.close()
    messages.close()
  }

  /// Prepares the configuration of a pool or queue that uses the same database as a store.
  ///
  /// SQLite before 3.51.3 can lose a commit if one connection copies the write-ahead log while another one resets it.
  /// With such a library, only the store copies the log, at moments when this can't happen. Call this function for each
  /// connection of the application that writes to the database.
  ///
  /// - Parameter configuration: The configuration to prepare.
  public static func prepare(_ configuration: inout Configuration) { Checkpoint.prepare(&configuration) }

  /// Executes the pending requests and closes the store.
  ///
  /// Later requests fail.
  ///
  /// The locks of workers that have not been removed remain until the process ends, so that their jobs don't run twice
  /// at the same time.
  public func close() async {
    inbox.close()
    messages.close()
    changes.close()
    await closing.wait()
  }

  /// The time of the store's clock.
  public var now: StoreTime { clock() }

  // MARK: Requests

  /// Executes a change in the next transaction and returns after the commit.
  func change<Answer: Sendable>(
    size: Int = 64, isDurable: Bool = true, runsUserCode: Bool = false,
    _ body: @escaping @Sendable (JobTransaction) throws -> Answer
  ) async throws -> Answer {
    try await withCheckedThrowingContinuation { continuation in
      let request = WriteRequest(
        size: size, isDurable: isDurable, runsUserCode: runsUserCode,
        perform: { transaction in
          let answer = try body(transaction)
          try transaction.settle()
          return { continuation.resume(returning: answer) }
        }, fail: { continuation.resume(throwing: $0) })
      if !inbox.add(request) {
        continuation.resume(throwing: JobError(.storeFailed, "The store of jobs was closed. Nothing was changed."))
      }
    }
  }

  /// Reads without waiting for the writer.
  func read<Answer: Sendable>(
    _ body: @escaping @Sendable (JobReader) throws -> Answer
  ) async throws -> Answer {
    // This does not use GRDB's asynchronous functions, which fail in cancelled tasks.
    try await withCheckedThrowingContinuation { continuation in
      pool.asyncRead { [clock, locks] database in
        continuation.resume(
          with: Result {
            let database = try database.get()
            try database.checkFile()
            return try body(JobReader(database, at: clock(), locks: locks))
          }.mapError { JobError($0, "The jobs can't be read.") })
      }
    }
  }

  // MARK: Hints

  /// Calls a function with hints about changes, until the returned token is released.
  ///
  /// - Parameter handler: A function that is called with each hint. It is called on a thread of the store.
  /// - Returns: A token that keeps the function registered. Release it to end the calls.
  @_spi(JobStore) public func observeHints(_ handler: @escaping @Sendable (JobHint) -> Void) -> any AnyObject & Sendable
  {
    messages.receive(observers)
    return observers.add(handler)
  }

  /// Notifies observers, in this and in other processes, after a commit of the application.
  func send(_ hints: JobHints) {
    observers.send(hints)
    messages.send(hints)
  }
}
#endif
