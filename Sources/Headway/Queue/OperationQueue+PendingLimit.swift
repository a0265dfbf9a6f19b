extension OperationQueueExtensions {
  /// How many operations the queue should hold, running ones among them, before ``add(_:)-(Operation)`` waits.
  ///
  /// By default there is no limit. Other ways of adding do not wait, and may exceed it.
  ///
  /// - Precondition: It is 1 or more.
  @_disfavoredOverload
  public var pendingLimit: Int {
    get { state.withLock { $0.producers.limit } }
    set {
      require(newValue > 0, "pendingLimit of \(label) was set to \(newValue): use 1 or more.")
      update(collectingBatches: true) { $0.producers.limit = newValue }
    }
  }

  /// Adds an operation, once the queue holds fewer than ``pendingLimit``: so memory is bounded, however fast a task
  /// produces operations.
  ///
  /// ```swift
  /// let queue = OperationQueue()
  /// queue.pendingLimit = 100
  /// for address in addresses { try await queue.add(TaskOperation { _ = try await fetch(address) }) }
  /// ```
  ///
  /// Suspends while the queue is full. Callers proceed in order of arrival. While they wait, the queue's operations are
  /// raised to the priority of the task, as by ``OperationQueueExtensions/finished()``. An operation of the queue that
  /// adds to it in this way keeps its own place while it waits. If every operation waits like this, none can proceed.
  ///
  /// - Parameter operation: The operation.
  /// - Throws: `CancellationError` when the task is cancelled before there was a place: then the operation was not
  ///   added.
  /// - Precondition: As for ``OperationQueue/addOperation(_:)-(Operation)``.
  /// - Complexity: O(1).
  @_disfavoredOverload
  public func add(_ operation: Operation) async throws {
    try Task.checkCancellation()
    guard pendingLimit < .max, beginAddition() else { return addOperation(operation) }
    defer { endAddition() }
    try await withPriority(raising: raiseAll) {
      try await WaiterList.suspend(
        adding: { waiter in self.raiseAll { self.takePlace(orAdd: waiter) } },
        removing: { identifier in self.state.withLock { $0.removeProducer(identifier) } })
    }
    addOperation(operation)
    update { $0.producers.returnPlace() }
  }

  /// Adds a block as an operation of its own, once the queue holds fewer than ``pendingLimit``.
  ///
  /// Otherwise as ``add(_:)-(Operation)``.
  ///
  /// - Parameter block: What to run. What it throws is kept in that operation's ``Operation/error``, and is passed to
  ///   ``onFailure``.
  /// - Throws: `CancellationError` when the task is cancelled before there was a place.
  /// - Complexity: O(1).
  @_disfavoredOverload
  public func add(_ block: @escaping @Sendable () throws -> Void) async throws {
    try await add(BlockOperation(block: block))
  }
}

extension OperationQueue {
  /// Takes a place; or has the waiter wait for one, in which case this returns true.
  fileprivate final func takePlace(orAdd waiter: Waiter) -> Bool {
    update(collectingBatches: true) { state in
      guard !state.producers.takePlace(besides: state.admission.count) else { return false }
      state.producers.append(waiter)
      // From now on each end is seen at once: the thread of a batch says of several, when it next asks for something.
      state.admission.reclaimBatches()
      return true
    }
  }
}
