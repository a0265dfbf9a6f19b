import Dispatch
import Synchronization

extension KnownWait {
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

  /// Whether the wait can be for an operation, for a group that contains it, or for a queue of either.
  fileprivate func concerns(_ caller: Operation) -> Bool {
    switch goal {
    case .end(let operation), .state(let operation): caller.withGroups.contains { $0 === operation }
    case .first(let operations): caller.withGroups.contains { operations.contains($0) }
    case .empty(let queue), .place(let queue): caller.withGroups.contains { $0.queue === queue }
    case .result: false
    }
  }

  /// Whether the wait lasts until a certain operation has ended, or until a queue is empty.
  fileprivate var isForAll: Bool {
    switch goal {
    case .end, .empty: true
    case .state, .first, .place, .result: false
    }
  }

  /// An operation that the wait is for, and that must run on the main thread but has not begun.
  fileprivate var firstThatWaitsForMainThread: Operation? {
    switch goal {
    case .end(let operation): operation.waitsForMainThread ? operation : nil
    // The queue is checked before its operations. There can be many operations, and each one ends faster if no other
    // thread has read its queue.
    case .empty(let queue) where queue.runsOnMainThread: queue.operations.first { $0.waitsForMainThread }
    default: nil
    }
  }

  /// The queue whose listeners are notified if the wait can't end: the queue to wait for, or the operation's queue.
  ///
  /// Read only when needed: the operation may be added to a queue later, and ends faster if no other thread has read
  /// its queue.
  fileprivate var reportingQueue: OperationQueue? { queue ?? operations.first?.queue }

  /// A description of the object to wait for.
  var label: String {
    switch goal {
    case .end(let operation): return operation.label
    case .state(let operation): return "the next state of \(operation.label)"
    case .first(let operations):
      let others = operations.count > 1 ? " or one of \((operations.count - 1).otherOperations)" : ""
      return "\(operations.first?.label ?? "nothing")\(others)"
    case .empty(let queue): return "all operations of \(queue.label)"
    case .place(let queue): return "room in \(queue.label)"
    case .result: return "the next result"
    }
  }
}

extension WaitGraph {
  /// Reports the wait of a blocked thread if it can't end, as far as the thread can determine.
  ///
  /// - Parameters:
  ///   - wait: The wait of the calling thread.
  ///   - callers: The operations that the calling thread is inside of.
  /// - Returns: Whether there was something to report.
  static func reportIfEndless(_ wait: KnownWait, of callers: [Operation]) -> Bool {
    let queue = wait.reportingQueue
    guard MainDispatchQueue.isCurrent, let blocked = wait.firstThatWaitsForMainThread else {
      return reportCycle(through: callers, in: queue)
    }
    warn(
      """
      The main thread waits for \(blocked.label), which the main queue runs, on the main thread: they wait for each \
      other. Wait for it from another thread, or with await.
      """)
    (queue ?? .main).report(.deadlocked([blocked]))
    return true
  }

  /// Reports the wait of a task if it can't end, now or later.
  ///
  /// If the task waits for its own operation, for a group that contains it, or until the queue of either is empty, this
  /// function searches for a cycle immediately. Otherwise, a search follows later, in two cases: the wait can be for
  /// one of these operations or queues, or other operations can wait for something that the task's operation uses. See
  /// ``lookForCycle(through:in:while:after:)``.
  ///
  /// - Parameters:
  ///   - wait: The wait of the calling task.
  ///   - caller: The operation that the task belongs to.
  ///   - queue: The queue whose listeners are notified of a cycle; nil for the queue of the calling operation.
  static func watch(_ wait: KnownWait, of caller: Operation, in queue: OperationQueue?) {
    if wait.isForAll, wait.concerns(caller) {
      _ = reportCycle(through: [caller], in: queue)
    } else if caller.mayKeepOthersWaiting || wait.concerns(caller) {
      lookForCycle(through: caller, in: queue) { [weak wait] in wait != nil }
    }
  }

  /// How long a wait that blocks no thread must last before a cycle is searched for, in milliseconds.
  ///
  /// The interval doubles after each search.
  private static let firstLook = 50
  private static let longestPause = 5_000

  /// Searches for a cycle while an operation waits without blocking a thread, and reports it.
  ///
  /// Called for operations that other operations can wait for because of resources, keys, or concurrency slots, or
  /// whose wait can be for the operation itself. Each cycle through such a wait contains an operation of this kind. At
  /// increasing intervals, the search takes O(*n*) in the number of operations that the operation waits for.
  ///
  /// - Parameters:
  ///   - operation: The operation that waits.
  ///   - queue: The queue whose listeners are notified of a cycle; nil for the queue of `operation`.
  ///   - isWaiting: Returns whether the operation still waits.
  ///   - milliseconds: How long the operation must wait before the search.
  static func lookForCycle(
    through operation: Operation, in queue: OperationQueue?, while isWaiting: @escaping @Sendable () -> Bool,
    after milliseconds: Int = firstLook
  ) {
    // The operation and the queue are not retained, so they can be freed when the wait ends.
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + .milliseconds(milliseconds)) {
      [weak operation, weak queue] in
      guard isWaiting(), let operation, !reportCycle(through: [operation], in: queue) else { return }
      lookForCycle(
        through: operation, in: queue, while: isWaiting, after: min(milliseconds * 2, longestPause))
    }
  }

  /// Reports a cycle that one of the callers waits for, if there is one.
  ///
  /// - Returns: Whether there was something to report.
  private static func reportCycle(through callers: [Operation], in queue: OperationQueue?) -> Bool {
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

  /// The operation, its group, the group of that group, and so on.
  fileprivate final var withGroups: some Sequence<Operation> {
    sequence(first: self) { $0.queue?.operationOfParts }
  }

  /// Whether the operation must run on the main thread and has not begun.
  fileprivate final var waitsForMainThread: Bool {
    state.current.isBeforeMain && queue?.runsOnMainThread == true
  }
}

extension OperationQueue {
  /// Reports an event to the queue's listeners.
  fileprivate final func report(_ event: OperationQueueEvent) { update { state in state.record { event } } }

  /// Whether the queue limits how many operations run at the same time.
  fileprivate final var hasLimit: Bool { state.withLock { $0.admission.limit < .max } }

  fileprivate final var runsOnMainThread: Bool {
    state.withLock { $0.underlyingQueue }.map(MainDispatchQueue.isSame) == true
  }
}
