import Synchronization

extension OperationQueueExtensions {
  /// What to call when an operation of the queue has failed; nil by default.
  ///
  /// It keeps the error of a block given to `addOperation { }` from being lost, since nothing else refers to that
  /// block's operation:
  ///
  /// ```swift
  /// queue.onFailure = { operation, error in print(operation, "failed:", error) }
  /// ```
  ///
  /// It is called once for each operation whose ``Operation/outcome`` is ``OperationOutcome/failure(_:)``, after it has
  /// left the queue, on the thread that ended it, with no lock held. It may call anything, and holds up nothing but
  /// that thread.
  @_disfavoredOverload
  public var onFailure: (@Sendable (Operation, any Error) -> Void)? {
    get { state.withLock { $0.failureHandler } }
    set {
      // The old one is released after the lock.
      let old = state.withLock { state in
        defer { state.failureHandler = newValue }
        return state.failureHandler
      }
      _ = old
    }
  }
}

extension OperationQueue {
  final func reportFailure(of operation: Operation, _ error: any Error) {
    if case .failure? = operation.outcome { onFailure?(operation, error) }
  }
}

extension Operation {
  /// What made the operation, which has finished, fail; nil if it did not, or was cancelled.
  final var failure: (any Error)? {
    guard state.current.hasFailed, case .failure(let error)? = outcome else { return nil }
    return error
  }
}
