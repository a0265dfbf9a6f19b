extension OperationQueueProtocol {
  /// Adds an operation that runs an asynchronous function, unless an unfinished operation of the queue has the same
  /// key.
  ///
  /// ```swift
  /// let page = queue.addTask(coalescing: addresses[0]) { try await fetch(addresses[0]) }
  /// let same = queue.addTask(coalescing: addresses[0]) { try await fetch(addresses[0]) }
  /// print(try await page.value == same.value)  // One request.
  /// ```
  ///
  /// If the call joins an operation, the function that you pass is not called, and the name, policy and dependencies
  /// that you pass have no effect. The priority and the quality of service that you pass can only raise those of the
  /// operation.
  ///
  /// The function runs with the task-local values of the caller that added the operation. The function must not join
  /// its own operation and await the value, because it would wait for itself forever.
  ///
  /// - Parameters:
  ///   - key: The key. It must contain everything that the result depends on. Keys of different queues are independent.
  ///     All calls that use a key at the same time must have the same type of value.
  ///   - coalescing: What happens if an operation with the key is waiting or running.
  ///   - name: The name of the operation in descriptions and messages.
  ///   - priority: The priority among the ready operations of the queue.
  ///   - qualityOfService: How important the work is to the user. By default, it matches the priority of the current
  ///     task.
  ///   - policy: When the operation may start, how long it may take, and which resources it uses.
  ///   - dependencies: The operations that must finish first.
  ///   - requirement: The outcome that the new operation requires of the dependencies.
  ///   - body: The function to run.
  /// - Returns: Your share of the operation. Its ``CoalescedTask/value`` is the value that the function of the
  ///   operation returns.
  /// - Complexity: O(*n*) in the number of dependencies and of unfinished operations with the key.
  @discardableResult
  public func addTask<Success: Sendable>(
    coalescing key: String, _ coalescing: Coalescing = .joinWaiting, name: String? = nil,
    priority: QueuePriority = .normal, qualityOfService: QualityOfService? = nil,
    policy: OperationPolicy = OperationPolicy(), dependingOn dependencies: [Operation] = [],
    requiring requirement: DependencyRequirement = .success,
    operation body: sending @escaping @isolated(any) () async throws -> Success
  ) -> CoalescedTask<Success> {
    let request = CoalescingRequest(self, key, coalescing, priority, qualityOfService)
    if let joined: CoalescedTask<Success> = request.join() { return joined }
    let operation = TaskOperation(body)
    let work = request.prepare(operation, policy)
    operation.configure(name, priority, qualityOfService, dependencies, requirement)
    return request.add(operation, work)
  }

  /// Adds an operation that runs an asynchronous function, and runs it again if it fails, unless an unfinished
  /// operation of the queue has the same key.
  ///
  /// ```swift
  /// let page = queue.addTask(coalescing: addresses[0], retry: .exponential(maxAttemptCount: 5)) { attempt in
  ///   try await fetch(addresses[0])
  /// }
  /// ```
  ///
  /// See ``addTask(coalescing:_:name:priority:qualityOfService:policy:dependingOn:requiring:operation:)`` for keys, and
  /// ``TaskOperation/init(retry:retrying:using:_:)`` for attempts.
  ///
  /// - Parameters:
  ///   - key: The key. It must contain everything that the result depends on. Keys of different queues are independent.
  ///     All calls that use a key at the same time must have the same type of value.
  ///   - coalescing: What happens if an operation with the key is waiting or running. An operation
  ///     is running from the beginning of its first attempt to the end of its last one.
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
  /// - Returns: Your share of the operation. Its ``CoalescedTask/value`` is the value that the function of the
  ///   operation returns.
  /// - Complexity: O(*n*) in the number of dependencies and of unfinished operations with the key.
  @discardableResult
  public func addTask<Success: Sendable>(
    coalescing key: String, _ coalescing: Coalescing = .joinWaiting, name: String? = nil,
    priority: QueuePriority = .normal, qualityOfService: QualityOfService? = nil,
    policy: OperationPolicy = OperationPolicy(), retry: RetryPolicy,
    retrying isRetried: (@Sendable (any Error) -> Bool)? = nil, dependingOn dependencies: [Operation] = [],
    requiring requirement: DependencyRequirement = .success,
    operation body: sending @escaping @isolated(any) (_ attempt: Int) async throws -> Success
  ) -> CoalescedTask<Success> {
    let request = CoalescingRequest(self, key, coalescing, priority, qualityOfService)
    if let joined: CoalescedTask<Success> = request.join() { return joined }
    let operation = TaskOperation(retry: retry, retrying: isRetried, body)
    let work = request.prepare(operation, policy)
    operation.configure(name, priority, qualityOfService, dependencies, requirement)
    return request.add(operation, work)
  }
}

/// A call that adds or joins an operation with a key.
private struct CoalescingRequest {
  let queue: OperationQueue
  let keys: CoalescingKeys
  let key: String
  let coalescing: Coalescing
  let priority: QueuePriority
  let quality: QualityOfService

  init(
    _ queue: OperationQueue, _ key: String, _ coalescing: Coalescing, _ priority: QueuePriority,
    _ quality: QualityOfService?
  ) {
    require(
      !key.isEmpty, "addTask(coalescing:) of \(queue.label) with an empty key: use a key that identifies the work.")
    (self.queue, self.key, self.coalescing, self.priority) = (queue, key, coalescing, priority)
    self.quality =
      quality ?? withUnsafeCurrentTask { task in task.map { QualityOfService($0.priority) } ?? .default }
    keys = queue.state.withLock { state in
      let policies = state.policiesCreatedIfNeeded
      let keys = policies.coalescingKeys ?? CoalescingKeys()
      policies.coalescingKeys = keys
      return keys
    }
  }

  /// Joins an unfinished operation.
  ///
  /// - Returns: Nil if the caller must create an operation.
  func join<Success>() -> CoalescedTask<Success>? {
    keys.table.withLock { $0.join(key, coalescing, type: Success.self) }.flatMap { task(for: $0) }
  }

  /// Sets the policy of a new operation, and makes the operation notify the keys when it starts and ends.
  ///
  /// Called before the dependencies are added, because a required dependency that has failed ends the operation.
  func prepare<Success>(_ operation: TaskOperation<Success>, _ policy: OperationPolicy) -> CoalescedWork {
    let work = CoalescedWork(key, in: keys, type: Success.self)
    operation.policy = policy
    operation.setCoalescedWork(work)
    return work
  }

  /// Adds a new operation, unless another thread has added one with the key in the meantime.
  func add<Success>(_ operation: TaskOperation<Success>, _ work: CoalescedWork) -> CoalescedTask<Success> {
    let entry = keys.table.withLock { $0.register(work, operation, coalescing) }
    guard case .added(let replaced, let earlier) = entry else {
      if let joined: CoalescedTask<Success> = task(for: entry) { return joined }
      operation.cancel()
      return CoalescedTask(operation, nil, hasJoined: false)
    }
    for other in earlier { operation.addDependency(other) }
    queue.addOperation(operation)
    // If the queue is closed, it refuses the new operation. Then, the operation that it has accepted must continue.
    if operation.rejection == nil { Operation.cancel(together: replaced) }
    return CoalescedTask(operation, work, hasJoined: false)
  }

  private func task<Success>(for entry: CoalescingTable.Entry) -> CoalescedTask<Success>? {
    switch entry {
    case .joined(let work, let operation):
      guard let operation = operation as? TaskOperation<Success> else {
        misuse("\(operation) was shared as an operation with a value of type \(Success.self).")
      }
      raise(operation)
      return CoalescedTask(operation, work, hasJoined: true)
    case .mismatch(let other):
      misuse(
        """
        An operation with the key “\(key)” was added to \(queue.label) with a value of type \(Success.self), but an \
        unfinished operation with this key has a value of type \(other): use one key for each type of value.
        """)
    case .added, .dropped: return nil
    }
  }

  /// Makes an operation that the call has joined at least as urgent as the call.
  private func raise(_ operation: Operation) {
    if priority > operation.queuePriority { operation.queuePriority = priority }
    if quality.level > 0 { Operation.raise([operation], level: quality.level) }
  }
}
