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
  /// that thread and the tasks that wait: ``finished()``, and the asynchronous waits for that operation, include the
  /// call. ``OperationQueue/waitUntilAllOperationsAreFinished()`` and ``Operation/waitUntilFinished()`` do not, since
  /// the call may need the thread that they block.
  ///
  /// An operation is cancelled immediately if it is made to require another one that has failed already. The first
  /// queue with a handler to which you add it reports it.
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
  /// Calls the handler of failures for an operation that has left the queue, and was counted as to be reported.
  final func reportFailure(of operation: Operation) {
    if case .failure(let error)? = operation.outcome, let onFailure {
      ReportScope.run(for: self, operation) { onFailure(operation, error) }
    }
    operation.endReport()
    endReport(ObjectIdentifier(operation))
  }
}

extension OperationQueue {
  /// The queue has refused an operation that was cancelled in no queue: one that has failed is treated as if it had
  /// failed here.
  ///
  /// Otherwise it would depend on a race whether an operation with a failing dependency is reported.
  final func noteRefused(_ operation: Operation) {
    guard let error = operation.failureOfDependency else { return }
    noteFailure(error)
    endAfterFailure()
    guard onFailure != nil, operation.claimReport() else { return }
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
  /// The error of an operation that was cancelled because one that it required to succeed has failed.
  fileprivate final var failureOfDependency: DependencyError? {
    guard let error = operationRecordedError as? DependencyError, case .failure? = error.culprit.outcome else {
      return nil
    }
    return error
  }

  /// Takes the sole right to report the failure of an operation that was cancelled in no queue, and that several may
  /// refuse.
  fileprivate final func claimReport() -> Bool {
    links.withLock { links in
      state.announceDetails()
      let rareDetails = links.detailsCreatedIfNeeded.rareDetailsCreatedIfNeeded
      defer { rareDetails.hasReport = true }
      return !rareDetails.hasReport
    }
  }

  /// What made the operation, which has finished, fail; nil if it did not, or was cancelled.
  final var failure: (any Error)? {
    guard state.current.hasFailed, case .failure(let error)? = outcome else { return nil }
    return error
  }
}
