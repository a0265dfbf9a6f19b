/// An object that follows the operations of a queue: the queue calls the object's methods when an operation is added,
/// starts, is retried, and finishes.
///
/// Use an instrument to connect a queue to logs, metrics, or distributed traces.
///
/// ```swift
/// import Synchronization
///
/// final class Counter: OperationQueueInstrument {
///   let failures = Atomic<Int>(0)
///
///   func didFinish(_ operation: Operation, in queue: OperationQueue) {
///     if operation.error != nil { failures.add(1, ordering: .relaxed) }
///   }
/// }
///
/// let counter = Counter()
/// queue.addInstrument(counter)
/// ```
///
/// Implement the methods that you need. The default implementations have no effect.
///
/// The queue calls the methods on the threads that do the work, with no lock held, and these threads wait until the
/// methods return. Therefore, a method must be quick and must not wait for an operation. Several threads can call the
/// same method concurrently. Jobs of tasks that use the queue as their executor are not reported.
///
/// The values that an instrument binds are available on the thread that runs a block or `main()`, and in the task of a
/// ``TaskOperation``. If several threads work for one operation, the threads that run further execution blocks, or the
/// iterations of ``OperationQueueProtocol/concurrentPerform(iterations:execute:)``, don't have these values. The
/// operations inside a ``GroupOperation`` belong to the queue of the group.
public protocol OperationQueueInstrument: AnyObject, Sendable {
  /// Called when code is about to add an operation, before the operation can start.
  ///
  /// The queue calls this method in the task or on the thread that adds the operation, so the method can read the
  /// task-local values of that code.
  ///
  /// - Parameters:
  ///   - operation: The operation that is about to be added. It has not started.
  ///   - queue: The queue that the code adds the operation to.
  func willAdd(_ operation: Operation, to queue: OperationQueue)

  /// Starts an operation, by calling `body`.
  ///
  /// A block or `main()` runs inside `body`, so it can read the task-local values that you bind around the call. An
  /// asynchronous operation can still be running when `body` returns. The method is not called for an operation that
  /// was cancelled before it started.
  ///
  /// - Parameters:
  ///   - operation: The operation that starts.
  ///   - queue: The queue that starts the operation.
  ///   - body: Starts the operation. Call it exactly once.
  func start(_ operation: Operation, in queue: OperationQueue, by body: () -> Void)

  /// Runs an attempt of an operation's asynchronous function, by calling ``OperationAttempt/run()``.
  ///
  /// The queue calls this method for each ``TaskOperation``: once, or once per attempt if the operation has a
  /// ``RetryPolicy``. The call occurs in the operation's task, so the function can read the task-local values that you
  /// bind around `attempt.run()`.
  ///
  /// - Parameter attempt: The attempt to run. Run it exactly once, and rethrow its error.
  /// - Throws: The error that the attempt throws.
  func run(_ attempt: OperationAttempt) async throws

  /// Called when an attempt of an operation has failed and the operation is about to wait for its next attempt.
  ///
  /// - Parameters:
  ///   - operation: The operation whose attempt has failed.
  ///   - attempt: The number of the attempt that failed, counting from 1.
  ///   - error: The error of the attempt.
  ///   - delay: The minimum time that the operation waits before the next attempt.
  ///   - queue: The queue that the operation belongs to.
  func willRetry(
    _ operation: Operation, afterAttempt attempt: Int, error: any Error, delay: Duration, in queue: OperationQueue)

  /// Called once when an operation that was added has finished, even if it was cancelled before it started.
  ///
  /// Code that waits for the operation continues only after this call. The operation might still be in the queue's
  /// list.
  ///
  /// - Parameters:
  ///   - operation: The operation that has finished.
  ///   - queue: The queue that the operation was added to.
  func didFinish(_ operation: Operation, in queue: OperationQueue)
}

extension OperationQueueInstrument {
  /// Does nothing.
  ///
  /// - Parameters:
  ///   - operation: Ignored.
  ///   - queue: Ignored.
  public func willAdd(_ operation: Operation, to queue: OperationQueue) {}

  /// Calls `body`.
  ///
  /// - Parameters:
  ///   - operation: Ignored.
  ///   - queue: Ignored.
  ///   - body: Starts the operation.
  public func start(_ operation: Operation, in queue: OperationQueue, by body: () -> Void) { body() }

  /// Runs the attempt.
  ///
  /// - Parameter attempt: The attempt to run.
  /// - Throws: The error that the attempt throws.
  public func run(_ attempt: OperationAttempt) async throws { try await attempt.run() }

  /// Does nothing.
  ///
  /// - Parameters:
  ///   - operation: Ignored.
  ///   - attempt: The number of the attempt that failed.
  ///   - error: The error of the attempt.
  ///   - delay: How long the operation waits.
  ///   - queue: Ignored.
  public func willRetry(
    _ operation: Operation, afterAttempt attempt: Int, error: any Error, delay: Duration, in queue: OperationQueue
  ) {}

  /// Does nothing.
  ///
  /// - Parameters:
  ///   - operation: Ignored.
  ///   - queue: Ignored.
  public func didFinish(_ operation: Operation, in queue: OperationQueue) {}
}

/// An attempt of an operation's asynchronous function, which an instrument runs.
public struct OperationAttempt: @unchecked Sendable {  // The function is called once, in the operation's task.
  /// The number of the attempt, counting from 1.
  public let number: Int
  /// The operation.
  public let operation: Operation
  /// The queue of the operation.
  public let queue: OperationQueue
  private let body: () async throws -> Void

  init(number: Int, operation: Operation, queue: OperationQueue, _ body: @escaping () async throws -> Void) {
    (self.number, self.operation, self.queue, self.body) = (number, operation, queue, body)
  }

  /// Calls the function.
  ///
  /// - Throws: The error that the function throws.
  public func run() async throws { try await body() }
}
