#if PostgreSQL
import Headway
@_spi(JobStore) public import HeadwayJobs

/// A statement for another client of the database, with its parameters.
public struct PostgresStatement: Hashable, Sendable {
  /// The text, with the parameters `$1`, `$2` and so on.
  public let sql: String
  /// The values in the text format of PostgreSQL; nil for null.
  ///
  /// Pass them as parameters, never as part of the text. The text has casts to their types.
  public let parameters: [String?]
}

extension Jobs {
  /// Returns a statement that stores a job in a transaction of another client of the database.
  ///
  /// The statement returns one row with the columns `id` and `is_new`. The job exists if the transaction is committed.
  /// Workers find it within a second. To notify them, call the function `notify` of the schema after the commit, for
  /// example with `SELECT headway.notify('default')`. Call it in a separate transaction, because a transaction that
  /// notifies holds a server-wide lock during its commit.
  ///
  /// - Precondition: The store is a ``PostgresJobStore``, and the job waits for no others.
  /// - Parameters:
  ///   - job: The job to store.
  ///   - options: Options of the job. They take precedence over the options of the type. The conflict of a unique key
  ///     is always `keep`.
  /// - Returns: A statement that the other client executes in its transaction.
  /// - Throws: `JobError`, for example with the code `payloadTooLarge`, or `unencodablePayload` if a name or a key
  ///   contains a null character.
  public func enqueueStatement(_ job: some Job, _ options: JobOption...) throws -> PostgresStatement {
    let store = postgresStore
    var new = try encode(job, options: JobOptions(options))
    require(
      new.dependencies.isEmpty,
      "A statement can't store a job that waits for others. Use enqueue(_:in:) with a transaction of the store.")
    try new.checkNames("No statement was created.")
    new.settings.unique?.conflict = .keep
    return store.enqueueStatement(new)
  }
}

extension JobContext {
  /// Returns a statement that records the success of the job in a transaction of another client of the database.
  ///
  /// Execute it as the last statement of your transaction, and commit only if the statement returns one row.
  /// If it returns none, this attempt no longer runs the job: roll back, and throw an error. After any other rollback,
  /// throw an error, too, because the job has not ended. After the commit, return immediately. The job has succeeded,
  /// no matter what its code does afterward.
  ///
  /// The job is kept for at least a minute, even without retention, so that its worker finds it. The role of the other
  /// client needs the privilege ``PostgresJobStore/Privilege/work``.
  ///
  /// ```swift
  /// import HeadwayJobs
  ///
  /// struct LeaseLost: Error {}
  ///
  /// func record(
  ///   _ path: String, in context: JobContext, execute: (_ sql: String, _ parameters: [String?]) async throws -> Int
  /// ) async throws {
  ///   let ending = try context.finishStatement()
  ///   _ = try await execute("BEGIN", [])
  ///   do {
  ///     _ = try await execute("UPDATE photo SET size = $1::bigint WHERE path = $2", ["7", path])
  ///     guard try await execute(ending.sql, ending.parameters) == 1 else { throw LeaseLost() }
  ///   } catch {
  ///     _ = try? await execute("ROLLBACK", [])
  ///     throw error
  ///   }
  ///   _ = try await execute("COMMIT", [])
  /// }
  /// ```
  ///
  /// Within a second, workers find the jobs that have waited for this one. To notify them, call the function `notify`
  /// of the schema after the commit.
  ///
  /// - Precondition: The store is a ``PostgresJobStore``.
  /// - Parameter result: If it is encodable, the statement stores it as the result of the job.
  /// - Returns: A statement that the other client executes in its transaction. It returns one row with the column `id`,
  ///   or none.
  /// - Throws: `JobError`, with the code `alreadyFinished` if a call of ``finish(within:_:)`` has finished the job,
  ///   or has not returned yet; or `payloadTooLarge`.
  public func finishStatement(_ result: some Sendable = ()) throws -> PostgresStatement {
    let store = jobs.postgresStore
    let result = try encodedResult(result)
    try checkNotSuspended()
    guard beginFinishingElsewhere() else { throw alreadyFinished }
    return store.finishStatement(fence, result, job.settings.retention ?? JobRetention())
  }
}

extension PostgresJobStore {
  fileprivate func enqueueStatement(_ new: NewJob) -> PostgresStatement {
    let unique = new.settings.unique
    var (scope, time) = (String?.none, String?.none)
    switch unique?.scope {
    case .waiting: scope = "waiting"
    case .unfinished: scope = "unfinished"
    case .duration(let duration): time = Self.interval(duration)
    case nil: break
    }
    let values: [(name: String, type: String, value: String?)] = [
      ("kind", "text", new.kind.rawValue), ("payload", "bytea", new.payload.bytes.postgresText),
      ("queue", "text", new.queue), ("version", "bigint", "\(new.version)"), ("priority", "bigint", "\(new.priority)"),
      ("delay", "interval", new.delay.map { Self.interval($0) }),
      ("start", "timestamptz", new.startTime.map(Self.time)),
      ("deadline", "timestamptz", new.deadline.map(Self.time)), ("unique_key", "text", unique?.key),
      ("unique_scope", "text", scope), ("unique_for", "interval", time),
      ("settings", "bytea", new.settings.stored?.postgresText),
      ("keep", "bigint", JobRow.keep(new.settings).map(String.init)),
      ("limit_key", "text", new.settings.firstLimit?.storedKey),
      ("slots", "bigint", new.settings.firstLimit?.slots.map(String.init)),
      ("weight", "bigint", new.settings.firstLimit.map { "\($0.units)" }),
      ("further", "text", new.settings.furtherLimits),
    ]
    return call("enqueue", columns: "id, is_new", values)
  }

  fileprivate func finishStatement(
    _ fence: JobFence, _ result: JobPayload?, _ retention: JobRetention
  ) -> PostgresStatement {
    call(
      "finish", columns: "id",
      [
        ("job", "bigint", "\(fence.id.rawValue)"), ("attempt", "bigint", "\(fence.attempt)"),
        ("epoch", "bigint", "\(fence.epoch)"), ("owner", "bigint", "\(fence.owner.rawValue)"),
        ("result", "bytea", result?.bytes.postgresText),
        ("keep", "interval", Self.interval(retention.duration(after: .succeeded))),
      ])
  }

  /// Returns a statement that calls a function of the schema.
  private func call(
    _ function: String, columns: String, _ arguments: [(name: String, type: String, value: String?)]
  ) -> PostgresStatement {
    PostgresStatement(
      sql: PrivilegeSQL.call("\(schema.name).\(function)", columns: columns, arguments),
      parameters: arguments.map(\.value))
  }

  private static func interval(_ duration: Duration) -> String {
    "\(Int64(max(0, min(duration / .microseconds(1), 1e17)))) microseconds"
  }

  private static func time(_ time: StoreTime) -> String { time.description }
}
#endif
