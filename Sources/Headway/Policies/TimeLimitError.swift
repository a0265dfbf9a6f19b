/// An operation took longer than its policy allows.
public struct TimeLimitError: Error, Sendable, Hashable {
  /// The limit that the operation met.
  public enum Code: Sendable, Hashable {
    /// ``OperationPolicy/timeout``: the time that the work may run.
    case timeout
    /// ``OperationPolicy/totalTimeout``: the time from adding to the end.
    case totalTimeout
  }

  /// The limit that the operation met.
  public let code: Code
  /// The length of that limit.
  public let limit: Duration
  /// How long the operation had waited before it started, or until now if it has not started.
  public let waitingTime: Duration
  /// How long it had run; nil if it had not started.
  public let runningTime: Duration?
}

extension TimeLimitError: CustomStringConvertible {
  /// A sentence that says which limit was met, and where the time went.
  public var description: String {
    let limit = code == .timeout ? "timeout" : "total timeout"
    guard let runningTime else { return "The \(limit) of \(self.limit) passed before the operation started." }
    return "The \(limit) of \(self.limit) passed: the operation waited \(waitingTime) and ran \(runningTime)."
  }
}
