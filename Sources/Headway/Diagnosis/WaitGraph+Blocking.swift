import Synchronization

extension WaitGraph {
  /// Blocks the calling thread until `operation` has finished.
  ///
  /// If it waits for what the thread is inside of, that is reported as an event of its queue, and the wait goes on: an
  /// end from elsewhere, a cancellation or a changed limit may resolve it.
  ///
  /// - Parameters:
  ///   - operation: What to wait for.
  ///   - add: Puts the waiter into its list; false if there is nothing to wait for.
  static func block(on operation: Operation, adding add: (Waiter) -> Bool) {
    let callers = ThreadContext.operations
    for caller in callers { caller.setWaits(for: operation, nil) }
    var isReported = false
    WaiterList.block(
      checking: {
        guard !isReported else { return }
        isReported = report(from: callers, in: operation.queue) { operation.waitsForMainThread ? operation : nil }
      }, adding: add)
    for caller in callers { caller.setWaits(for: nil, nil) }
  }

  /// Blocks the calling thread until `queue` is empty.
  ///
  /// As ``block(on:adding:)-(Operation,_)``.
  ///
  /// - Parameters:
  ///   - queue: What to wait for.
  ///   - add: Puts the waiter into its list; false if there is nothing to wait for.
  static func block(on queue: OperationQueue, adding add: (Waiter) -> Bool) {
    let callers = ThreadContext.operations
    for caller in callers { caller.setWaits(for: nil, queue) }
    var isReported = false
    WaiterList.block(
      checking: {
        guard !isReported else { return }
        isReported = report(from: callers, in: queue) { queue.firstThatWaitsForMainThread }
      }, adding: add)
    for caller in callers { caller.setWaits(for: nil, nil) }
  }

  /// Suspends the calling task, which waits for `operation`.
  ///
  /// Reports a wait of an operation for itself, or for the group that it is in, as a blocking one is reported. Longer
  /// cycles are not looked for: that takes O(*n*) in the number of operations, and many tasks wait.
  ///
  /// - Parameters:
  ///   - operation: What to wait for.
  ///   - suspend: Suspends the task.
  static func suspending(on operation: Operation, _ suspend: () async throws -> Void) async rethrows {
    // What the thread went into before that goes on when the task is suspended.
    guard let caller = ThreadContext.innermostOperation, caller === operation || operation.isGroup else {
      return try await suspend()
    }
    caller.setWaits(for: operation, nil)
    defer { caller.setWaits(for: nil, nil) }
    reportUnlessCancelled(caller, in: operation.queue)
    try await suspend()
  }

  /// Suspends the calling task, which waits until `queue` is empty.
  ///
  /// As ``suspending(on:_:)-(Operation,_)``.
  ///
  /// - Parameters:
  ///   - queue: What to wait for.
  ///   - suspend: Suspends the task.
  static func suspending(on queue: OperationQueue, _ suspend: () async throws -> Void) async rethrows {
    guard let caller = ThreadContext.innermostOperation, !caller.endsWithMain, caller.queue === queue else {
      return try await suspend()
    }
    caller.setWaits(for: nil, queue)
    defer { caller.setWaits(for: nil, nil) }
    reportUnlessCancelled(caller, in: queue)
    try await suspend()
  }

  /// A task that is cancelled waits for nothing.
  private static func reportUnlessCancelled(_ caller: Operation, in queue: OperationQueue?) {
    if !Task.isCancelled { _ = report(from: [caller], in: queue) { nil } }
  }

  /// Reports a wait that nothing seen from here will end.
  ///
  /// - Parameters:
  ///   - callers: The operations that the calling thread is inside of.
  ///   - queue: The queue of what is waited for.
  ///   - findBlocked: Called on the main thread alone; finds something that is waited for and waits for that thread.
  /// - Returns: Whether there was anything to report.
  private static func report(
    from callers: [Operation], in queue: OperationQueue?, waitingForMainThread findBlocked: () -> Operation?
  ) -> Bool {
    if MainDispatchQueue.isCurrent, let blocked = findBlocked() {
      warn(
        """
        The main thread waits for \(blocked.label), which the main queue runs, on the main thread: they wait for each \
        other. Wait for it from another thread, or with await.
        """)
      (queue ?? .main).report(.waitsInCycle([blocked]))
      return true
    }
    guard !callers.isEmpty else { return false }
    let graph = WaitGraph(of: callers)
    guard let caller = callers.first(where: { graph.isStuck($0) }), let cycle = graph.cycle(from: caller) else {
      return false
    }
    (queue ?? caller.queue)?.report(.waitsInCycle(cycle))
    return true
  }
}

extension Operation {
  /// Notes that the operation, which executes, can't end before another, or before a queue is empty.
  final func setWaits(for operation: Operation?, _ queue: OperationQueue?) {
    links.withLock { links in
      guard operation != nil || queue != nil || links.details?.rarer != nil else { return }
      state.announceDetails()
      let rarer = links.madeDetails.madeRarer
      rarer.waitsFor = operation
      rarer.waitsForQueue = queue
      if operation == nil, queue == nil { rarer.withdrawnWaits += 1 }
    }
  }

  /// What the operation, which executes, is blocked on.
  final var waitsFor: (operation: Operation?, queue: OperationQueue?) {
    links.withLock { links in
      let rarer = links.details?.rarer
      return (rarer?.waitsFor, rarer?.waitsForQueue)
    }
  }

  /// How many dependencies were removed before they finished, and how often it has returned from blocking.
  final var withdrawnWaits: Int { links.withLock { $0.details?.rarer?.withdrawnWaits ?? 0 } }

  /// Whether the main queue is to run it, and has not begun.
  fileprivate final var waitsForMainThread: Bool {
    state.current.phase.isBeforeMain && queue?.runsOnMainThread == true
  }
}

extension OperationQueue {
  /// Notifies those who listen to events.
  fileprivate final func report(_ event: OperationQueueEvent) { update { state in state.record { event } } }

  /// An operation that the main queue is to run, and that has not begun.
  ///
  /// Asks the queue before its operations, of which there may be many, and whose ends are cheaper while nobody has
  /// looked for their queue.
  fileprivate final var firstThatWaitsForMainThread: Operation? {
    runsOnMainThread ? operations.first { $0.waitsForMainThread } : nil
  }

  fileprivate final var runsOnMainThread: Bool {
    state.withLock { $0.underlyingQueue }.map(MainDispatchQueue.isSame) == true
  }
}
