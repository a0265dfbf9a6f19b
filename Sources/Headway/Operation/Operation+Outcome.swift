import Synchronization

/// How an operation ended.
public enum OperationOutcome: Sendable {
  /// It ran to its end and recorded no error.
  case success
  /// ``Operation/main()`` threw, or ``Operation/fail(_:)`` was called.
  case failure(any Error)
  /// It was cancelled, before or while it ran, and recorded no error.
  case cancelled
}

extension OperationExtensions {
  /// The error that ended the work: what ``Operation/main()`` threw, or what was recorded with ``fail(_:)``.
  ///
  /// The first one is kept. Nil when there was none; a cancellation alone is no error.
  public var error: (any Error)? { links.withLock { $0.details?.error } }

  /// Records that the operation failed.
  ///
  /// Ends nothing: ``Operation/main()`` goes on until it returns. The first error recorded is kept. Without effect once
  /// the operation has finished.
  ///
  /// - Parameter error: What went wrong.
  public func fail(_ error: any Error) {
    guard state.current.phase != .finished else { return }
    links.withLock { links in
      if links.madeDetails.error == nil { links.madeDetails.error = error }
    }
  }

  /// How the operation ended, or nil while it has not.
  ///
  /// A recorded error counts before a cancellation.
  public var outcome: OperationOutcome? {
    guard isFinished else { return nil }
    if let error { return .failure(error) }
    return isCancelled ? .cancelled : .success
  }
}
