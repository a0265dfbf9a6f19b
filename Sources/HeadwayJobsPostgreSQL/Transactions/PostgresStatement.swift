#if PostgreSQL
import Headway
public import HeadwayJobs

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
  ///   - job: The job.
  ///   - options: The options of the job. The conflict of a unique key is always `keep`.
  /// - Returns: The statement.
  /// - Throws: `JobError`, for example with the code `payloadTooLarge`.
  public func enqueueStatement(_ job: some Job, options: JobOptions = JobOptions()) throws -> PostgresStatement {
    guard let store = store as? PostgresJobStore else {
      preconditionFailure("The jobs are in a \(type(of: store)). Use a PostgresJobStore.")
    }
    var new = try encode(job, options: options)
    precondition(
      new.dependencies.isEmpty,
      "A statement can't store a job that waits for others. Use enqueue(_:in:) with a transaction of the store.")
    new.settings.unique?.conflict = .keep
    return store.enqueueStatement(new)
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
      ("delay", "interval", new.delay.map { Self.interval($0) }), ("start", "timestamptz", new.start.map(Self.time)),
      ("deadline", "timestamptz", new.deadline.map(Self.time)), ("unique_key", "text", unique?.key),
      ("unique_scope", "text", scope), ("unique_for", "interval", time),
      ("settings", "bytea", new.settings.stored?.postgresText),
      ("keep", "bigint", JobRow.keep(new.settings).map(String.init)),
      ("limit_key", "text", new.settings.limit?.storedKey),
      ("slots", "bigint", new.settings.limit?.slots.map(String.init)),
    ]
    let arguments = values.enumerated().map { "\($1.name) => $\($0 + 1)::\($1.type)" }.joined(separator: ", ")
    return PostgresStatement(
      sql: "SELECT id, is_new FROM \(schema.name).enqueue(\(arguments))", parameters: values.map(\.value))
  }

  private static func interval(_ duration: Duration) -> String {
    "\(Int64(max(0, min(duration / .microseconds(1), 1e17)))) microseconds"
  }

  private static func time(_ time: StoreTime) -> String { time.description }
}
#endif
