import Synchronization

extension OperationErrorExtensions {
  /// The error that ended the work: what ``Operation/main()`` threw, or what was recorded with
  /// ``OperationExtensions/recordError(_:)``.
  ///
  /// The first one is kept. Nil when there was none; a cancellation alone is no error.
  @_disfavoredOverload
  public var error: OperationRecordedError? { operationRecordedError }
}

extension Operation {
  /// The error that ended the work, even if a subclass hides ``OperationErrorExtensions/error``.
  public final var operationRecordedError: (any Error)? {
    // The flag is set before the end, and the error before the flag.
    state.current.hasFailed ? links.withLock { $0.details?.error } : nil
  }
}

extension OperationExtensions {
  /// Records that the operation failed.
  ///
  /// Ends nothing: ``Operation/main()`` goes on until it returns. The first error recorded is kept. Without effect once
  /// the operation has finished.
  ///
  /// - Parameter error: What went wrong.
  @_disfavoredOverload
  public func recordError(_ error: some Error) {
    links.withLock { links in
      guard !state.current.hasFailed else { return }
      // One step with the end: either the end comes after the error, or the error is not recorded.
      links.detailsCreatedIfNeeded.error = error
      if !state.markFailed() { links.detailsCreatedIfNeeded.error = nil }
    }
  }

  /// How the operation ended, or nil while it has not.
  ///
  /// Once it is there, it does not change. An operation that was cancelled is ``OperationOutcome/cancelled``, whatever
  /// it threw, which is its ``OperationErrorExtensions/error``. One that was cancelled because an operation that it
  /// required to succeed *failed* is a ``OperationOutcome/failure(_:)`` with a ``DependencyError``; if that operation
  /// was cancelled, it is ``OperationOutcome/cancelled`` as well.
  @_disfavoredOverload
  public var outcome: OperationOutcome? {
    let word = state.current
    guard word.phase == .finished else { return nil }
    let error = error
    guard word.isCancelled else { return error.map { .failure($0) } ?? .success }
    if let error = error as? DependencyError, case .failure? = error.culprit.outcome { return .failure(error) }
    return .cancelled
  }
}
