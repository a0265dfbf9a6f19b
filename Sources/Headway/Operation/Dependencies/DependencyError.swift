/// An error of an operation that did not run because one that it required to succeed did not.
public struct DependencyError: Error, CustomStringConvertible {
  /// The operation that failed or was cancelled, from which the effect ran down the graph.
  public let culprit: Operation
  /// The error of the culprit, or nil when it was cancelled without one.
  public let underlyingError: (any Error)?

  /// A sentence that names the culprit and its error.
  public var description: String {
    guard let underlyingError else { return "\(culprit.label), which was required to succeed, was cancelled" }
    return "\(culprit.label), which was required to succeed, failed: \(underlyingError)"
  }
}
