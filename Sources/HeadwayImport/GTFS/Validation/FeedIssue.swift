/// A property of a feed that the GTFS reference does not allow, or that is odd.
public struct FeedIssue: Sendable, Hashable, Codable {
  /// The severity of an issue.
  public enum Severity: String, Sendable, Hashable, Codable {
    /// The reference does not allow it.
    case error
    /// The reference allows it, but it is rarely intended.
    case warning
  }

  /// The severity of the issue.
  public let severity: Severity
  /// The kind of issue, for programs: the name in MobilityData's validator, if it has one, such as
  /// `foreign_key_violation`.
  public let code: String
  /// The file concerned.
  public let file: String
  /// The description of the issue, for people.
  public let message: String
  /// The number of rows concerned; 0 if the issue is about the file.
  public let count: Int
  /// Some of the rows: the number of the record, where the header is record 1, and the values that identify it.
  public let examples: [String]
}

extension FeedIssue: CustomStringConvertible {
  /// One line with the severity, the file, the message, the number of rows, and some examples.
  public var description: String {
    let rows = count == 0 ? "" : count == 1 ? ": 1 row" : ": \(count) rows"
    let more = count > examples.count && !examples.isEmpty ? ", …" : ""
    let places = examples.isEmpty ? "" : " (\(examples.joined(separator: "; "))\(more))"
    return "\(severity.rawValue): \(file): \(message)\(rows)\(places) [\(code)]"
  }
}
