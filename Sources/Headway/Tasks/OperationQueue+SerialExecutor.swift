/// An actor may run on a queue whose order is ``QueueOrder/fifo``.
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
/// What the actor does between two suspensions is an operation of the queue, in line with the queue's other operations:
/// no two of them run at once, a suspended queue holds the actor up, and a call that blocks in it holds up no other
/// part of the program. Jobs of the actor are not cancelled with the queue's operations.
///
/// An operation of the queue that awaits the actor waits for its own place, for ever: so call the actor from elsewhere.
extension OperationQueue: SerialExecutor {
  /// The queue as the executor of an actor, which has to keep the queue.
  ///
  /// - Precondition: The queue's ``order`` is ``QueueOrder/fifo``.
  public final func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    require(
      order == .fifo,
      "\(label) can't be the executor of an actor, since its operations may overlap: make it with order: .fifo.")
    return UnownedSerialExecutor(ordinary: self)
  }
}
