extension OperationQueueProtocol {
  /// Returns the queue as the executor of an actor.
  ///
  /// The actor must keep the queue alive.
  ///
  /// ```swift
  /// actor Journal {
  ///   private let queue = OperationQueue(name: "journal", order: .fifo)
  ///   private var lines: [String] = []
  ///
  ///   nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }
  ///
  ///   func append(_ line: String) -> Int {
  ///     lines.append(line)
  ///     return lines.count
  ///   }
  /// }
  /// ```
  ///
  /// Each part of the actor's work between two suspensions is an operation of the queue, and takes its turn among the
  /// queue's other operations. No two of them run at the same time. A suspended queue delays the actor. A blocking call
  /// in the actor delays no other part of the program. Jobs of the actor are not cancelled with the queue's operations.
  ///
  /// Inside a classic operation of the queue, synchronous code can use the actor with `assumeIsolated(_:)`. Inside a
  /// ``TaskOperation`` it can't, because several tasks can be inside such an operation at the same time.
  ///
  /// If an operation of the queue awaits the actor, it waits forever for a turn that it occupies itself. Therefore,
  /// call the actor only from outside the queue.
  ///
  /// - Precondition: The queue's ``order`` is ``QueueOrder/fifo``.
  public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    guard let executor = state.withLock({ $0.serialExecutor }) else {
      misuse("\(label) can't be the executor of an actor, since its operations may overlap: make it with order: .fifo.")
    }
    return UnownedSerialExecutor(ordinary: executor)
  }
}

/// Runs the jobs of an actor as operations of a queue.
///
/// The queue owns it. The queue itself is a `TaskExecutor`, so this class is separate. A job does not indicate whether
/// it belongs to an actor, and a job without an actor would be split where it calls another function.
final class QueueSerialExecutor: SerialExecutor {
  /// The actor keeps the queue alive as long as there are jobs.
  private unowned let queue: OperationQueue

  init(_ queue: OperationQueue) { self.queue = queue }

  func enqueue(_ job: consuming ExecutorJob) { queue.add(UnownedJob(job), on: self) }

  func isIsolatingCurrentContext() -> Bool? { ThreadContext.isRunningOperation(of: queue) }

  func checkIsolated() {
    require(
      ThreadContext.isRunningOperation(of: queue),
      "An actor that runs on \(queue.label) was assumed to be isolated by code that runs elsewhere, or concurrently.")
  }
}
