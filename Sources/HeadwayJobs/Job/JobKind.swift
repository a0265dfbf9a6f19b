/// The stored name of a type of jobs.
///
/// Choose the name yourself, so that stored jobs can be run even after their type has been renamed:
///
/// ```swift
/// struct Mail: Job {
///   static let kind: JobKind = "mail"
///   func perform(in context: JobContext) async throws {}
/// }
/// ```
public struct JobKind: RawRepresentable, Hashable, Comparable, Codable, Sendable, ExpressibleByStringLiteral,
  CustomStringConvertible
{
  /// The name.
  public let rawValue: String

  /// Creates a kind from its name.
  ///
  /// - Parameter rawValue: The name, up to 512 bytes of UTF-8. It must not be empty.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Creates a kind from a literal.
  ///
  /// - Parameter value: The name, up to 512 bytes of UTF-8. It must not be empty.
  public init(stringLiteral value: String) { rawValue = value }

  /// The name.
  public var description: String { rawValue }

  /// Compares two names alphabetically.
  ///
  /// - Parameters:
  ///   - left: The kind on the left side of the operator.
  ///   - right: Another kind.
  /// - Returns: Whether the first name comes before the second.
  public static func < (left: JobKind, right: JobKind) -> Bool { left.rawValue < right.rawValue }
}
