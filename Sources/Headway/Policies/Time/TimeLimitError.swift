/// The error of an operation that took longer than its policy allows.
public struct TimeLimitError: Error, Sendable, Hashable {
  /// The limit that the operation exceeded.
  public enum Code: Sendable, Hashable {
    /// ``OperationPolicy/timeout``: the time that the work may run.
    case timeout
    /// ``OperationPolicy/totalTimeout``: the time from when the operation is added until it finishes.
    case totalTimeout
  }

  /// The limit that the operation exceeded.
  public let code: Code
  /// The length of that limit.
  public let limit: Duration
  /// How long the operation had waited before it started, or before the time was up if it had not started.
  public let waitDuration: Duration
  /// How long the operation had run; nil if it had not started.
  public let runDuration: Duration?
}

extension TimeLimitError: CustomStringConvertible {
  /// A sentence that names the limit, and how long the operation waited and ran.
  public var description: String {
    let (name, waited) = (code == .timeout ? "timeout" : "total timeout", waitDuration.inMilliseconds)
    guard let ran = runDuration else { return "The \(name) of \(limit) passed before the operation started." }
    return "The \(name) of \(limit) passed: the operation waited \(waited) and ran \(ran.inMilliseconds)."
  }
}
