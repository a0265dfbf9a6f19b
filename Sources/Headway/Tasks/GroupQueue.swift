/// The queue of a ``GroupOperation``: it can be closed, once it holds nothing and nothing is being added.
final class GroupQueue: ScopedOperationQueue, @unchecked Sendable {
  private struct State {
    /// How many threads are adding operations.
    var additions = 0
    /// How many have begun to, so far.
    var begunAdditions = 0
    var isClosed = false
    /// Comes back when nothing is being added.
    var postponedClosing: (@Sendable () -> Void)?
  }

  // Protected by its lock, under which nothing is called or released.
  private let additions = Guarded(State())

  /// Closes the queue as soon as it holds nothing.
  ///
  /// That it holds nothing is seen outside the lock of the additions; so no addition may have begun since before.
  ///
  /// - Parameter handler: Called once, when the queue is closed.
  func close(then handler: @escaping @Sendable () -> Void) {
    let closeAgain: @Sendable () -> Void = { self.close(then: handler) }
    while true {
      let count = additions.withLock { state -> Int? in
        if state.additions == 0 { return state.begunAdditions }
        state.postponedClosing = closeAgain
        return nil
      }
      guard let count, !callWhenEmpty(closeAgain) else { return }
      let isClosed = additions.withLock { state in
        state.isClosed = state.begunAdditions == count
        return state.isClosed
      }
      if isClosed { return handler() }
    }
  }

  override func enter(_ operations: [Operation], _ add: () -> Void) {
    let isOpen = additions.withLock { state in
      guard !state.isClosed else { return false }
      state.additions += 1
      state.begunAdditions += 1
      return true
    }
    guard isOpen else {
      // What was cancelled, or failed, may have ended at any moment.
      require(
        isOver,
        """
        \(operations.first?.label ?? "A barrier") was added to the group of \(label), which has finished: add it \
        before, or from inside one of its operations.
        """)
      return add()
    }
    progress.extend(byUnitCount: Int64(operations.count))
    add()
    let closing = additions.withLock { state -> (@Sendable () -> Void)? in
      state.additions -= 1
      guard state.additions == 0 else { return nil }
      defer { state.postponedClosing = nil }
      return state.postponedClosing
    }
    closing?()
  }
}
