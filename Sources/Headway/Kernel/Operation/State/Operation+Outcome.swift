import Synchronization

extension OperationErrorProtocol {
  /// The error that ended the work: the error that ``Operation/main()`` threw, or that was recorded with
  /// ``OperationProtocol/recordError(_:)``.
  ///
  /// Only the first error is kept. The property is nil if there was none. A cancellation alone is not an error.
  @_disfavoredOverload
  public var error: OperationRecordedError? { operationRecordedError }
}

extension Operation {
  /// The error that ended the work, even if a subclass hides ``OperationErrorProtocol/error``.
  public final var operationRecordedError: (any Error)? {
    // The flag is set before the end, and the error before the flag.
    state.current.hasFailed ? links.withLock { $0.details?.pointee.error } : nil
  }
}

extension Operation {
  /// Whether the work has recorded an error: not a limit of the policy, which only requests that the work end.
  final var hasRecordedError: Bool { state.current.hasFailed && !(operationRecordedError is TimeLimitError) }
}

extension OperationProtocol {
  /// Records an error, which makes the operation fail.
  ///
  /// This method does not finish the operation: ``Operation/main()`` continues until it returns. Only the first error
  /// is kept. After the operation has finished, the method has no effect.
  ///
  /// - Parameter error: The error that made the operation fail.
  @_disfavoredOverload
  public func recordError(_ error: some Error) {
    links.withLock { links in
      guard !state.current.hasFailed else { return }
      // The operation fails or ends in one atomic step: either it fails before it ends, or the error is not recorded.
      links.detailsCreatedIfNeeded.pointee.error = error
      if !state.markFailed() { links.detailsCreatedIfNeeded.pointee.error = nil }
    }
  }

  /// The outcome of the operation, or nil if it has not finished.
  ///
  /// The outcome never changes. The outcome of a cancelled operation is ``OperationOutcome/cancelled``, even if it
  /// threw an error, which is then its ``OperationErrorProtocol/error``. There are three exceptions. If the operation
  /// was cancelled because a required dependency *failed*, the outcome is a ``OperationOutcome/failure(_:)`` with a
  /// ``DependencyError``. If that dependency was cancelled, the outcome is ``OperationOutcome/cancelled``. If the
  /// operation was cancelled because it exceeded a limit of its policy, or because it was added to a closed queue, the
  /// outcome is a failure with a ``TimeLimitError`` or a ``QueueClosedError``.
  @_disfavoredOverload
  public var outcome: OperationOutcome? {
    let word = state.current
    guard word.phase == .finished else { return nil }
    let error = error
    guard word.isCancelled else { return error.map { .failure($0) } ?? .success }
    if let error = error as? DependencyError, case .failure? = error.failedDependency.outcome { return .failure(error) }
    if let error = error as? TimeLimitError { return .failure(error) }
    if let rejection { return .failure(rejection) }
    return .cancelled
  }
}
