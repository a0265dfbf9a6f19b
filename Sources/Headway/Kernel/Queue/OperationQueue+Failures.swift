import Synchronization

extension OperationQueueProtocol {
  /// The handler that the queue calls when one of its operations has failed.
  ///
  /// The default is nil.
  ///
  /// The handler prevents the loss of errors from blocks that you add with `addOperation { }`, because nothing else
  /// refers to the operation of such a block:
  ///
  /// ```swift
  /// queue.failureHandler = { operation, _ in print(operation) }
  /// ```
  ///
  /// The queue calls the handler once for each operation whose ``Operation/outcome`` is
  /// ``OperationOutcome/failure(_:)``, after the operation has left the queue. It calls the handler on the thread that
  /// finished the operation, with no lock held. The handler can call anything. It delays only that thread and the tasks
  /// that wait: ``untilAllOperationsAreFinished()``, and the asynchronous waits for that operation, include the call.
  /// ``OperationQueue/waitUntilAllOperationsAreFinished()`` and ``Operation/waitUntilFinished()`` do not include it,
  /// because the call may need the thread that they block.
  ///
  /// If you make an operation require another operation that has already failed, the dependent operation is cancelled
  /// immediately. If you then add it to queues, the first queue that has a handler reports it.
  @_disfavoredOverload
  public var failureHandler: (@Sendable (Operation, any Error) -> Void)? {
    get { state.withLock { $0.failureHandler } }
    set {
      // The old handler is released after the lock.
      _ = state.withLock { state in
        defer { state.failureHandler = newValue }
        return state.failureHandler
      }
    }
  }
}

extension OperationQueue {
  /// Calls the failure handler for an operation that has left the queue, and whose report was counted.
  final func reportFailure(of operation: Operation) {
    if case .failure(let error)? = operation.outcome, let failureHandler {
      ReportScope.run(for: self, operation) { failureHandler(operation, error) }
    }
    operation.endReport()
    endReport(ObjectIdentifier(operation))
  }
}

extension OperationQueue {
  /// Treats an operation that was cancelled outside a queue, and rejected by this queue, as a failure in this queue, if
  /// the operation has failed.
  ///
  /// Otherwise, a race would decide whether an operation with a failing dependency is reported.
  final func noteRefused(_ operation: Operation) {
    if let error = operation.failureOfDependency { noteFailure(ofUnlisted: operation, error) }
  }

  /// Treats an operation that is not in the lists and was cancelled with an error as if it had failed in this queue.
  ///
  /// The operation might be about to end.
  final func noteFailure(ofUnlisted operation: Operation, _ error: any Error) {
    var effects = Effects()
    noteFailure(of: operation, error, leaving: &effects)
    endAfterFailure()
    effects.perform()
    guard failureHandler != nil, operation.claimReport() else { return }
    update { $0.reports.append(operation, ObjectIdentifier(operation)) }
    operation.countReport()
    // Another thread may be about to end it.
    operation.callWhenEnded { [self] in
      let (executor, placement) = state.withLock { ($0.executor, $0.admission.placement) }
      let report = PoolBlock(for: self) { self.reportFailure(of: operation) }
      if let executor {
        executor.submit(report, count: 1)
      } else {
        WorkerPool.pool(of: placement.workerClass(of: operation)).submit(report, count: 1)
      }
    }
  }
}

extension Operation {
  /// The error of an operation that was cancelled because an operation that it required to succeed has failed.
  fileprivate final var failureOfDependency: DependencyError? {
    guard let error = operationRecordedError as? DependencyError, case .failure? = error.failedDependency.outcome else {
      return nil
    }
    return error
  }

  /// Claims the sole right to report the failure of an operation that was cancelled in no queue.
  ///
  /// Several queues may reject it.
  fileprivate final func claimReport() -> Bool {
    links.withLock { links in
      state.announceDetails()
      let rareDetails = links.detailsCreatedIfNeeded.pointee.rareDetailsCreatedIfNeeded
      defer { rareDetails.hasReport = true }
      return !rareDetails.hasReport
    }
  }

  /// The error that made the finished operation fail, or nil if it did not fail or was cancelled.
  final var failure: (any Error)? {
    guard state.current.hasFailed, case .failure(let error)? = outcome else { return nil }
    return error
  }
}
