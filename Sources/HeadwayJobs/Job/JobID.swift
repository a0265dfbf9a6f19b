/// The number of a job in its store.
///
/// A store never reuses a number.
public struct JobID: RawRepresentable, Hashable, Comparable, Codable, Sendable, CustomStringConvertible {
  /// The number.
  public let rawValue: Int64

  /// Creates an identifier from its number.
  ///
  /// - Parameter rawValue: The number of the job, which increases with each job that is added to the store.
  public init(rawValue: Int64) { self.rawValue = rawValue }

  /// The number in decimal notation.
  public var description: String { String(rawValue) }

  /// Compares two numbers.
  ///
  /// - Parameters:
  ///   - left: The identifier on the left side of the operator.
  ///   - right: Another identifier.
  /// - Returns: Whether the first job was added to the store before the second.
  public static func < (left: JobID, right: JobID) -> Bool { left.rawValue < right.rawValue }
}
