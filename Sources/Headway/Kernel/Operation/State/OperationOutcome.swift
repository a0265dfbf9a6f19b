/// How an operation ended.
public enum OperationOutcome: Sendable {
  /// The operation ran to completion and recorded no error.
  case success
  /// ``Operation/main()`` threw or ``Operation/recordError(_:)`` was called, and the operation was not cancelled; or a
  /// required dependency failed; or the operation exceeded a limit of its policy.
  case failure(any Error)
  /// The operation was cancelled before or while it ran, even if it threw an error.
  case cancelled
}
