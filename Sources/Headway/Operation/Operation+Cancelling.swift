import Synchronization

extension OperationExtensions {
  /// Calls `handler` once when the operation is cancelled, or at once if it has been.
  ///
  /// For work that cannot look at ``Operation/isCancelled`` because it waits elsewhere: the handler closes the
  /// connection, or cancels the task. Several handlers are called in the order in which they were registered.
  ///
  /// - Parameter handler: What to call, on the thread that cancels (or registers, if that is later). It may call
  ///   anything. It is let go of when it has been called, or when the operation finishes without it.
  public func onCancel(_ handler: @escaping @Sendable () -> Void) {
    let isCancelled = links.withLock { links in
      // The announcement and the cancellation are read-modify-writes of one word: either the one who cancels sees that
      // there are handlers, or this sees that it was cancelled. The same with the end.
      let word = state.announceCancellationHandler()
      guard !word.isCancelled, word.phase != .finished else { return word.isCancelled }
      links.madeDetails.cancellationHandlers.append(handler)
      return false
    }
    if isCancelled { handler() }
  }
}

extension Operation {
  /// What ``cancel()`` does.
  final func markCancelled() {
    guard let before = state.cancel() else { return }
    if before.isObserved {
      // Only waiting operations become ready by it.
      tell(
        before.phase == .pending
          ? [ObservedChange(.isCancelled, true), ObservedChange(.isReady)] : [ObservedChange(.isCancelled, true)])
    }
    if before.hasCancellationHandlers {
      let handlers = links.withLock { links in
        defer { links.details?.cancellationHandlers = [] }
        return links.details?.cancellationHandlers ?? []
      }
      for handler in handlers { handler() }
    }
    guard before.phase == .pending else { return }
    if before.isEnqueued {
      queue?.operationWasCancelled(self)
    } else if !before.isReserved, state.claimUnqueued() {
      start()
    }
    // Reserved and not yet enqueued: the queue that is taking it in sees the flag.
  }
}
