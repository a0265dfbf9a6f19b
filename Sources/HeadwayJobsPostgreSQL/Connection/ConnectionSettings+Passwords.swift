#if PostgreSQL
@_spi(JobStore) import HeadwayJobs

/// Keeps passwords out of messages.
///
/// libpq and the server repeat the names of hosts, ports, databases and users in their messages. If a password is not
/// percent-encoded or quoted, part of it could be read as one of these names.
extension ConnectionSettings {
  static let invalid = JobError(
    .unusableStore,
    "The connection string of PostgreSQL is not valid. Use a string like postgres://user@host:5432/database. "
      + "Characters such as @, / and ? in a password must be percent-encoded.")

  private static let schemes = ["postgres://", "postgresql://"]

  /// Returns the string with the scheme of its URL in lowercase letters, which libpq requires.
  static func withLowercaseScheme(_ string: String) -> String {
    let start = string.drop(while: \.isWhitespace)
    guard let scheme = schemes.first(where: { start.prefix($0.count).lowercased() == $0 }) else { return string }
    return scheme + start.dropFirst(scheme.count)
  }

  /// Whether a URL contains an @ other than the one between the password and the host.
  ///
  /// libpq ends the user name and the password at the first @, /, or ?.
  static func hasAmbiguousPassword(_ string: String) -> Bool {
    guard let scheme = schemes.first(where: string.hasPrefix) else { return false }
    let rest = string.dropFirst(scheme.count)
    let authority = rest.prefix { $0 != "/" && $0 != "?" }
    return rest.filter { $0 == "@" }.count > 1 || rest.contains("@") && !authority.contains("@")
  }

  /// Whether a value is plausible for a parameter.
  ///
  /// If not, it might be part of a password.
  static func isPlausible(_ value: String, as parameter: String) -> Bool {
    let parts = value.split(separator: ",")
    switch parameter {
    case "port": return parts.allSatisfy { $0.utf8.allSatisfy(isDigit) }
    case "host", "hostaddr": return parts.allSatisfy(isHost)
    default: return true
    }
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

  /// Whether a string can be the name or address of a host, or the folder of a socket.
  private static func isHost(_ text: Substring) -> Bool {
    // The name of a socket that is not a file begins with @.
    if text.hasPrefix("/") || text.hasPrefix("@") { return true }
    let others = "0123456789.-_:%".unicodeScalars
    return text.unicodeScalars.allSatisfy { $0.properties.isAlphabetic || others.contains($0) }
  }

  /// The location of the database, without a password, as a URL that leads to the same database.
  var place: String {
    func value(_ name: String) -> String { parameters.first { $0.name == name }?.value ?? "" }
    let (user, database) = (Self.encoded(value("user")), Self.encoded(value("dbname")))
    let (host, ports) = (value("host"), value("port").split(separator: ","))
    let hosts = host.split(separator: ",").enumerated().map { index, host in
      let port = ports.count > 1 ? ports[min(index, ports.count - 1)] : ports.first
      let name = Self.encoded(String(host), keeping: ":")
      return (host.contains(":") ? "[\(name)]" : name) + (port.map { ":\($0)" } ?? "")
    }
    let prefix = "postgres://" + (user.isEmpty ? "" : "\(user)@")
    guard host.hasPrefix("/") || host.hasPrefix("@") else {
      return prefix + hosts.joined(separator: ",") + "/\(database)"
    }
    // The folder of a socket can't precede the path in a URL.
    let port = value("port")
    return prefix + "/\(database)?host=\(Self.encoded(host, keeping: "/:,"))" + (port.isEmpty ? "" : "&port=\(port)")
  }

  /// Returns a text in the form that is required in a component of a URL.
  private static func encoded(_ text: String, keeping others: String = "") -> String {
    let plain = Set(("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~" + others).utf8)
    return text.utf8.map { byte -> String in
      if plain.contains(byte) { return "\(Unicode.Scalar(byte))" }
      return "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }.joined()
  }
}

extension PostgresJobStore {
  /// Returns the location in a connection string, without a password; nil if the string is not valid.
  package static func place(of connectionString: String) -> String? {
    (try? ConnectionSettings(connectionString))?.place
  }

  /// Checks the name of a schema.
  ///
  /// - Parameter name: The name of the schema.
  /// - Throws: `JobError` with the code `unusableStore`.
  package static func checkSchema(_ name: String) throws { _ = try SchemaName(name) }
}
#endif
