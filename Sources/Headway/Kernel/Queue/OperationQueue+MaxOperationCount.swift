extension OperationQueueProtocol {
  /// How many operations the queue should hold, including running ones, before
  /// ``addOperationWhenBelowLimit(_:)-(Operation)`` waits.
  ///
  /// By default, there is no limit. Other methods that add operations do not wait and can exceed the limit.
  ///
  /// - Precondition: The value is 1 or more.
  @_disfavoredOverload
  public var maxOperationCount: Int {
    get { state.withLock { $0.producers.limit } }
    set {
      require(newValue > 0, "maxOperationCount of \(label) was set to \(newValue): use 1 or more.")
      update(collectingBatches: true) { $0.producers.limit = newValue }
    }
  }

  /// Adds an operation once the queue holds fewer than ``maxOperationCount`` operations.
  ///
  /// This bounds memory, no matter how fast a task produces operations.
  ///
  /// ```swift
  /// let queue = OperationQueue()
  /// queue.maxOperationCount = 100
  /// for address in addresses {
  ///   try await queue.addOperationWhenBelowLimit(TaskOperation { _ = try await fetch(address) })
  /// }
  /// ```
  ///
  /// The method suspends while the queue is full. Callers proceed in order of arrival. While they wait, the queue's
  /// operations are raised to the priority of the task, as with
  /// ``OperationQueueProtocol/untilAllOperationsAreFinished()``. An operation that calls this method on its own queue
  /// keeps its own place while it waits. If every operation waits like this, none can proceed, and the wait is reported
  /// as ``OperationQueueEvent/deadlocked(_:)``.
  ///
  /// - Parameter operation: The operation to add.
  /// - Throws: `CancellationError` if the task is cancelled before a place is free. In that case, the operation was not
  ///   added. ``QueueClosedError`` if the queue is closed, even while the method waits. In that case, the operation has
  ///   been cancelled with this error: see ``OperationQueueDynamicMembers/close``.
  /// - Precondition: The operation meets the requirements of ``OperationQueue/addOperation(_:)-(Operation)``.
  /// - Complexity: O(1).
  @_disfavoredOverload
  public func addOperationWhenBelowLimit(_ operation: Operation) async throws {
    try Task.checkCancellation()
    guard maxOperationCount < .max, beginAddition() else {
      addOperation(operation)
      return try operation.requireAcceptance()
    }
    defer { endAddition() }
    try await withPriority(raising: raiseAll) {
      try await KnownWait.suspending(until: .place(in: self), in: self) {
        try await WaiterList.suspend(
          adding: { waiter in self.raiseAll { self.takePlace(orAdd: waiter) } },
          removing: { identifier in self.state.withLock { $0.removeProducer(identifier) } })
      }
    }
    addOperation(operation)
    update { $0.producers.returnPlace() }
    try operation.requireAcceptance()
  }

  /// Adds a block as a separate operation, once the queue holds fewer than ``maxOperationCount`` operations.
  ///
  /// See ``addOperationWhenBelowLimit(_:)-(Operation)`` for details.
  ///
  /// - Parameter block: The block to run. If it throws, the operation keeps the error in ``Operation/error``, and the
  ///   queue passes it to ``failureHandler``.
  /// - Throws: `CancellationError` if the task is cancelled before a place is free; ``QueueClosedError`` if the queue
  ///   is closed.
  /// - Complexity: O(1).
  @_disfavoredOverload
  public func addOperationWhenBelowLimit(_ block: @escaping @Sendable () throws -> Void) async throws {
    try await addOperationWhenBelowLimit(BlockOperation(block: block))
  }
}

extension OperationQueue {
  /// Takes a place.
  ///
  /// If none is free, adds the waiter, which waits for one, and returns true.
  fileprivate final func takePlace(orAdd waiter: Waiter) -> Bool {
    update(collectingBatches: true) { state in
      guard !state.producers.takePlace(besides: state.admission.count) else { return false }
      state.producers.append(waiter)
      // From now on, each end must be seen immediately. The thread of a batch publishes several ends before it next
      // requests work.
      state.admission.reclaimBatches()
      return true
    }
  }
}
