extension OperationQueueProtocol {
  /// Adds an operation that runs an asynchronous function, has a policy, and returns a value.
  ///
  /// ```swift
  /// let page = queue.addTask(policy: OperationPolicy(timeout: .seconds(10))) { try await fetch(addresses[0]) }
  /// ```
  ///
  /// - Parameters:
  ///   - name: The name of the operation in descriptions and messages.
  ///   - priority: The priority among the ready operations of the queue.
  ///   - qualityOfService: How important the work is to the user. By default, it matches the priority of the current
  ///     task.
  ///   - policy: When the operation may start, how long it may take, and which resources it uses.
  ///   - dependencies: The operations that must finish first.
  ///   - requirement: The outcome that the new operation requires of the dependencies.
  ///   - body: The function to run.
  /// - Returns: The operation. Its ``TaskOperation/value`` is the value that `body` returns.
  /// - Complexity: O(*n*) in the number of dependencies.
  @discardableResult
  public func addTask<Success: Sendable>(
    name: String? = nil, priority: QueuePriority = .normal, qualityOfService: QualityOfService? = nil,
    policy: OperationPolicy, dependingOn dependencies: [Operation] = [],
    requiring requirement: DependencyRequirement = .success,
    operation body: sending @escaping @isolated(any) () async throws -> Success
  ) -> TaskOperation<Success> {
    let operation = TaskOperation(body)
    // First, because a dependency that has failed ends the operation.
    operation.policy = policy
    operation.configure(name, priority, qualityOfService, dependencies, requirement)
    addOperation(operation)
    return operation
  }

  /// Adds an operation that runs an asynchronous function, runs it again if it fails, and returns a value.
  ///
  /// ```swift
  /// let page = queue.addTask(retry: .exponential(maxAttemptCount: 5)) { attempt in
  ///   try await fetch(addresses[0])
  /// }
  /// ```
  ///
  /// See ``TaskOperation/init(retry:retrying:using:_:)`` for details.
  ///
  /// - Parameters:
  ///   - name: The name of the operation in descriptions and messages.
  ///   - priority: The priority among the ready operations of the queue.
  ///   - qualityOfService: How important the work is to the user. By default, it matches the priority of the current
  ///     task.
  ///   - policy: When the operation may start, how long it and each attempt may take, and which resources it uses.
  ///   - retry: How often the function is repeated, and how long the pauses are.
  ///   - isRetried: Returns whether an error is worth another attempt.
  ///   - dependencies: The operations that must finish first.
  ///   - requirement: The outcome that the new operation requires of the dependencies.
  ///   - body: The function to run. It receives the number of the attempt, from 1.
  /// - Returns: The operation. Its ``TaskOperation/value`` is the value that `body` returns.
  /// - Complexity: O(*n*) in the number of dependencies.
  @discardableResult
  public func addTask<Success: Sendable>(
    name: String? = nil, priority: QueuePriority = .normal, qualityOfService: QualityOfService? = nil,
    policy: OperationPolicy = OperationPolicy(), retry: RetryPolicy,
    retrying isRetried: (@Sendable (any Error) -> Bool)? = nil, dependingOn dependencies: [Operation] = [],
    requiring requirement: DependencyRequirement = .success,
    operation body: sending @escaping @isolated(any) (_ attempt: Int) async throws -> Success
  ) -> TaskOperation<Success> {
    let operation = TaskOperation(retry: retry, retrying: isRetried, body)
    // First, because a dependency that has failed ends the operation.
    operation.policy = policy
    operation.configure(name, priority, qualityOfService, dependencies, requirement)
    addOperation(operation)
    return operation
  }
}
