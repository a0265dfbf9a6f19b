import Dispatch
import Synchronization

/// A wait of a thread or a task.
///
/// Its operation can't end before the wait does. Each operation that the thread is inside of has a reference to the
/// wait, from before it begins until after it ends. So the object that it waits for stays alive as long.
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
    /// The end of an operation of a queue that has reached its limit.
    case place(in: OperationQueue)
    /// A result of one of several operations; the list is empty if they are not known.
    case result(of: @Sendable () -> [Operation])
  }

  private let goal: Goal

  fileprivate init(for goal: Goal) { self.goal = goal }

  /// The operations that the thread or the task waits for and raises, except those of its ``queue``.
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

  /// Adds the operations that must end before the wait does.
  func add(to obstacles: inout AdmissionObstacles) {
    switch goal {
    case .end(let operation): obstacles.all.append(operation)
    case .state(let operation):
      // The operation becomes ready when its dependencies have finished, even if something else keeps it from starting.
      let dependencies = operation.state.current.phase == .pending ? operation.unfinishedDependencies : []
      obstacles.all += dependencies.isEmpty ? [operation] : dependencies
    case .empty(let queue): obstacles.all += queue.operations
    case .first(let operations): obstacles.any.append(operations)
    case .place(let queue): obstacles.any.append(queue.operations)
    case .result(let operations): obstacles.any.append(operations())
    }
  }

  /// Whether the wait can be for an operation, for a group that contains it, or for one of their queues.
  fileprivate func concerns(_ caller: Operation) -> Bool {
    switch goal {
    case .end(let operation), .state(let operation): caller.withGroups.contains { $0 === operation }
    case .first(let operations): caller.withGroups.contains { operations.contains($0) }
    case .empty(let queue), .place(let queue): caller.withGroups.contains { $0.queue === queue }
    case .result: false
    }
  }

  /// A description of the object to wait for.
  var label: String {
    switch goal {
    case .end(let operation): return operation.label
    case .state(let operation): return "the next state of \(operation.label)"
    case .first(let operations):
      let others = operations.count > 1 ? " or one of \(operations.count - 1) more" : ""
      return "\(operations.first?.label ?? "nothing")\(others)"
    case .empty(let queue): return "all operations of \(queue.label)"
    case .place(let queue): return "a place in \(queue.label)"
    case .result: return "the next result"
    }
  }
}

extension WaitGraph {
  /// Blocks the calling thread until `operation` has finished.
  ///
  /// If the operation waits for one that the thread is inside of, its queue reports this as an event. The wait
  /// continues: a cancellation, a changed limit, or another thread can still resolve it.
  ///
  /// - Parameters:
  ///   - operation: The operation to wait for.
  ///   - add: Adds the waiter to its list; returns false if there is nothing to wait for.
  static func block(on operation: Operation, adding add: (Waiter) -> Bool) {
    let callers = ThreadContext.operations
    let wait = KnownWait(for: .end(of: operation))
    for caller in callers { caller.begin(wait) }
    // After the wait was recorded: a thread that raises a caller finds the wait, or this thread finds the caller
    // raised.
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
  /// A wait that can't end is reported as in ``block(on:adding:)-(Operation,_)``.
  ///
  /// - Parameters:
  ///   - queue: The queue that must become empty.
  ///   - add: Adds the waiter to its list; returns false if there is nothing to wait for.
  static func block(on queue: OperationQueue, adding add: (Waiter) -> Bool) {
    let callers = ThreadContext.operations
    let wait = KnownWait(for: .empty(queue))
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
  /// If the task belongs to `operation` itself, or to an operation in that group, this is reported like a blocking
  /// wait. Longer cycles are searched for only if other operations can wait for something that the task's operation
  /// uses: see ``lookForCycle(through:in:while:after:)``.
  ///
  /// - Parameters:
  ///   - operation: The operation to wait for.
  ///   - suspend: Suspends the task.
  static func suspending(on operation: Operation, _ suspend: () async throws -> Void) async rethrows {
    guard operation.state.current.phase != .finished else { return try await suspend() }
    try await suspending(KnownWait(for: .end(of: operation)), in: operation.queue, isEndless: true, suspend)
  }

  /// Suspends the calling task, which waits until `queue` is empty.
  ///
  /// This is reported as in ``suspending(on:_:)-(Operation,_)`` if the task belongs to an operation in `queue`, or in a
  /// group in it.
  ///
  /// - Parameters:
  ///   - queue: The queue that must become empty.
  ///   - suspend: Suspends the task.
  static func suspending(on queue: OperationQueue, _ suspend: () async throws -> Void) async rethrows {
    try await suspending(KnownWait(for: .empty(queue)), in: queue, isEndless: true, suspend)
  }

  /// Suspends the calling task, which waits for an event that one of several operations can cause.
  ///
  /// A cycle is searched for if the task belongs to an operation that other operations can wait for, or to an operation
  /// in `queue`.
  ///
  /// - Parameters:
  ///   - goal: The event to wait for.
  ///   - queue: The queue whose listeners are notified of a cycle; nil for the queue of the calling operation.
  ///   - suspend: Suspends the task.
  static func suspending(
    until goal: KnownWait.Goal, in queue: OperationQueue?, _ suspend: () async throws -> Void
  ) async rethrows {
    try await suspending(KnownWait(for: goal), in: queue, isEndless: false, suspend)
  }

  private static func suspending(
    _ wait: KnownWait, in queue: OperationQueue?, isEndless: Bool, _ suspend: () async throws -> Void
  ) async rethrows {
    // When the task is suspended, the thread continues the operations around the innermost one.
    guard let caller = ThreadContext.innermostOperation, !caller.endsWithMain else { return try await suspend() }
    caller.begin(wait)
    defer { caller.end(wait) }
    // A cancelled task waits for nothing.
    if Task.isCancelled {
      // Nothing to report.
    } else if isEndless, wait.concerns(caller) {
      _ = report(from: [caller], in: queue) { nil }
    } else if caller.mayKeepOthersWaiting || wait.concerns(caller) {
      lookForCycle(through: caller, in: queue) { [weak wait] in wait != nil }
    }
    try await suspend()
  }

  /// How long a wait that blocks no thread must last before a cycle is searched for, in milliseconds.
  ///
  /// The interval doubles after each search.
  private static let firstLook = 50
  private static let longestPause = 5_000

  /// Searches for a cycle while an operation waits without blocking a thread, and reports it.
  ///
  /// Called for operations that other operations can wait for because of resources, keys or concurrency slots. Each
  /// cycle through such a wait contains one of them. At increasing intervals, the search takes O(*n*) in the number of
  /// operations that the operation waits for.
  ///
  /// - Parameters:
  ///   - operation: The operation.
  ///   - queue: The queue of the operation that it waits for.
  ///   - isWaiting: Returns whether the operation still waits.
  ///   - milliseconds: How long the operation must wait before the search.
  static func lookForCycle(
    through operation: Operation, in queue: OperationQueue?, while isWaiting: @escaping @Sendable () -> Bool,
    after milliseconds: Int = firstLook
  ) {
    // The operation and the queue are not retained, so they can be freed when the wait ends.
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + .milliseconds(milliseconds)) {
      [weak operation, weak queue] in
      guard isWaiting(), let operation, !report(from: [operation], in: queue, waitingForMainThread: { nil }) else {
        return
      }
      lookForCycle(
        through: operation, in: queue, while: isWaiting, after: min(milliseconds * 2, longestPause))
    }
  }

  /// The level of quality of service of the most urgent operation that the calling thread runs, or of its task.
  ///
  /// The level is 0 if they have none.
  static var levelOfCaller: Int {
    let task = withUnsafeCurrentTask { task in task.map { QualityOfService($0.priority).level } ?? 0 }
    return ThreadContext.operations.reduce(task) { level, operation in
      max(level, operation.effectiveQuality(in: operation.queue?.knownQuality ?? .default).level)
    }
  }

  /// Reports a wait that can't end, as far as the calling thread can determine.
  ///
  /// - Parameters:
  ///   - callers: The operations that the calling thread is inside of.
  ///   - queue: The queue of the operation to wait for, or the queue to wait for.
  ///   - findBlocked: Called only on the main thread. Returns an awaited operation that itself waits for that thread.
  /// - Returns: Whether there was something to report.
  private static func report(
    from callers: [Operation], in queue: OperationQueue?, waitingForMainThread findBlocked: () -> Operation?
  ) -> Bool {
    if MainDispatchQueue.isCurrent, let blocked = findBlocked() {
      warn(
        """
        The main thread waits for \(blocked.label), which the main queue runs, on the main thread: they wait for each \
        other. Wait for it from another thread, or with await.
        """)
      (queue ?? .main).report(.deadlocked([blocked]))
      return true
    }
    guard !callers.isEmpty else { return false }
    let graph = WaitGraph(of: callers)
    guard let caller = callers.first(where: { graph.isStuck($0) }), let cycle = graph.cycle(from: caller) else {
      return false
    }
    (queue ?? caller.queue)?.report(.deadlocked(cycle))
    return true
  }
}

extension Operation {
  /// Whether other operations can wait for something that this operation uses while it runs: a resource, a limit of its
  /// key, or a concurrency slot.
  final var mayKeepOthersWaiting: Bool {
    resourceGate != nil || laneMember != nil || queue?.hasLimit == true
  }

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

  /// The operation, its group, the group of that group, and so on.
  fileprivate final var withGroups: some Sequence<Operation> {
    sequence(first: self) { $0.queue?.operationOfParts }
  }

  /// Whether the operation must run on the main thread, and has not begun.
  fileprivate final var waitsForMainThread: Bool {
    state.current.isBeforeMain && queue?.runsOnMainThread == true
  }
}

extension OperationQueue {
  /// Reports an event to the queue's listeners.
  fileprivate final func report(_ event: OperationQueueEvent) { update { state in state.record { event } } }

  /// An operation of the queue that must run on the main thread, and has not begun.
  ///
  /// Checks the queue before its operations: there can be many of them, and an operation ends faster if no other thread
  /// has read its queue.
  fileprivate final var firstThatWaitsForMainThread: Operation? {
    runsOnMainThread ? operations.first { $0.waitsForMainThread } : nil
  }

  /// Whether the queue limits how many operations run at the same time.
  fileprivate final var hasLimit: Bool { state.withLock { $0.admission.limit < .max } }

  fileprivate final var runsOnMainThread: Bool {
    state.withLock { $0.underlyingQueue }.map(MainDispatchQueue.isSame) == true
  }
}
