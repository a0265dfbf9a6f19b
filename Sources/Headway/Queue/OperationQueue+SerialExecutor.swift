extension OperationQueueExtensions {
  /// The queue as the executor of an actor, which has to keep the queue.
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
  /// What the actor does between two suspensions is an operation of the queue, in line with the queue's other
  /// operations: no two of them run at once, a suspended queue holds the actor up, and a call that blocks in it holds
  /// up no other part of the program. Jobs of the actor are not cancelled with the queue's operations.
  ///
  /// In a classic operation of the queue, `assumeIsolated(_:)` lets synchronous code use the actor. In a
  /// ``TaskOperation`` it does not, since several tasks may be inside that at once.
  ///
  /// An operation of the queue that awaits the actor waits for its own place, for ever: so call the actor from
  /// elsewhere.
  ///
  /// - Precondition: The queue's ``order`` is ``QueueOrder/fifo``.
  public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    guard let executor = state.withLock({ $0.serialExecutor }) else {
      misuse("\(label) can't be the executor of an actor, since its operations may overlap: make it with order: .fifo.")
    }
    return UnownedSerialExecutor(ordinary: executor)
  }
}

/// Runs the jobs of an actor as operations of a queue, which owns it.
///
/// Apart from the queue, which is a `TaskExecutor`: a job does not say whether it is an actor's, and one that is not
/// would be cut in two where it calls another function.
final class QueueSerialExecutor: SerialExecutor {
  /// Kept by the actor, as long as there are jobs.
  private unowned let queue: OperationQueue

  init(_ queue: OperationQueue) { self.queue = queue }

  func enqueue(_ job: consuming ExecutorJob) { queue.add(UnownedJob(job), on: self) }

  func isIsolatingCurrentContext() -> Bool? { ThreadContext.isRunningOperation(of: queue) }

  func checkIsolated() {
    require(
      ThreadContext.isRunningOperation(of: queue),
      "An actor that runs on \(queue.label) was taken to be isolated, by code that runs elsewhere, or beside others.")
  }
}
