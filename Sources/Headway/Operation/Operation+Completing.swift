extension Operation {
  /// The implementation of ``completionBlock``.
  final func setCompletionBlock(_ block: (@Sendable () -> Void)?) {
    // The old block is released after the lock: that may run code of its owner's.
    let old = links.withLock { links in
      guard block != nil || links.details != nil else { return Optional<@Sendable () -> Void>.none }
      // After the end it would never be called, and keep for good what it captures.
      guard state.announceLink().phase != .finished else { return nil }
      let old = links.madeDetails.completionBlock
      links.madeDetails.completionBlock = block
      return old
    }
    _ = old
    notifyIfObserved([ObservedChange(.completionBlock)])
  }
}
