/// The number of a job in its store.
///
/// A store never reuses a number.
public struct JobID: RawRepresentable, Hashable, Comparable, Codable, Sendable, CustomStringConvertible {
  /// The number.
  public let rawValue: Int64

  /// Creates an identifier from its number.
  ///
  /// - Parameter rawValue: The number.
  public init(rawValue: Int64) { self.rawValue = rawValue }

  /// The number in decimal notation.
  public var description: String { String(rawValue) }

  /// Compares two numbers.
  ///
  /// - Parameters:
  ///   - left: An identifier.
  ///   - right: Another identifier.
  /// - Returns: Whether the first job was added to the store before the second.
  public static func < (left: JobID, right: JobID) -> Bool { left.rawValue < right.rawValue }
}
