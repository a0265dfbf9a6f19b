extension OperationQueueProtocol {
  /// Adds an operation that runs an asynchronous function, once the queue holds fewer than ``maxOperationCount``
  /// operations.
  ///
  /// ```swift
  /// queue.maxOperationCount = 100
  /// for address in addresses {
  ///   try await queue.addTaskWhenBelowLimit { _ = try await fetch(address) }
  /// }
  /// ```
  ///
  /// The method suspends while the queue is full, like ``addOperationWhenBelowLimit(_:)-(Operation)``. It returns when
  /// the operation has been added, and does not wait for the operation to finish.
  ///
  /// - Parameters:
  ///   - name: The name of the operation in descriptions and messages.
  ///   - priority: The priority among the ready operations of the queue.
  ///   - qualityOfService: How important the work is to the user. By default, it matches the priority of the current
  ///     task.
  ///   - dependencies: The operations that must finish first. Like any operation of the queue, the new operation takes
  ///     a place while it waits for them.
  ///   - requirement: The outcome that the new operation requires of the dependencies.
  ///   - body: The function to run.
  /// - Returns: The operation. Its ``TaskOperation/value`` is the value that `body` returns.
  /// - Throws: `CancellationError` if the calling task is cancelled before a place is free. In that case, nothing was
  ///   added. ``QueueClosedError`` if the queue is closed.
  /// - Complexity: O(1) for the operation and for each dependency.
  @discardableResult
  public func addTaskWhenBelowLimit<Success: Sendable>(
    name: String? = nil, priority: QueuePriority = .normal, qualityOfService: QualityOfService? = nil,
    dependingOn dependencies: Operation..., requiring requirement: DependencyRequirement = .success,
    operation body: sending @escaping @isolated(any) () async throws -> Success
  ) async throws -> TaskOperation<Success> {
    try await addTaskWhenBelowLimit(
      name: name, priority: priority, qualityOfService: qualityOfService, dependingOn: dependencies,
      requiring: requirement, operation: body)
  }

  /// Adds an operation that runs an asynchronous function after all operations of a list, once the queue holds fewer
  /// than ``maxOperationCount`` operations.
  ///
  /// The method suspends while the queue is full, like ``addOperationWhenBelowLimit(_:)-(Operation)``. It returns when
  /// the operation has been added, and does not wait for the operation to finish.
  ///
  /// - Parameters:
  ///   - name: The name of the operation in descriptions and messages.
  ///   - priority: The priority among the ready operations of the queue.
  ///   - qualityOfService: How important the work is to the user. By default, it matches the priority of the current
  ///     task.
  ///   - dependencies: The operations that must finish first.
  ///   - requirement: The outcome that the new operation requires of the dependencies.
  ///   - body: The function to run.
  /// - Returns: The operation. Its ``TaskOperation/value`` is the value that `body` returns.
  /// - Throws: `CancellationError` if the calling task is cancelled before a place is free. In that case, nothing was
  ///   added. ``QueueClosedError`` if the queue is closed.
  /// - Complexity: O(*n*) in the number of dependencies.
  @discardableResult
  public func addTaskWhenBelowLimit<Success: Sendable>(
    name: String? = nil, priority: QueuePriority = .normal, qualityOfService: QualityOfService? = nil,
    dependingOn dependencies: [Operation], requiring requirement: DependencyRequirement = .success,
    operation body: sending @escaping @isolated(any) () async throws -> Success
  ) async throws -> TaskOperation<Success> {
    let operation = TaskOperation(body)
    operation.configure(name, priority, qualityOfService, dependencies, requirement)
    try await addOperationWhenBelowLimit(operation)
    return operation
  }
}
