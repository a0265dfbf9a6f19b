#if PostgreSQL
import CPostgreSQL
@_spi(JobStore) import HeadwayJobs

/// An error of a PostgreSQL server, or of the connection to it.
///
/// The description never contains the password of the connection string, or values of parameters. Therefore, you can
/// log the description, and the history of a job contains it. ``message`` and ``detail`` can contain values.
public struct PostgresError: Error, Sendable, CustomStringConvertible {
  /// The five characters that identify the kind of error in PostgreSQL, such as `23505` for a duplicate key.
  ///
  /// It is nil if the connection failed or was lost, so there is no answer from the server.
  public let sqlState: String?
  /// The message from the server or from the client library, which can contain values of parameters.
  public let message: String
  /// More information from the server, which often contains values of the row; nil if there is none.
  public let detail: String?
  /// The constraint or the unique index that was violated; nil if there is none.
  public let constraint: String?
  /// The table that caused the error; nil if there is none.
  var table: String?
  /// The column that caused the error; nil if there is none.
  var column: String?
  /// Whether the connection was lost, or could not be opened.
  public internal(set) var isConnectionLost: Bool
  /// Whether the plan of a prepared statement is outdated, because the tables were migrated.
  var isPlanOutdated = false

  init(
    sqlState: String?, message: String, detail: String? = nil, constraint: String? = nil, isConnectionLost: Bool
  ) {
    self.sqlState = sqlState
    self.message = message
    self.detail = detail
    self.constraint = constraint
    self.isConnectionLost = isConnectionLost
  }

  /// A readable sentence, without values.
  public var description: String {
    let state = sqlState.map { " (SQLSTATE \($0))" } ?? ""
    return (condition ?? message) + state
  }

  /// The name of the condition, with the constraint and the column, if the message can contain values; nil otherwise.
  private var condition: String? {
    guard let sqlState, Self.hasValues(sqlState) else { return nil }
    let place = [("constraint", constraint), ("column", column), ("table", table)].compactMap { kind, name in
      name.map { "the \(kind) \($0)" }
    }
    let name = Self.conditions[sqlState] ?? Self.conditions[String(sqlState.prefix(2))] ?? "an error of the database"
    return name + (place.isEmpty ? "" : " (\(place.joined(separator: " of ")))")
  }

  /// Whether messages of a class can contain values: data errors, constraint errors, and errors that functions,
  /// triggers and extensions raise.
  private static func hasValues(_ sqlState: String) -> Bool {
    let plain = ["08", "0A", "25", "26", "28", "3D", "3F", "40", "42", "53", "54", "55", "57", "58", "XX"]
    return !plain.contains(String(sqlState.prefix(2)))
  }

  /// The names of conditions by SQLSTATE or its class.
  ///
  /// See <https://www.postgresql.org/docs/current/errcodes-appendix.html>.
  private static let conditions = [
    "21": "a statement returned or changed a row too often", "22": "a value is not valid",
    "22001": "a string is too long", "22003": "a number is out of range", "22007": "a date or time is not valid",
    "22008": "a date or time is out of range", "22012": "a division by zero",
    "22021": "a string has an invalid encoding",
    "22023": "the value of a parameter is not valid", "22P02": "a string does not have the format of its type",
    "23": "a constraint is violated", "23502": "a required value is null", "23503": "a foreign key is violated",
    "23505": "a key is not unique", "23514": "a check is violated", "23P01": "an exclusion constraint is violated",
    "44": "a check of a view is violated", "P0": "a function or trigger raised an error",
  ]
}

extension PostgresError {
  /// Creates the error of a lost connection.
  static func lost(_ message: String) -> PostgresError {
    PostgresError(sqlState: nil, message: message, isConnectionLost: true)
  }

  /// The server's error for a text with a null character.
  static let nullCharacter = PostgresError(
    sqlState: "22021", message: "invalid byte sequence for encoding \"UTF8\": 0x00", isConnectionLost: false)

  /// Creates an error from the answer of the server.
  init(_ result: OpaquePointer, isConnectionLost: Bool) {
    func text(_ field: UnsafeMutablePointer<CChar>?) -> String? { field.map { String(cString: $0) } }
    let message = text(headway_message(result)) ?? text(PQresultErrorMessage(result)) ?? "unknown error"
    self.init(
      sqlState: text(headway_sqlstate(result)), message: message, detail: text(headway_detail(result)),
      constraint: text(headway_constraint(result)), isConnectionLost: isConnectionLost)
    (table, column) = (text(headway_table(result)), text(headway_column(result)))
  }

  /// Whether the same transaction can succeed if it is executed again, because it failed only due to concurrent
  /// changes.
  var isConflict: Bool {
    if isPlanOutdated { return true }
    return switch sqlState {
    // A serialization failure, and a deadlock.
    case "40001", "40P01": true
    // Another transaction has inserted the same key.
    case "23505": constraint.map { ["job_unique", "key_pkey"].contains($0) } ?? false
    default: false
    }
  }
}

extension PostgresError {
  /// Whether the server rejects a value of a row of the store, so that the same request always fails.
  ///
  /// These are data errors (class 22), exceeded server limits (class 54), and violated constraints of the row itself.
  /// All other errors depend on something that can change. The cause can be other rows (other errors of the class 23),
  /// other transactions (40, 55), the server and the connection (08, 53, 57, 58), privileges and tables (28, 42), or
  /// code of functions and triggers (P0).
  var isOfValue: Bool {
    guard let sqlState, !isConflict else { return false }
    return ["22", "54"].contains(sqlState.prefix(2)) || ["23502", "23514"].contains(sqlState)
  }
}

/// The connection was lost before a transaction of the application began, so the transaction can begin on the next
/// connection.
struct NotBegun: Error {
  let underlyingError: PostgresError
}

/// The connection was lost while a transaction was being committed, so it is unknown whether the transaction was
/// committed.
struct UnknownCommit: Error {
  let underlyingError: PostgresError
}

extension JobError {
  /// Creates the error for callers of a store from an error of the connection.
  init(_ error: any Error, _ consequence: String) {
    switch error {
    case let error as JobError: self = error
    case let unknown as UnknownCommit:
      self.init(
        .outcomeUnknown,
        "The connection to PostgreSQL was lost during a commit, so it is not known whether it happened. "
          + "Check before you repeat the request. \(unknown.underlyingError)", underlyingError: unknown.underlyingError)
    case let error as NotBegun: self.init(error.underlyingError, consequence)
    case let error as PostgresError:
      switch error.sqlState {
      case "53100"?:
        self.init(.storeFull, "The disk of the PostgreSQL server is full. \(consequence)", underlyingError: error)
      case "22021"?:
        self.init(
          .unencodablePayload,
          "A name or key contains a null character, which PostgreSQL can't store. \(consequence)",
          underlyingError: error)
      case "23514"? where error.constraint == "job_has_short_names":
        self.init(
          .nameTooLong,
          "A name has more than 512 bytes, or a key more than 1,024. Use hashes, or store the strings in the job. "
            + consequence, underlyingError: error)
      case _ where error.isOfValue:
        self.init(.refusedValue, "PostgreSQL rejects a value: \(error). \(consequence)", underlyingError: error)
      default:
        self.init(.storeFailed, "PostgreSQL failed: \(error). \(consequence)", underlyingError: error)
      }
    default: self.init(.storeFailed, "The store failed: \(error). \(consequence)", underlyingError: error)
    }
  }
}
#endif
