/// A requirement that a feed meets if it has at least one of several files.
public struct GTFSFileRequirement: Sendable, Hashable, CustomStringConvertible {
  /// The alternative files, the usual one first.
  public var anyOf: [String]

  /// Creates a requirement.
  ///
  /// - Parameter anyOf: The alternative files, the usual one first.
  public init(anyOf: [String]) {
    self.anyOf = anyOf
  }

  /// Whether these files meet the requirement.
  ///
  /// - Parameter present: The file names in the feed.
  /// - Returns: `true` if one of ``anyOf`` is among them.
  public func isMet(by present: Set<String>) -> Bool {
    anyOf.contains { present.contains($0) }
  }

  /// The files, for a message: `calendar.txt or calendar_dates.txt`.
  public var description: String {
    anyOf.joined(separator: " or ")
  }
}
