import Synchronization

extension Operation {
  /// Ends the operation, if it has not ended.
  ///
  /// Called when the work is done, on the thread that did it.
  final func finish() {
    guard let before = state.finish() else { return }
    finished(from: before)
  }

  /// All that follows the end, in this order: dependents are released, the queue is left, those who wait wake, the
  /// completion block is handed to the pool.
  ///
  /// Called once, with no lock held.
  ///
  /// - Parameter before: The state from which the operation ended.
  final func finished(from before: OperationWord) {
    // An operation that ends early still stands in the lists of what it waited for: out of there first (rule 1 of
    // Links).
    let dependencies = before.unfinishedDependencies > 0 ? unlinkDependencies() : takeDependencies()
    let ending = links.withLock { links -> Ending in
      let ready = Self.countDown(&links)
      let ending = Ending(
        ready: ready, queue: links.queue, completionBlock: links.details?.completionBlock)
      links.queue = nil
      links.details?.completionBlock = nil
      return ending
    }

    for dependent in ending.ready { dependent.tellQueueReady() }
    ending.queue?.operationFinished(self)
    if state.settle().hasWaiters {
      let waiters = links.withLock { $0.details?.waiters.removeAll() ?? [] }
      for waiter in waiters { waiter.wake() }
    }
    if before.phase != .executing { releaseWork() }
    if let block = ending.completionBlock { WorkerPool.shared.submit(block) }
    Self.release(consume dependencies)
  }

  /// What is taken out of the links at the end, to be dealt with after the lock is released.
  private struct Ending {
    let ready: [Operation]
    let queue: OperationQueue?
    let completionBlock: (@Sendable () -> Void)?
  }

  // MARK: After the end

  /// A block that runs once after the operation has finished, cancelled or not, on a thread of the pool; then it is let
  /// go of.
  ///
  /// It may be set from inside the operation. Setting it after the end has no effect but to keep it.
  public final var completionBlock: (@Sendable () -> Void)? {
    get { links.withLock { $0.details?.completionBlock } }
    set {
      // The old block is let go of after the lock is released: freeing it may run code of its owner's.
      let old = links.withLock { links in
        guard newValue != nil || links.details != nil else { return Optional<@Sendable () -> Void>.none }
        let old = links.madeDetails.completionBlock
        links.madeDetails.completionBlock = newValue
        return old
      }
      _ = old
    }
  }

  /// Blocks the calling thread until the operation has finished, has left its queue and has woken what depends on it.
  ///
  /// A waiting operation does not hold up others: the pool starts another thread in its place while this one waits.
  ///
  /// - Precondition: It is not called from inside this operation, which would wait for itself.
  public final func waitUntilFinished() {
    guard !state.current.isSettled else { return }
    require(
      !ThreadContext.isInside(self), "waitUntilFinished() on \(self) from inside it: it would wait for itself.")
    WaiterList.block { waiter in addWaiter(waiter) }
  }

  /// Suspends the task until the operation has finished.
  ///
  /// Holds no thread.
  ///
  /// - Throws: `CancellationError` when the waiting task is cancelled; the operation goes on.
  public final func finished() async throws {
    try await WaiterList.suspend(
      adding: { waiter in self.addWaiter(waiter) },
      removing: { identifier in self.links.withLock { $0.details?.waiters.remove(identifier) } })
  }

  /// Registers a waiter; false if the end has been announced already.
  private func addWaiter(_ waiter: Waiter) -> Bool {
    links.withLock { links in
      // The announcement and the end are read-modify-writes of one word: either the one who ends sees the waiter, or
      // the waiter sees the end.
      guard !state.announceWaiter().isSettled else { return false }
      links.madeDetails.waiters.append(waiter)
      return true
    }
  }
}
