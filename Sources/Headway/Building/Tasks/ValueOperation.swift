/// An operation that has a value after it has succeeded.
///
/// ``OperationQueueProtocol/run(_:)-(Work)`` adds such an operation to a queue and returns its value:
///
/// ```swift
/// let page = TaskOperation { try await fetch(addresses[0]) }
/// let text = try await queue.run(page)
/// print(text)
/// ```
///
/// If your own operation has a result, make it a subclass of ``AsynchronousValueOperation``, or conform your class to
/// this protocol.
public protocol ValueOperation<Success>: Operation {
  /// The type of the value.
  associatedtype Success: Sendable

  /// The value, for a task that waits for it.
  ///
  /// Waits until the operation has finished. If the waiting task is cancelled, the wait ends and the operation
  /// continues. Begin an implementation with ``OperationProtocol/untilSucceeded()``, which waits and throws these
  /// errors.
  ///
  /// - Throws: The error that made the operation fail; a ``DependencyError`` if it did not run because a required
  ///   dependency failed; `CancellationError` if the operation or the waiting task was cancelled.
  var value: Success { get async throws }
}

extension TaskOperation: ValueOperation {}
extension AsynchronousValueOperation: ValueOperation {}

extension InvocationOperation: ValueOperation {
  /// The value that the method returned, for a task that waits for it.
  ///
  /// Waits until the operation has finished. If the waiting task is cancelled, the wait ends and the operation
  /// continues.
  ///
  /// - Throws: The error that the method threw; a ``DependencyError`` if it was not called because a required
  ///   dependency failed; `CancellationError` if the operation or the waiting task was cancelled.
  public var value: Success {
    get async throws {
      try await untilSucceeded()
      guard let result else { misuse("\(self) has succeeded without calling its method.") }
      return try result.get()
    }
  }
}

extension OperationQueueProtocol {
  /// Adds an operation, then suspends the task until it has finished.
  ///
  /// If the task is cancelled, the operation is cancelled. This method still returns only after the operation has
  /// finished.
  ///
  /// - Parameter operation: The operation to add and wait for.
  /// - Throws: The operation's error if it failed; `CancellationError` if it was cancelled.
  @_disfavoredOverload  // For an operation with a value, the overload that returns the value is preferred.
  public func run(_ operation: Operation) async throws {
    addOperation(operation)
    await withTaskCancellationHandler {
      await withPriority(raising: operation.raiseQuality) { await operation.ended() }
    } onCancel: {
      operation.cancel()
    }
    try operation.requireSuccess()
  }

  /// Adds an operation, suspends the task until it has finished, and returns its value.
  ///
  /// If the task is cancelled, the operation is cancelled. This method still returns only after the operation has
  /// finished.
  ///
  /// - Parameter operation: The operation to add and wait for.
  /// - Returns: The operation's ``ValueOperation/value``.
  /// - Throws: The operation's error if it failed; `CancellationError` if it was cancelled.
  @discardableResult
  public func run<Work: ValueOperation>(_ operation: Work) async throws -> Work.Success {
    try await run(operation as Operation)
    return try await operation.value
  }
}
