/// The error of an operation that did not run because a required dependency did not succeed.
public struct DependencyError: Error, CustomStringConvertible {
  /// The operation that failed or was cancelled first, and caused the operations after it in the graph to be cancelled.
  public let failedDependency: Operation
  /// The error of the failed dependency, or nil if it was cancelled without an error.
  public let underlyingError: (any Error)?

  /// A sentence that names the failed dependency and its error.
  public var description: String {
    guard let underlyingError else { return "\(failedDependency.label), which was required to succeed, was cancelled" }
    return "\(failedDependency.label), which was required to succeed, failed: \(underlyingError)"
  }
}
