#if PostgreSQL
import Headway
import CPostgreSQL
@_spi(JobStore) import HeadwayJobs

/// The parameters of a connection string, and the time limits of a store.
struct ConnectionSettings: Sendable {
  /// The parameters, in the same order as in the string.
  private(set) var parameters: [(name: String, value: String)] = []

  /// The time limits.
  var limits = PostgresTimeLimits()

  /// Parses a connection string, such as `postgres://user@host/database` or `host=/tmp dbname=database`.
  ///
  /// - Throws: `JobError` with the code `unusableStore`. The error contains no part of the string, because a password
  ///   could be anywhere in a string that is not valid.
  init(_ string: String) throws {
    let string = Self.withLowercaseScheme(string)
    guard !Self.hasAmbiguousPassword(string), let options = PQconninfoParse(string, nil) else { throw Self.invalid }
    defer { PQconninfoFree(options) }
    var option = options
    while let keyword = option.pointee.keyword {
      if let value = option.pointee.val { parameters.append((String(cString: keyword), String(cString: value))) }
      option += 1
    }
    guard parameters.allSatisfy({ Self.isPlausible($1, as: $0) }) else { throw Self.invalid }
    // A network that is silent for 10 s is a lost connection. Packets that are not confirmed are one kind of silence,
    // and a peer that sends nothing is another.
    setDefault("tcp_user_timeout", "10000")
    setDefault("keepalives_idle", "4")
    setDefault("keepalives_interval", "2")
    setDefault("keepalives_count", "3")
    setDefault("application_name", "headway-jobs")
    set("client_encoding", "UTF8")
  }

  private mutating func setDefault(_ name: String, _ value: String) {
    if !parameters.contains(where: { $0.name == name }) { parameters.append((name, value)) }
  }

  private mutating func set(_ name: String, _ value: String) {
    parameters.removeAll { $0.name == name }
    parameters.append((name, value))
  }

  /// Returns the parameters for another attempt to connect, which begins at another one of several servers.
  ///
  /// libpq always begins at the first server, and never continues after one that is silent.
  ///
  /// - Parameter failures: The number of attempts that have failed.
  /// - Returns: The parameters, with the servers in another order.
  func parameters(after failures: Int) -> [(name: String, value: String)] {
    let lists = parameters.filter { ["host", "hostaddr", "port"].contains($0.name) }
      .map { ($0.name, $0.value.split(separator: ",", omittingEmptySubsequences: false)) }
    let count = lists.map(\.1.count).max() ?? 1
    return parameters.map { name, value in
      // A single port applies to all servers.
      guard let list = lists.first(where: { $0.0 == name })?.1, list.count == count else { return (name, value) }
      let start = failures % count
      return (name, (list[start...] + list[..<start]).joined(separator: ","))
    }
  }

  /// Returns a message without the passwords of the connection string.
  func redacted(_ message: String) -> String {
    var message = message
    for (name, value) in parameters where ["password", "sslpassword"].contains(name) && !value.isEmpty {
      message = message.split(separator: value, omittingEmptySubsequences: false).joined(separator: "•••")
    }
    return message.trimmingLines
  }
}

/// The time limits of a connection to PostgreSQL.
///
/// No request can wait forever: after a limit, the request fails with an error.
public struct PostgresTimeLimits: Hashable, Sendable {
  /// The time for opening a connection; 5 s by default.
  public var connection = Duration.seconds(5)
  /// The time that a statement waits for a lock; 5 s by default.
  public var lock = Duration.seconds(5)
  /// The time of a statement; 10 s by default.
  public var statement = Duration.seconds(10)
  /// The time that a transaction of the store waits for this process between two statements; 3 s by default.
  ///
  /// After that time, the server undoes the transaction. Therefore, a suspended or unreachable process does not hold
  /// locks that other workers need. A transaction of the application has its own time limit instead.
  public var idleTransaction = Duration.seconds(3)
  /// The time that a request waits while the server is unavailable; 10 s by default.
  public var request = Duration.seconds(10)

  /// Creates the default limits.
  public init() {}

  /// Stops the process if a limit is not positive, because the server treats zero as no limit.
  func requirePositive() {
    let all = [
      ("connection", connection), ("lock", lock), ("statement", statement), ("idleTransaction", idleTransaction),
      ("request", request),
    ]
    for (name, limit) in all {
      require(limit > .zero, "The time limit `\(name)` of PostgreSQL is \(limit): use a positive duration.")
    }
  }

  /// How long a server can take to answer before its connection is considered lost.
  ///
  /// It is a little longer than the time limit of a statement, which the server enforces.
  var answer: Duration { statement + .seconds(5) }
}

extension Duration {
  /// The number of whole milliseconds, at least 0.
  var milliseconds: Int { Int(max(0, min(self / .milliseconds(1), 1e9))) }
}

extension String {
  /// The lines of the text in one line.
  fileprivate var trimmingLines: String {
    split(whereSeparator: \.isNewline).map { $0.drop(while: \.isWhitespace) }.joined(separator: " ")
  }
}
#endif
