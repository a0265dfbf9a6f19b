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

  /// The group whose queue it is.
  ///
  /// Set before any other thread knows the queue.
  weak var group: GroupOperation?

  override var operationOfParts: Operation? { group }

  /// Closes the queue as soon as it holds nothing.
  ///
  /// That it holds nothing is seen outside the lock of the additions; so no addition may have begun since before.
  ///
  /// - Parameters:
  ///   - submit: Has a thread look again: the one by which the queue becomes empty has still to notify of that.
  ///   - handler: Called once, when the queue is closed, on the calling thread or such a one.
  func close(
    submitting submit: @escaping @Sendable (any PoolWork) -> Void, then handler: @escaping @Sendable () -> Void
  ) {
    let closeAgain: @Sendable () -> Void = { submit(PoolBlock { self.close(submitting: submit, then: handler) }) }
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

  var isClosed: Bool { additions.withLock { $0.isClosed } }

  override func enter(_ operations: [Operation], _ add: () -> Void) {
    guard beginAddition() else {
      // What was cancelled, or failed, may have ended at any moment; and what has ended is ignored.
      let isIgnored = !operations.isEmpty && operations.allSatisfy { $0.state.current.endedInNoQueue }
      require(
        isOver || isIgnored,
        """
        \(operations.first?.label ?? "A barrier") was added to the group of \(label), which has finished: add it \
        before, or from inside one of its operations.
        """)
      return add()
    }
    progress.extend(byUnitCount: Int64(operations.count))
    add()
    // Those that had been cancelled, and so have finished, were ignored.
    let count = operations.count { $0.queueLinks.home?.toOpaque() != Unmanaged.passUnretained(self).toOpaque() }
    progress.extend(byUnitCount: -Int64(count))
    endAddition()
  }

  override func beginAddition() -> Bool {
    additions.withLock { state in
      guard !state.isClosed else { return false }
      state.additions += 1
      state.begunAdditions += 1
      return true
    }
  }

  override func endAddition() {
    let closing = additions.withLock { state -> (@Sendable () -> Void)? in
      state.additions -= 1
      guard state.additions == 0 else { return nil }
      defer { state.postponedClosing = nil }
      return state.postponedClosing
    }
    closing?()
  }
}
