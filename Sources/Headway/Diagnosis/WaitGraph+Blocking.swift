import Synchronization

/// A wait of a thread or a task, which its operation can't end before.
///
/// It is known to each operation that the thread is inside of, from before the wait until after it. So what it waits
/// for is there as long.
final class KnownWait: Sendable {
  /// The operation that is waited for.
  let operation: Operation?
  /// Or the queue that is to be empty.
  let queue: OperationQueue?

  fileprivate init(for operation: Operation) { (self.operation, queue) = (operation, nil) }

  fileprivate init(for queue: OperationQueue) { (operation, self.queue) = (nil, queue) }

  /// The operations that have to end before the wait does.
  var operations: [Operation] { operation.map { [$0] } ?? queue?.operations ?? [] }

  /// What is waited for, in words.
  var label: String { operation?.label ?? queue.map { "all operations of \($0.label)" } ?? "nothing" }
}

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
    let wait = KnownWait(for: operation)
    for caller in callers { caller.begin(wait) }
    // After the wait was noted: a thread that raises a caller finds the wait, or this thread finds the caller raised.
    let level = levelOfCaller
    if level > 0 {
      Operation.raise([operation], level: level)
      operation.raiseReports(level: level)
    }
    var isReported = false
    WaiterList.block(
      checking: {
        guard !isReported else { return }
        isReported = report(from: callers, in: operation.queue) { operation.waitsForMainThread ? operation : nil }
      }, adding: add)
    for caller in callers { caller.end(wait) }
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
    let wait = KnownWait(for: queue)
    for caller in callers { caller.begin(wait) }
    var isReported = false
    WaiterList.block(
      checking: {
        guard !isReported else { return }
        isReported = report(from: callers, in: queue) { queue.firstThatWaitsForMainThread }
      },
      adding: { waiter in
        let waits = add(waiter)
        if waits { queue.raiseAll(to: WorkerClass(raisingLevel: levelOfCaller)) }
        return waits
      })
    for caller in callers { caller.end(wait) }
  }

  /// Suspends the calling task, which waits for `operation`.
  ///
  /// If the task is that of `operation` itself, or of an operation in that group, this is reported as a blocking wait
  /// is. Longer cycles are not looked for: that takes O(*n*) in the number of operations, and many tasks wait.
  ///
  /// - Parameters:
  ///   - operation: What to wait for.
  ///   - suspend: Suspends the task.
  static func suspending(on operation: Operation, _ suspend: () async throws -> Void) async rethrows {
    // The thread continues the operations around the innermost one when the task is suspended.
    guard let caller = ThreadContext.innermostOperation, !caller.endsWithMain,
      caller.withGroups.contains(where: { $0 === operation })
    else { return try await suspend() }
    let wait = KnownWait(for: operation)
    caller.begin(wait)
    defer { caller.end(wait) }
    reportUnlessCancelled(caller, in: operation.queue)
    try await suspend()
  }

  /// Suspends the calling task, which waits until `queue` is empty.
  ///
  /// As ``suspending(on:_:)-(Operation,_)``, if the task is that of an operation in `queue`, or in a group in it.
  ///
  /// - Parameters:
  ///   - queue: What to wait for.
  ///   - suspend: Suspends the task.
  static func suspending(on queue: OperationQueue, _ suspend: () async throws -> Void) async rethrows {
    guard let caller = ThreadContext.innermostOperation, !caller.endsWithMain,
      caller.withGroups.contains(where: { $0.queue === queue })
    else { return try await suspend() }
    let wait = KnownWait(for: queue)
    caller.begin(wait)
    defer { caller.end(wait) }
    reportUnlessCancelled(caller, in: queue)
    try await suspend()
  }

  /// A task that is cancelled waits for nothing.
  private static func reportUnlessCancelled(_ caller: Operation, in queue: OperationQueue?) {
    if !Task.isCancelled { _ = report(from: [caller], in: queue) { nil } }
  }

  /// The level of quality of service of the most urgent operation that the calling thread runs, or of its task; 0 if
  /// they have none.
  static var levelOfCaller: Int {
    let task = withUnsafeCurrentTask { task in task.map { QualityOfService($0.priority).level } ?? 0 }
    return ThreadContext.operations.reduce(task) { level, operation in
      max(level, operation.effectiveQuality(in: operation.queue?.knownQuality ?? .default).level)
    }
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
  /// Notes that the operation, which executes, can't end before a wait in it has.
  ///
  /// Several threads and tasks may wait in it at once: its blocks, the iterations of `concurrentPerform`, child tasks.
  fileprivate final func begin(_ wait: KnownWait) {
    links.withLock { links in
      state.announceDetails()
      links.detailsCreatedIfNeeded.rareDetailsCreatedIfNeeded.waits.append(wait)
    }
  }

  /// The wait is over.
  ///
  /// The caller has a reference to it, so nothing is freed under the lock.
  fileprivate final func end(_ wait: KnownWait) {
    links.withLock { links in
      guard let rareDetails = links.details?.rareDetails else { return }
      rareDetails.waits.removeAll { $0 === wait }
      rareDetails.withdrawnWaits += 1
    }
  }

  /// The waits in the operation, which executes.
  final var waits: [KnownWait] { links.withLock { $0.details?.rareDetails?.waits ?? [] } }

  /// A thread of a low class begins calls in the operation.
  final func beginCalls(_ calls: ConcurrentIterations) {
    links.withLock { links in
      state.announceDetails()
      links.detailsCreatedIfNeeded.rareDetailsCreatedIfNeeded.calls.append(calls)
    }
  }

  /// The calls have returned.
  final func endCalls(_ calls: ConcurrentIterations) {
    links.withLock { $0.details?.rareDetails?.calls.removeAll { $0 === calls } }
  }

  /// The calls that threads of a low class have begun in the operation, and that have not returned.
  final var helpedCalls: [ConcurrentIterations] { links.withLock { $0.details?.rareDetails?.calls ?? [] } }

  /// How many dependencies were removed before they finished, and how often it has returned from blocking.
  final var withdrawnWaits: Int { links.withLock { $0.details?.rareDetails?.withdrawnWaits ?? 0 } }

  /// The operation, the group that it is in, the group that this is in, and so on.
  fileprivate final var withGroups: some Sequence<Operation> {
    sequence(first: self) { $0.queue?.operationOfParts }
  }

  /// Whether the main queue is to run it, and has not begun.
  fileprivate final var waitsForMainThread: Bool {
    state.current.isBeforeMain && queue?.runsOnMainThread == true
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
