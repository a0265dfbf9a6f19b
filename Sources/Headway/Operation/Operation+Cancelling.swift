import Synchronization

extension OperationExtensions {
  /// Calls `handler` once when the operation is cancelled, or at once if it has been.
  ///
  /// For work that cannot look at ``Operation/isCancelled`` because it waits elsewhere: the handler closes the
  /// connection, or cancels the task. Several handlers are called in the order in which they were registered. They hold
  /// up neither the operation nor its queue: one that has not started may have finished when they are called.
  ///
  /// - Parameter handler: What to call, on the thread that cancels (or registers, if that is later). It may call
  ///   anything. It is released when it has been called, or when the operation finishes without it.
  /// - Returns: A registration that can remove the handler while the operation runs. You can ignore it.
  /// - Complexity: O(1).
  @_disfavoredOverload
  @discardableResult
  public func onCancel(_ handler: @escaping @Sendable () -> Void) -> CancellationRegistration {
    var place: (handlers: CancellationHandlers, number: UInt64)?
    let isCancelled = links.withLock { links in
      // The announcement and the cancellation are read-modify-writes of one word: either the thread that cancels sees
      // that there are handlers, or this sees that it was cancelled. The same with the end.
      let word = state.announceCancellationHandler()
      guard !word.isCancelled, word.phase != .finished else { return word.isCancelled }
      let handlers = links.detailsCreatedIfNeeded.cancellationHandlers ?? CancellationHandlers()
      links.detailsCreatedIfNeeded.cancellationHandlers = handlers
      place = (handlers, handlers.append(handler))
      return false
    }
    if isCancelled { handler() }
    return CancellationRegistration(place: place)
  }
}

extension OperationQueue {
  /// Cancels operations of the queue, in this order: those that wait and of which nobody has to hear, many at once.
  final func cancel(_ operations: [Operation]) {
    var cancelled: [OperationReference] = []
    for operation in operations {
      if operation.isPlainBlock, operation.state.cancelPlainly() {
        cancelled.append(OperationReference(operation))
        if cancelled.count == Admission.mostCancelled { operationsWereCancelled(&cancelled) }
      } else {
        // What follows may run code that waits for the former.
        operationsWereCancelled(&cancelled)
        operation.cancel()
      }
    }
    operationsWereCancelled(&cancelled)
  }

  private func operationsWereCancelled(_ references: inout [OperationReference]) {
    guard !references.isEmpty else { return }
    update { state in
      for reference in references { reference._withUnsafeGuaranteedRef { state.admission.leave($0) } }
    }
    references.removeAll(keepingCapacity: true)
  }
}

extension Operation {
  /// What ``cancel()`` does.
  final func markCancelled() {
    var effects = Effects()
    guard let before = beginCancelling(leaving: &effects) else { return }
    cancelWork()
    effects.perform()
    continueCancelling(from: before)
  }

  /// Cancels several operations: first all of them, as far as that runs nothing of users', since what one leads to may
  /// wait for another.
  ///
  /// - Parameters:
  ///   - operations: The operations.
  ///   - effects: Takes what may run users' code.
  static func cancel(_ operations: [Operation], leaving effects: inout Effects) {
    let words = operations.map { $0.beginCancelling(leaving: &effects) }
    for (operation, before) in zip(operations, words) where before != nil { operation.cancelWork() }
    for (operation, before) in zip(operations, words) {
      if let before { operation.continueCancelling(from: before) }
      // For overrides: that of the superclass finds it cancelled.
      operation.cancel()
    }
  }

  /// Sets the flag, and tells the queue: what the end of the operation needs, and nothing of users'.
  ///
  /// - Parameters:
  ///   - error: Recorded in the same step, unless another was before.
  ///   - effects: Takes what may run users' code.
  /// - Returns: The word before, for ``continueCancelling(from:)``; nil if it is cancelled already, or has finished.
  final func beginCancelling(
    with error: (any Error)? = nil, leaving effects: inout Effects
  ) -> OperationWord? {
    guard isCancellable else { return nil }
    let word = if let error { cancelState(with: error) } else { state.cancel() }
    guard let before = word else { return nil }
    // Reserved and not yet enqueued: the queue that is taking it in sees the flag.
    if before.phase == .pending, before.isEnqueued {
      queue?.operationWasCancelled(self, leaving: &effects)
    }
    return before
  }

  /// Sets the flags of cancellation and failure in one step: an operation that was cancelled by others does not fail.
  private func cancelState(with error: any Error) -> OperationWord? {
    links.withLock { links in
      guard !state.current.hasFailed else { return state.cancel() }
      links.detailsCreatedIfNeeded.error = error
      let before = state.cancel(fails: true)
      // The caller has the error, too: nothing is dropped under the lock.
      if before == nil { links.detailsCreatedIfNeeded.error = nil }
      return before
    }
  }

  /// Ends an operation that is in no queue; then calls the handlers, and notifies the observers.
  final func continueCancelling(from before: OperationWord) {
    if before.phase == .pending, !before.isEnqueued, !before.isReserved, !overridesIsFinished, state.claimUnqueued() {
      endCancelled()
    }
    if before.hasCancellationHandlers {
      links.withLock { $0.details?.cancellationHandlers.take() }?.callAll()
    }
    if before.isObserved {
      var changes = [ObservedChange(.isCancelled, true)]
      // Only waiting operations become ready by it.
      if before.phase == .pending { changes.append(before.isReady ? ObservedChange(.isReady) : readinessChange) }
      notify(changes)
    }
  }
}
