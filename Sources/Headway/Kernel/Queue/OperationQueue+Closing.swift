import Synchronization

extension OperationQueueProtocol {
  /// Whether the queue has been closed, and therefore no longer accepts operations.
  @_disfavoredOverload
  public var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Closes the queue, gives its operations a limited time to finish, and then cancels the rest.
  ///
  /// Use this method when a program, or part of it, ends:
  ///
  /// ```swift
  /// let report = await queue.drain(within: .seconds(10))
  /// if !report.isComplete { print(report) }
  /// ```
  ///
  /// The method closes the queue as ``OperationQueueDynamicMembers/close`` does. Running and waiting operations
  /// continue. When all operations have finished and their failures have been reported, the method returns. If some
  /// have not finished when the time is up, the method calls ``OperationQueue/cancelAllOperations()`` and returns
  /// immediately. No waiting operation starts. The method does not wait for running operations to react to the
  /// cancellation. To give them time to finish, call the method again:
  ///
  /// ```swift
  /// var report = await queue.drain(within: .seconds(10))
  /// if !report.isComplete { report = await queue.drain(within: .seconds(1)) }
  /// ```
  ///
  /// While the queue is suspended or its limit is 0, waiting operations do not start, and are cancelled when the time
  /// is up. If the calling task is cancelled, the method behaves as if the time were up. If an operation of the queue
  /// calls the method, it can't finish before the method returns, so the method waits for the whole time and also
  /// cancels that operation. The method blocks no thread. Several tasks can drain a queue at the same time.
  ///
  /// - Parameters:
  ///   - limit: How long to wait. With a limit of zero or less, the operations are cancelled immediately.
  ///   - clock: The clock that measures the time.
  /// - Returns: How many operations have finished, how many were cancelled, and which of these are still running.
  /// - Precondition: The queue is not ``OperationQueue/main``.
  /// - Complexity: O(*n*) in the number of operations in the queue.
  @_disfavoredOverload
  public func drain<ClockType: Clock>(
    within limit: Duration, clock: ClockType = ContinuousClock()
  ) async -> DrainReport where ClockType.Duration == Duration {
    // More than a century makes no difference, and could overflow.
    let deadline = clock.now.advanced(by: min(limit, .seconds(100 * 365 * 86_400)))
    beginClosing()
    let count = cancellableCount
    // Otherwise, operations could start before the sleeping task has begun.
    guard limit > .zero else { return cancelRest(of: count) }
    let includesReports = ReportScope.isAwaited(of: self)
    await withTaskGroup(of: Void.self) { group in
      group.addTask { try? await self.untilEmpty(includingReports: includesReports) }
      group.addTask { try? await clock.sleep(until: deadline, tolerance: nil) }
      _ = await group.next()
      group.cancelAll()
    }
    return cancelRest(of: count)
  }
}

extension OperationQueue {
  private static let hasWarned = Atomic(false)

  /// Closes the queue.
  ///
  /// The first update stops serving the inbox and accepts all operations that were pushed earlier. A thread that found
  /// earlier that the inbox is served can still push an operation. Its addition has not returned, because the thread
  /// acquires the queue's lock after the push. As a result, the second update can begin to reject the operations in the
  /// inbox.
  final func beginClosing() {
    require(!isMain, "The main queue was closed: it belongs to the whole process, so close another queue.")
    update { state in
      state.isClosed = true
      state.producers.isClosed = true
    }
    update { $0.rejectsInbox = true }
  }

  /// How many operations the queue holds, except the jobs of tasks.
  fileprivate final var cancellableCount: Int {
    let (made, blockCount) = update(collectingBatches: true) { state in
      (state.admission.madeOperations, state.admission.waitingBlocks.count)
    }
    return made.count { $0.isCancellable } + blockCount
  }

  /// Cancels the operations that remain after a drain.
  ///
  /// - Parameter count: How many operations the queue held when the drain began.
  /// - Returns: The counts, and the operations that are still running.
  fileprivate final func cancelRest(of count: Int) -> DrainReport {
    var effects = Effects()
    let rest = stop(leaving: &effects)
    effects.perform()
    let running = rest.operations.filter { $0.state.current.isRunning }
    if !rest.operations.isEmpty { cancelAllOperations() }
    rest.finish()
    let cancelledCount =
      rest.blockCount
      + rest.operations.count { operation in
        let word = operation.state.current
        return word.phase != .finished || word.isCancelled
      }
    return DrainReport(
      finishedCount: count - cancelledCount, cancelledCount: cancelledCount,
      runningOperationDescriptions: running.filter { $0.state.current.phase != .finished }.map { $0.description })
  }

  // MARK: Operations that are added to the closed queue

  /// Finishes an operation that was reserved and then not accepted because the queue is closed.
  ///
  /// Takes over its ownership. Called with no lock held.
  final func reject(_ reference: OperationReference) {
    let operation = reference.takeRetainedValue()
    reject(operation)
  }

  /// Finishes an operation that was taken out of the inbox and not accepted, if it has not ended, and releases it.
  ///
  /// Called with no lock held.
  final func releaseRefused(_ reference: OperationReference) {
    let operation = reference.takeRetainedValue()
    if operation.state.current.phase == .pending { reject(operation) }
  }

  final func reject(_ operation: Operation) {
    let isEnqueued = operation.state.current.isEnqueued
    // A group counts the operations whose queue is its own.
    if !isEnqueued { operation.queueLinks.home = nil }
    let error = QueueClosedError(queue: self, rejecting: operation)
    var effects = Effects()
    let before = operation.beginCancelling(with: error, leaving: &effects)
    if failureHandler == nil {
      warnOnce(
        """
        \(operation.label) was added to \(label), which is closed, so it was cancelled. To be notified, set the \
        queue's failureHandler.
        """, since: Self.hasWarned)
    }
    // If it was enqueued, its end is reported as usual.
    if !isEnqueued, operation.rejection != nil { noteFailure(ofUnlisted: operation, error) }
    if before != nil { operation.cancelWork() }
    effects.perform()
    endRejected(operation, isListed: isEnqueued)
    guard let before else { return }
    operation.continueCancelling(from: before)
    // This calls overrides. The implementation of the superclass finds the operation cancelled.
    operation.cancel()
  }

  private func endRejected(_ operation: Operation, isListed: Bool) {
    let isClaimed = operation.state.claimRejected()
    guard isClaimed, operation.hasCodeForCancelled else {
      if isClaimed { operation.endCancelled() }
      if !isListed { operation.note(.finishedUnlisted, in: self) }
      return
    }
    // Runs where the queue would run it. It needs no concurrency slot, and a suspension does not delay it.
    let start = PoolBlock(for: self) { ThreadContext.run(operation, in: self) { operation.startInQueue() } }
    if !isListed { operation.note(.finishedUnlisted, in: self) }
    submit(start, of: operation)
  }
}
