/// Something in a feed that the GTFS reference does not allow, or that is odd.
public struct FeedFinding: Sendable, Hashable, Codable {
  /// How bad it is.
  public enum Severity: String, Sendable, Hashable, Codable {
    /// The reference does not allow it.
    case error
    /// The reference allows it, and it is seldom meant.
    case warning
  }

  /// How bad it is.
  public let severity: Severity
  /// What it is, for a program: as MobilityData's validator calls it, where that has a name for it, for instance
  /// `foreign_key_violation`.
  public let code: String
  /// The file concerned.
  public let file: String
  /// What it is, for a person.
  public let message: String
  /// How many rows are so; 0 where it is about the file.
  public let count: Int
  /// Some of the rows: the number of the record, of which the header is 1, and what identifies it.
  public let examples: [String]
}

extension FeedFinding: CustomStringConvertible {
  /// One line: how bad, which file, what, how often, and some examples.
  public var description: String {
    let rows = count == 0 ? "" : count == 1 ? ": 1 row" : ": \(count) rows"
    let more = count > examples.count && !examples.isEmpty ? ", …" : ""
    let places = examples.isEmpty ? "" : " (\(examples.joined(separator: "; "))\(more))"
    return "\(severity.rawValue): \(file): \(message)\(rows)\(places) [\(code)]"
  }
}
