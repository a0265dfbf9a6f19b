#if PostgreSQL
import CPostgreSQL
import HeadwayJobs

/// An error of a PostgreSQL server, or of the connection to it.
///
/// The description never contains the password of the connection string, or values of parameters.
public struct PostgresError: Error, Sendable, CustomStringConvertible {
  /// The five characters that identify the kind of error in PostgreSQL, such as `23505` for a duplicate key.
  ///
  /// It is nil if the connection failed or was lost, so there is no answer from the server.
  public let sqlState: String?
  /// The message from the server or from the client library.
  public let message: String
  /// More information from the server; nil if there is none.
  public let detail: String?
  /// The constraint or the unique index that was violated; nil if there is none.
  public let constraint: String?
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

  /// A readable sentence.
  public var description: String {
    let state = sqlState.map { " (SQLSTATE \($0))" } ?? ""
    return message + state + (detail.map { ". \($0)" } ?? "")
  }
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
  }

  /// Whether the same transaction can succeed if it is executed again, because it failed only due to the changes of
  /// others.
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

/// The connection was lost before a transaction of the application began, so that it can begin on the next one.
struct NotBegun: Error {
  let underlying: PostgresError
}

/// The connection was lost while a transaction was being committed, so it is not known whether it was.
struct UnknownCommit: Error {
  let underlying: PostgresError
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
          + "Check before you repeat the request. \(unknown.underlying)", underlying: unknown.underlying)
    case let error as NotBegun: self.init(error.underlying, consequence)
    case let error as PostgresError:
      switch error.sqlState {
      case "53100"?:
        self.init(.storeFull, "The disk of the PostgreSQL server is full. \(consequence)", underlying: error)
      case "22021"?:
        self.init(
          .unencodablePayload,
          "A name or key contains a null character, which PostgreSQL can't store. \(consequence)", underlying: error)
      case "23514"? where error.constraint == "job_has_short_names":
        self.init(
          .nameTooLong,
          "A name has more than 512 bytes, or a key more than 1,024. Use hashes, or store the texts in the job. "
            + consequence, underlying: error)
      default:
        self.init(.storeFailed, "PostgreSQL failed: \(error). \(consequence)", underlying: error)
      }
    default: self.init(.storeFailed, "The store failed: \(error). \(consequence)", underlying: error)
    }
  }
}
#endif
