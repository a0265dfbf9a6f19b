/// The queue of a ``GroupOperation``.
///
/// It can be closed once it is empty and no thread is adding to it.
///
/// See `Docs/decisions/0019-groups.md`.
final class GroupQueue: ScopedOperationQueue, @unchecked Sendable {
  private struct State {
    /// How many threads are adding operations.
    var additions = 0
    /// How many additions have begun so far.
    var begunAdditions = 0
    var isClosed = false
    /// Called when no thread is adding to the queue.
    var postponedClosing: (@Sendable () -> Void)?
  }

  // Protected by its lock. Nothing is called or released under it.
  private let additions = Guarded(State())

  /// The group that this queue belongs to.
  ///
  /// Set before any other thread has a reference to the queue.
  weak var group: GroupOperation?

  override var operationOfParts: Operation? { group }

  /// Closes the queue as soon as it is empty.
  ///
  /// The queue is found empty outside the lock of the additions. It is closed only if no addition has begun since then.
  ///
  /// - Parameters:
  ///   - submit: Makes another thread check again. The thread that emptied the queue can't check again, because it must
  ///     still report that the queue is empty.
  ///   - handler: Called once, when the queue is closed, on the calling thread or a thread that `submit` requested.
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
      // A group that was cancelled or has failed can have finished at any moment. Operations that have finished are
      // ignored.
      let isIgnored = !operations.isEmpty && operations.allSatisfy { $0.state.current.endedInNoQueue }
      require(
        isOver || isIgnored,
        """
        \(operations.first?.label ?? "A barrier") was added to the group of \(label), which has finished: add it \
        before, or from inside one of its operations.
        """)
      return add()
    }
    progress.extend(byUnitCount: operations.reduce(0) { $0 + $1.knownProgressUnitCount })
    add()
    // Operations that had finished, because they were cancelled before, were ignored.
    let ignored = operations.filter { $0.queueLinks.home?.toOpaque() != Unmanaged.passUnretained(self).toOpaque() }
    progress.extend(byUnitCount: -ignored.reduce(0) { $0 + $1.knownProgressUnitCount })
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
