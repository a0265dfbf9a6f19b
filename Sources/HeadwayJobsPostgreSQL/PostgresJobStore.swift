#if PostgreSQL
@_spi(JobStore) public import HeadwayJobs
import Synchronization

/// A store of jobs in a PostgreSQL database, for the processes of many machines.
///
/// ```swift
/// import HeadwayJobs
///
/// let jobs = Jobs(try await PostgresJobStore("postgres://app@db.example.com/app"))
/// ```
///
/// The tables are in a separate schema, `headway` by default. You can add jobs in transactions of your application: see
/// ``transaction(within:_:)``.
///
/// A worker has a lease, which is renewed every 10 s and ends after 30 s. If a process dies, or is cut off from the
/// server, other workers run its jobs after the lease has ended. The server's clock determines all times, so the clocks
/// of other machines have no effect.
///
/// A store opens its connections when it needs them: one to add jobs, and up to four more for workers and for reading.
/// It can connect through PgBouncer in any mode. In transaction pooling mode, there are no notifications, so workers
/// find new jobs by reading the store once per second.
public final class PostgresJobStore: JobStore {
  /// How the tables are created and updated.
  public enum Migration: Hashable, Sendable {
    /// The store creates and updates the tables when it is opened.
    case automatic
    /// The store throws an error if the tables are missing or too old.
    case manual
  }

  /// The maximum size of a payload in bytes.
  public let maxPayloadSize: Int
  /// The maximum size of a result, and of the value of a checkpoint, in bytes.
  public let maxResultSize: Int

  /// The versions of the tables before and after the store was opened; 0 if there were no tables.
  package let schemaVersions: (before: Int64, after: Int64)

  let schema: SchemaName
  let runner: TransactionRunner
  let clock: StoreClock
  let leases: LeaseKeeper
  let connections: StoreConnections
  /// The time limit of a statement.
  let statementLimit: Duration
  private let gatherer: EnqueueGatherer
  private let hints: StoreHints

  /// Connects to a database.
  ///
  /// - Parameters:
  ///   - connectionString: A URL, such as `postgres://user:password@host:5432/database?sslmode=verify-full`, or the
  ///     parameters of libpq, such as `host=/var/run/postgresql dbname=app`. Missing parameters have libpq's defaults,
  ///     including environment variables such as `PGPASSWORD`.
  ///   - schema: The schema of the tables: up to 31 lowercase letters, digits and underscores.
  ///   - migration: Whether the store creates and updates the tables.
  ///   - limits: The time limits of connections, statements and requests.
  ///   - maxPayloadSize: The maximum size of a payload in bytes.
  ///   - maxResultSize: The maximum size of a result, and of the value of a checkpoint, in bytes.
  /// - Throws: `JobError` with the code `unusableStore` or `newerSchema`, or `storeFailed` if the server can't be
  ///   reached. The error does not contain the password.
  public convenience init(
    _ connectionString: String, schema: String = "headway", migration: Migration = .automatic,
    limits: PostgresTimeLimits = PostgresTimeLimits(), maxPayloadSize: Int = 64 * 1_024,
    maxResultSize: Int = 1_024 * 1_024
  ) async throws {
    try await self.init(
      connectionString, schema: schema, migration: migration, limits: limits, maxPayloadSize: maxPayloadSize,
      maxResultSize: maxResultSize, leaseLength: .seconds(30), clock: nil)
  }

  /// Connects to a database, for tests with another length of leases or another clock.
  package init(
    _ connectionString: String, schema: String, migration: Migration = .automatic,
    limits: PostgresTimeLimits = PostgresTimeLimits(), maxPayloadSize: Int = 64 * 1_024,
    maxResultSize: Int = 1_024 * 1_024, leaseLength: Duration, clock: (@Sendable () -> StoreTime)?
  ) async throws {
    requireSizes(maxPayloadSize, maxResultSize)
    limits.requirePositive()
    var settings = try ConnectionSettings(connectionString)
    settings.limits = limits
    statementLimit = limits.statement
    (self.maxPayloadSize, self.maxResultSize) = (maxPayloadSize, maxResultSize)
    let name = try SchemaName(schema)
    self.schema = name
    self.clock = StoreClock(custom: clock)
    runner = TransactionRunner(schema: name, clock: self.clock)
    let hints = StoreHints()
    self.hints = hints
    leases = try LeaseKeeper(length: leaseLength, observers: hints.observers)
    let connections = try StoreConnections(settings, name, leases, hints)
    self.connections = connections
    gatherer = EnqueueGatherer(connections.adding, runner) { hints.send($0) }
    let runner = runner
    do {
      schemaVersions = try await connections.adding.run { session in
        try Schema.checkEncoding(session)
        let versions = try migration == .automatic ? Schema.migrate(session, name) : Schema.check(session, name)
        // The time of the server is known from the beginning.
        _ = try runner.read(session) { $0.now }
        return versions
      }
    } catch {
      connections.abandon()
      throw error
    }
  }

  deinit { connections.abandon() }

  /// Executes the pending requests and closes the connections.
  ///
  /// Later requests fail. The leases of workers that have not been removed end after their time.
  public func close() async { await connections.close() }

  /// The time of the server.
  public var now: StoreTime { clock.now }

  /// Whether a pooler such as PgBouncer, or a standby server, prevents notifications; nil if it is not known yet.
  ///
  /// Without notifications, workers find new jobs only by reading the store once per second.
  public var lacksNotifications: Bool? { hints.lacksNotifications }

  // MARK: Requests

  /// Executes a transaction on a connection and returns after the commit.
  func change<Answer: Sendable>(
    on connection: PostgresConnection, hold: JobTransaction.Hold = .none,
    _ body: @escaping @Sendable (JobTransaction) throws -> Answer
  ) async throws -> Answer {
    let (runner, hints) = (runner, hints)
    do {
      return try await connection.run { session in
        let (answer, changes) = try runner.run(session, hold: hold, body)
        // Notify observers before the caller, because the caller might immediately check the effects of the observers.
        hints.send(changes)
        return answer
      }
    } catch {
      throw JobError(error, "Nothing was changed.")
    }
  }

  /// Reads the state at one moment.
  ///
  /// - Parameter body: A function that reads.
  /// - Returns: The value that the function returns.
  /// - Throws: `JobError`.
  @_spi(JobStore) public func readState<Answer: Sendable>(
    _ body: @escaping @Sendable (any StoreReader) throws -> Answer
  ) async throws -> Answer { try await read { try body($0) } }

  func read<Answer: Sendable>(_ body: @escaping @Sendable (JobReader) throws -> Answer) async throws -> Answer {
    do {
      return try await connections.reading.run { [runner] session in try runner.read(session, body) }
    } catch {
      throw JobError(error, "The jobs can't be read.")
    }
  }

  /// Checks that the store's tables are consistent with each other.
  ///
  /// The check takes O(*n*) in the size of the tables. Other programs can use the store in the meantime, because the
  /// check reads the state at one moment.
  ///
  /// - Returns: Descriptions of the defects; empty if there are none.
  /// - Throws: `JobError` if the store can't be read.
  public func audit() async throws -> [String] { try await read { try $0.defects() } }

  /// Executes statements that read on the control connection, in one round trip.
  func ask<Answer: Sendable>(
    _ statements: [Statement], _ answer: @escaping @Sendable ([QueryResult]) throws -> Answer
  ) async throws -> Answer {
    do {
      return try await connections.control.run { [runner] session in try answer(runner.ask(session, statements)) }
    } catch {
      throw JobError(error, "The jobs can't be read.")
    }
  }

  /// Stores new jobs as a whole or not at all.
  ///
  /// - Parameter jobs: The jobs to store, in order.
  /// - Returns: The ID of each job, once the jobs are durable.
  /// - Throws: `JobError`, with the code `outcomeUnknown` if the connection was lost, and the store can't find out
  ///   within 10 s whether the jobs were stored.
  @_spi(JobStore) public func enqueue(_ jobs: [NewJob]) async throws -> [Enqueued] {
    guard !jobs.isEmpty else { return [] }
    return try await gatherer.enqueue(jobs)
  }

  // MARK: Hints

  /// Calls a function with hints about changes, until the returned token is released.
  ///
  /// - Parameter handler: A function that is called with each hint. It is called on a thread of the store.
  /// - Returns: A token that keeps the function registered. Release it to end the calls.
  @_spi(JobStore) public func observeHints(_ handler: @escaping @Sendable (JobHint) -> Void) -> any AnyObject & Sendable
  {
    let token = hints.observers.add(handler)
    hints.beginListening()
    connections.control.wake()
    return token
  }

  /// Notifies observers, in this and in other processes, after a commit of the application.
  func send(_ changes: JobHints) { hints.send(changes) }
}
#endif
