import Synchronization

extension OperationProtocol {
  /// Calls a handler once when the operation is cancelled, or immediately if it has been cancelled.
  ///
  /// Use a handler for work that can't check ``Operation/isCancelled`` because it waits for something else: the handler
  /// can close a connection or cancel a task. Handlers are called in the order of registration. They delay
  /// neither the operation nor its queue: an operation that had not started may have finished when they are called.
  ///
  /// - Parameter handler: The function to call. It runs on the thread that cancels the operation, or that registers the
  ///   handler, whichever is later. It may call anything. It is released after it has been called, or when the
  ///   operation finishes without calling it.
  /// - Returns: A registration that can remove the handler while the operation runs. You can ignore it.
  /// - Complexity: O(1).
  @_disfavoredOverload
  @discardableResult
  public func onCancel(_ handler: @escaping @Sendable () -> Void) -> CancellationRegistration {
    var place: (handlers: CancellationHandlers, number: UInt64)?
    let isCancelled = links.withLock { links in
      // The announcement and the cancellation are read-modify-write operations on one word. Either the cancelling
      // thread sees that there are handlers, or this thread sees that the operation was cancelled. The same applies to
      // the end of the operation.
      let word = state.announceCancellationHandler()
      guard !word.isCancelled, word.phase != .finished else { return word.isCancelled }
      let details = links.detailsCreatedIfNeeded
      let handlers = details.pointee.cancellationHandlers ?? CancellationHandlers()
      details.pointee.cancellationHandlers = handlers
      place = (handlers, handlers.append(handler))
      return false
    }
    if isCancelled { handler() }
    return CancellationRegistration(place: place)
  }
}

extension Operation {
  /// Implements ``cancel()``.
  final func markCancelled() {
    var effects = Effects()
    guard let before = beginCancelling(leaving: &effects) else { return }
    cancelWork()
    effects.perform()
    continueCancelling(from: before)
  }

  /// Cancels several operations.
  ///
  /// First performs, for all of them, the steps that run no user code, because user code of one operation may wait for
  /// another operation.
  ///
  /// - Parameters:
  ///   - operations: The operations to cancel.
  ///   - effects: Receives the steps that can run user code.
  static func cancel(_ operations: [Operation], leaving effects: inout Effects) {
    let words = operations.map { $0.beginCancelling(leaving: &effects) }
    for (operation, before) in zip(operations, words) where before != nil { operation.cancelWork() }
    for (operation, before) in zip(operations, words) {
      if let before { operation.continueCancelling(from: before) }
      // This calls overrides. The implementation of the superclass finds the operation cancelled.
      operation.cancel()
    }
  }

  /// Sets the flag and notifies the queue.
  ///
  /// This is all that the operation needs to finish. It runs no user code.
  ///
  /// - Parameters:
  ///   - error: The error to record in the same step, unless there already is one.
  ///   - effects: Receives the steps that can run user code.
  /// - Returns: The word before the change, for ``continueCancelling(from:)``; nil if the operation is already
  ///   cancelled or has finished.
  final func beginCancelling(
    with error: (any Error)? = nil, leaving effects: inout Effects
  ) -> OperationWord? {
    guard isCancellable else { return nil }
    let word = if let error { cancelState(with: error) } else { state.cancel() }
    guard let before = word else { return nil }
    // If the operation is reserved but not enqueued, the queue that is accepting it reads the flag.
    if before.phase == .pending, before.isEnqueued {
      queue?.operationWasCancelled(self, leaving: &effects)
    }
    return before
  }

  /// Sets the flags *cancelled* and *failed* in one step.
  ///
  /// An operation that another thread has cancelled does not fail.
  private func cancelState(with error: any Error) -> OperationWord? {
    links.withLock { links in
      guard !state.current.hasFailed else { return state.cancel() }
      links.detailsCreatedIfNeeded.pointee.error = error
      let before = state.cancel(fails: true)
      // The caller also has a reference to the error, so this releases nothing under the lock.
      if before == nil { links.detailsCreatedIfNeeded.pointee.error = nil }
      return before
    }
  }

  /// Finishes the operation if it is in no queue.
  ///
  /// Then calls the handlers and notifies the observers.
  final func continueCancelling(from before: OperationWord) {
    if before.phase == .pending, !before.isEnqueued, !before.isReserved, !overridesIsFinished, state.claimUnqueued() {
      endCancelled()
    }
    if before.hasCancellationHandlers {
      links.withLock { $0.details?.pointee.cancellationHandlers.take() }?.callAll()
    }
    if before.isObserved {
      var changes = [ObservedChange(.isCancelled, true)]
      // Only waiting operations become ready because of a cancellation.
      if before.phase == .pending { changes.append(before.isReady ? ObservedChange(.isReady) : readinessChange) }
      notify(changes)
    }
  }
}
