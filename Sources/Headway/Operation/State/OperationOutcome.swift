/// How an operation ended.
public enum OperationOutcome: Sendable {
  /// It ran to its end and recorded no error.
  case success
  /// ``Operation/main()`` threw, or ``Operation/recordError(_:)`` was called, and it was not cancelled; or an operation
  /// that it required to succeed failed.
  case failure(any Error)
  /// It was cancelled, before or while it ran, whatever it threw.
  case cancelled
}
