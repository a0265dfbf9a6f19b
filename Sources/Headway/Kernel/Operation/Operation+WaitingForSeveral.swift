extension OperationProtocol {
  /// Suspends the task until all operations of a list have finished, whether they succeed, fail, or are cancelled.
  ///
  /// ```swift
  /// let pages = addresses.map { address in queue.addTask { try await fetch(address) } }
  /// try await Operation.untilAllFinished(pages)
  /// print(pages.count { $0.error == nil })
  /// ```
  ///
  /// The operations can be in different queues, or in none. For each of them, this method waits like
  /// ``untilFinished()``, and raises its quality of service from the beginning. It blocks no thread. With an empty
  /// list, it returns immediately.
  ///
  /// - Parameter operations: The operations to wait for.
  /// - Throws: `CancellationError` if the waiting task is cancelled; the operations continue.
  /// - Complexity: O(*n*) in the number of operations.
  public static func untilAllFinished(_ operations: some Sequence<some Operation>) async throws {
    let operations = Array(operations)
    let raise: @Sendable (TaskPriority) -> Void = { priority in
      for operation in operations { operation.raiseQuality(to: priority) }
    }
    try await withPriority(raising: raise) {
      // The last one usually finishes last, so the task is usually suspended once.
      for operation in operations.reversed() { try await operation.untilFinished() }
    }
  }

  /// Suspends the task until an operation of a list has finished, whether it succeeds, fails, or is cancelled.
  ///
  /// ```swift
  /// let mirrors = addresses.map { address in queue.addTask { try await fetch(address) } }
  /// if let first = try await Operation.untilFirstFinished(mirrors) { print(try await first.value) }
  /// ```
  ///
  /// The method does not cancel the other operations. If several operations have already finished, it returns the first
  /// of them in the list. For the rest, it waits like ``untilFinished()``. It blocks no thread.
  ///
  /// - Parameter operations: The operations to wait for.
  /// - Returns: The operation that finished first, or nil if the list is empty.
  /// - Throws: `CancellationError` if the waiting task is cancelled; the operations continue.
  /// - Complexity: O(*n*) in the number of operations.
  public static func untilFirstFinished<Candidate: Operation>(
    _ operations: some Sequence<Candidate>
  ) async throws -> Candidate? {
    try await Self.first(of: Array(operations)) { _ in true }
  }

  /// Suspends the task until an operation of a list has succeeded.
  ///
  /// ```swift
  /// let mirrors = addresses.map { address in queue.addTask { try await fetch(address) } }
  /// let first = try await Operation.untilFirstSucceeded(mirrors)
  /// for mirror in mirrors { mirror.cancel() }  // No effect on those that have finished.
  /// print(try await first.value)
  /// ```
  ///
  /// Operations that fail or are cancelled are ignored, unless no other operation remains. The method does not cancel
  /// the other operations. If several operations have already succeeded, it returns the first of them in the list. For
  /// the rest, it waits like ``untilFinished()``. It blocks no thread.
  ///
  /// - Parameter operations: The operations to wait for.
  /// - Returns: The operation that succeeded first.
  /// - Throws: ``NoSuccessError`` if all operations have finished and none has succeeded, or if the list is empty;
  ///   `CancellationError` if the waiting task is cancelled. The operations continue after such a cancellation.
  /// - Complexity: O(*n*) in the number of operations.
  public static func untilFirstSucceeded<Candidate: Operation>(
    _ operations: some Sequence<Candidate>
  ) async throws -> Candidate {
    let operations = Array(operations)
    guard let first = try await Self.first(of: operations, where: { $0.hasSucceeded }) else {
      throw NoSuccessError(operations: operations)
    }
    return first
  }

  /// Suspends the task until an operation that meets a condition has finished, or all operations have finished.
  ///
  /// - Returns: The operation, or nil if none meets the condition.
  private static func first<Candidate: Operation>(
    of operations: [Candidate], where condition: @escaping @Sendable (Candidate) -> Bool
  ) async throws -> Candidate? {
    // The operations that have already finished, in list order.
    for operation in operations where operation.state.current.phase == .finished && condition(operation) {
      try await operation.untilFinished()
      return operation
    }
    // A child task waits for each remaining operation. Unlike other waiters, it leaves the operation's list of waiters
    // when the wait ends early.
    var first: Candidate?
    try await KnownWait.suspending(until: .first(of: operations), in: operations.first?.queue) {
      first = try await withThrowingTaskGroup(of: Candidate?.self) { group in
        for operation in operations {
          group.addTask {
            try await operation.untilFinished(as: WaiterList.nextIdentifier(), isAlone: false)
            return condition(operation) ? operation : nil
          }
        }
        defer { group.cancelAll() }
        while let finished = try await group.next() {
          if let finished { return finished }
        }
        return nil
      }
    }
    return first
  }
}

extension Operation {
  /// Whether the operation has finished, recorded no error, and was not cancelled.
  fileprivate final var hasSucceeded: Bool {
    let word = state.current
    return word.phase == .finished && !word.hasFailed && !word.isCancelled
  }
}
