/// A wait of a thread or a task.
///
/// Its operation can't end before the wait does. Each operation that the thread is inside of has a reference to the
/// wait, from before it begins until after it ends, so the object that it waits for stays alive until then. A thread
/// that is blocked raises the operations that it waits for to its own quality of service.
///
/// If the thread's operation must finish before the wait can end, the wait can't end on its own. The queue that the
/// thread waits for, or waits for an operation of, reports this as an event; without such a queue, the caller's queue
/// does. The wait continues, because a cancellation, a changed limit, or another thread can still resolve it. See
/// ``WaitGraph``.
///
/// See `Docs/decisions/0049-waits-in-the-kernel.md`.
final class KnownWait: Sendable {
  /// The event that a thread or a task waits for.
  enum Goal: Sendable {
    /// The end of an operation.
    case end(of: Operation)
    /// The next state of an operation.
    case state(of: Operation)
    /// The end of one of several operations.
    case first(of: [Operation])
    /// The end of all operations of a queue.
    case empty(OperationQueue)
    /// The end of an operation of a queue that already holds ``OperationQueueProtocol/maxOperationCount`` operations.
    case place(in: OperationQueue)
    /// A result of one of several operations; the list is empty if the operations are unknown.
    case result(of: @Sendable () -> [Operation])
  }

  let goal: Goal

  private init(for goal: Goal) { self.goal = goal }

  /// The operations that the thread or the task waits for and raises, excluding operations of ``queue``.
  var operations: [Operation] {
    switch goal {
    case .end(let operation), .state(let operation): [operation]
    case .first(let operations): operations
    case .empty, .place: []
    case .result(let operations): operations()
    }
  }

  /// The queue whose operations the thread or the task waits for, or nil.
  var queue: OperationQueue? {
    switch goal {
    case .empty(let queue), .place(let queue): queue
    case .end, .state, .first, .result: nil
    }
  }

  // MARK: Blocking

  /// Blocks the calling thread until `operation` has finished.
  ///
  /// - Parameters:
  ///   - operation: The operation to wait for.
  ///   - add: Adds the waiter to its list; returns false if there is nothing to wait for.
  static func block(on operation: Operation, adding add: (Waiter) -> Bool) {
    KnownWait(for: .end(of: operation)).block(adding: add) { level in
      guard level > 0 else { return }
      Operation.raise([operation], level: level)
      operation.raiseReports(level: level)
    }
  }

  /// Blocks the calling thread until `queue` is empty.
  ///
  /// - Parameters:
  ///   - queue: The queue that must become empty.
  ///   - add: Adds the waiter to its list; returns false if there is nothing to wait for.
  static func block(on queue: OperationQueue, adding add: (Waiter) -> Bool) {
    KnownWait(for: .empty(queue)).block(adding: add) { level in
      queue.raiseAll(to: WorkerClass(raisingLevel: level))
    }
  }

  private func block(adding add: (Waiter) -> Bool, raising raise: (Int) -> Void) {
    let callers = ThreadContext.operations
    for caller in callers { caller.begin(self) }
    var isReported = false
    WaiterList.block(
      checking: { if !isReported { isReported = WaitGraph.reportIfEndless(self, of: callers) } },
      adding: { waiter in
        guard add(waiter) else { return false }
        // After the wait was recorded: a thread that raises a caller finds the wait, or this thread finds the caller
        // raised.
        raise(ThreadContext.level)
        return true
      })
    for caller in callers { caller.end(self) }
  }

  // MARK: Suspending

  /// Suspends the calling task, which waits for `operation`.
  ///
  /// - Parameters:
  ///   - operation: The operation to wait for.
  ///   - suspend: Suspends the task.
  static func suspending(on operation: Operation, _ suspend: () async throws -> Void) async rethrows {
    guard operation.state.current.phase != .finished else { return try await suspend() }
    try await suspending(until: .end(of: operation), in: operation.queue, suspend)
  }

  /// Suspends the calling task, which waits until `queue` is empty.
  ///
  /// - Parameters:
  ///   - queue: The queue that must become empty.
  ///   - suspend: Suspends the task.
  static func suspending(on queue: OperationQueue, _ suspend: () async throws -> Void) async rethrows {
    try await suspending(until: .empty(queue), in: queue, suspend)
  }

  /// Suspends the calling task, which waits for an event.
  ///
  /// - Parameters:
  ///   - goal: The event to wait for.
  ///   - queue: The queue whose listeners are notified of a cycle; nil for the queue of the calling operation.
  ///   - suspend: Suspends the task.
  static func suspending(
    until goal: Goal, in queue: OperationQueue?, _ suspend: () async throws -> Void
  ) async rethrows {
    // When the task is suspended, the thread continues the operations around the innermost one.
    guard let caller = ThreadContext.innermostOperation, !caller.endsWithMain else { return try await suspend() }
    let wait = KnownWait(for: goal)
    caller.begin(wait)
    defer { caller.end(wait) }
    // Most waits of a cancelled task end immediately, so no cycle is searched for.
    if !Task.isCancelled { WaitGraph.watch(wait, of: caller, in: queue) }
    try await suspend()
  }
}

extension Operation {
  /// Records that the operation, which is executing, can't end before a wait in it does.
  ///
  /// Several threads and tasks can wait in it at the same time: its blocks, the iterations of `concurrentPerform`, and
  /// child tasks.
  fileprivate final func begin(_ wait: KnownWait) {
    links.withLock { links in
      state.announceDetails()
      links.detailsCreatedIfNeeded.pointee.rareDetailsCreatedIfNeeded.waits.append(wait)
    }
  }

  /// Removes a wait that has ended.
  ///
  /// The caller has a reference to it, so no object is freed under the lock.
  fileprivate final func end(_ wait: KnownWait) {
    links.withLock { links in
      guard let rareDetails = links.details?.pointee.rareDetails else { return }
      rareDetails.waits.removeAll { $0 === wait }
      rareDetails.withdrawnWaits += 1
    }
  }

  /// The current waits in the operation, which is executing.
  final var waits: [KnownWait] { links.withLock { $0.details?.pointee.rareDetails?.waits ?? [] } }

  /// How many dependencies were removed before they finished, and how often a wait in the operation has ended.
  final var withdrawnWaits: Int { links.withLock { $0.details?.pointee.rareDetails?.withdrawnWaits ?? 0 } }
}

extension ThreadContext {
  /// The level of quality of service of the most urgent operation that the calling thread runs, or of its task.
  ///
  /// The level is 0 if they have none.
  static var level: Int {
    let task = withUnsafeCurrentTask { task in task.map { QualityOfService($0.priority).level } ?? 0 }
    return operations.reduce(task) { level, operation in
      max(level, operation.effectiveQuality(in: operation.queue?.knownQuality ?? .default).level)
    }
  }
}
