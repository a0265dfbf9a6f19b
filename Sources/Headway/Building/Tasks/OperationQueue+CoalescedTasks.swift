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
  /// If the call joins an operation, the function that you pass is not called, and the name, policy, and dependencies
  /// that you pass have no effect. The priority and the quality of service that you pass can only raise the operation's
  /// own.
  ///
  /// The function runs with the task-local values of the caller that added the operation. The function must not join
  /// its own operation and await the value, because it would wait for itself forever.
  ///
  /// - Parameters:
  ///   - key: The key to join by. It must contain everything that the result depends on. Keys of different queues are
  ///     independent. All calls that use a key at the same time must have the same type of value.
  ///   - coalescing: What happens if an operation with the key is waiting or running. An operation
  ///     is running from the beginning of its first attempt to the end of its last one.
  ///   - options: The name, the priority, the policy and the dependencies of the operation.
  ///   - body: The function to run.
  /// - Returns: Your share of the operation. Its ``CoalescedTask/value`` is the value that the function of the
  ///   operation returns.
  /// - Complexity: O(*n*) in the number of options, dependencies, and unfinished operations with the key.
  @discardableResult
  public func addTask<Success: Sendable>(
    coalescing key: String, by coalescing: CoalescingPolicy = .joinWaiting, _ options: OperationOption...,
    operation body: sending @escaping @isolated(any) () async throws -> Success
  ) -> CoalescedTask<Success> {
    let request = CoalescingRequest(self, key, coalescing, OperationSettings(options))
    return request.join() ?? request.add(TaskOperation(TaskBody.function(body), []))
  }
}

/// A call that adds or joins an operation with a key.
private struct CoalescingRequest {
  let queue: OperationQueue
  let keys: CoalescingKeys
  let key: String
  let coalescing: CoalescingPolicy
  let settings: OperationSettings
  let quality: QualityOfService

  init(_ queue: OperationQueue, _ key: String, _ coalescing: CoalescingPolicy, _ settings: OperationSettings) {
    require(
      !key.isEmpty, "addTask(coalescing:) of \(queue.label) with an empty key: use a key that identifies the work.")
    (self.queue, self.key, self.coalescing, self.settings) = (queue, key, coalescing, settings)
    quality = settings.qualityOfService ?? .ofCurrentTask
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

  /// Adds a new operation, unless another thread has added an operation with the key in the meantime.
  func add<Success>(_ operation: TaskOperation<Success>) -> CoalescedTask<Success> {
    let work = CoalescedWork(key, in: keys, type: Success.self)
    settings.configure(operation, work)
    let entry = keys.table.withLock { $0.register(work, operation, coalescing) }
    guard case .added(let replaced, let earlier) = entry else {
      if let joined: CoalescedTask<Success> = task(for: entry) { return joined }
      operation.cancel()
      return CoalescedTask(operation, nil, hasJoined: false)
    }
    for other in earlier { operation.addDependency(other) }
    queue.addOperation(operation)
    // If the queue is closed, it rejects the new operation. Then, the operation that it has accepted must continue.
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

  /// Raises an operation that the call has joined, so that it is at least as urgent as the call.
  private func raise(_ operation: Operation) {
    if settings.priority > operation.queuePriority { operation.queuePriority = settings.priority }
    if quality.level > 0 { Operation.raise([operation], level: quality.level) }
  }
}
