import CHeadway
import Synchronization

extension OperationExtensions {
  /// Suspends the task until the operation has finished.
  ///
  /// Holds no thread.
  ///
  /// - Throws: `CancellationError` when the waiting task is cancelled; the operation goes on.
  public func finished() async throws {
    try await WaiterList.suspend(
      adding: { waiter in self.addWaiter(waiter) },
      removing: { identifier in self.links.withLock { $0.details?.waiters.remove(identifier) } })
  }
}

extension Operation {
  /// Ends the operation, if it has not ended.
  ///
  /// Called when the work is done, on the thread that did it.
  final func end() {
    guard let before = state.finish() else { return }
    ended(from: before)
  }

  /// All that follows the end: observers are told, and then everybody else.
  ///
  /// Called once, with no lock held.
  ///
  /// - Parameter before: The state from which the operation ended.
  final func ended(from before: OperationWord) {
    guard before.isObserved, let observers = links.withLock({ $0.details?.observers }) else {
      return conclude(from: before)
    }
    // What led here another thread may be about to tell; it must come first, and is not told twice.
    if before.isCancelled { observers.append(ObservedChange(.isCancelled, true)) }
    if !before.isReady { observers.append(ObservedChange(.isReady)) }
    if before.phase == .executing {
      if !before.announcesExecuting { observers.append(ObservedChange(.isExecuting, true)) }
      observers.append(ObservedChange(.isExecuting, false))
    }
    observers.append(ObservedChange(.isFinished, true))
    // Also when another thread is telling them something at this moment: then that one concludes.
    observers.append { self.conclude(from: before) }
    observers.tell(of: self)
  }

  /// In this order: those that required success are cancelled if it was none, dependents are released, the queue is
  /// left, those who wait wake, the completion block is handed to the pool.
  private func conclude(from before: OperationWord) {
    if links.withLock({ $0.details?.successDependents.isEmpty }) == false {
      cancelSuccessDependents { self.settle(from: before) }
    } else {
      settle(from: before)
    }
  }

  private func settle(from before: OperationWord) {
    // An operation that ends early still stands in the lists of what it waited for: out of there first (rule 1 of
    // Links).
    let early = before.unfinishedDependencies > 0 ? unlinkDependencies() : []
    let ending = links.withLock { Ending(closing: &$0, of: self, endedFrom: before) }
    // Until it has left it, the queue that holds the operation owns itself.
    let queue = before.isEnqueued ? queueLinks.home?.takeUnretainedValue() : nil
    ending.ready.forEach { Self.tellReady($0) }
    queue?.operationFinished(self)
    wakeWaiters(settledFrom: state.settle())
    if before.phase != .executing { releaseWork() }
    ending.tidyUp(queue?.executor)
    Self.release(early)
  }

  fileprivate final func wakeWaiters(settledFrom before: OperationWord) {
    guard before.hasWaiters else { return }
    let waiters = links.withLock { $0.details?.waiters.removeAll() ?? [] }
    for waiter in waiters { waiter.wake() }
  }

  // MARK: In a run

  /// Ends an operation that `run` has run, on the thread to which the run belongs.
  ///
  /// As ``end()``; but the queue hears of it when it next looks at the run.
  ///
  /// - Parameters:
  ///   - run: The run.
  ///   - isRetained: The caller has retained the operation. Otherwise it may have been freed when this returns.
  ///   - goesOn: The thread may go on with what becomes ready.
  ///   - tellReady: Called with each operation that became ready and of which its queue has to hear at once; it takes
  ///     over the ownership.
  /// - Returns: The operation with which the thread goes on, retained; it has begun, and the queue has not heard of it.
  final func end(
    in run: OperationRun, isRetained: Bool, goesOn: Bool, tellReady: (OperationReference) -> Void = Operation.tellReady
  ) -> OperationReference? {
    let reference = OperationReference(self)
    // From then on, whoever looks at the queue may let go of the operation.
    if state.finishPlainly() {
      run.publish(reference)
      return nil
    }
    guard let before = state.finish() else { return nil }
    guard !before.isObserved else {
      run.withdraw()
      ended(from: before)
      return nil
    }
    let ending = links.withLock { links in
      links.details?.successDependents.isEmpty == false ? nil : Ending(closing: &links, of: self, endedFrom: before)
    }
    guard let ending else {
      run.withdraw()
      conclude(from: before)
      return nil
    }
    // The queue may let go of the operation as soon as that is settled, which is before this is over.
    if !isRetained { _ = reference.retain() }
    defer { if !isRetained { reference.release() } }
    let word = state.settle()
    run.publish(reference)
    var next = ending.ready.only
    if !goesOn || next?._withUnsafeGuaranteedRef({ run.goOn(with: $0) }) != true {
      next = nil
      ending.ready.forEach { if !run.takeReady($0) { tellReady($0) } }
    }
    wakeWaiters(settledFrom: word)
    ending.tidyUp(run.executor)
    return next
  }

  /// What is taken out of the links at the end, to be dealt with after the lock is released.
  private struct Ending {
    let ready: ReadyDependents
    /// They are retained, and have finished and so let go of theirs: to let go of them is no recursion.
    let dependencies: IdentityList
    let details: Details?

    /// What few operations have.
    struct Details {
      let completionBlock: (@Sendable () -> Void)?
      let observers: ObserverList?
      let cancellationHandlers: [@Sendable () -> Void]
    }

    init(closing links: inout Links, of operation: Operation, endedFrom before: OperationWord) {
      ready = Operation.countDown(&links)
      dependencies = links.dependencies
      links.dependencies = IdentityList()
      details = links.details.map { details in
        // Those of a cancelled operation belong to the thread that cancelled it, which calls them.
        let handlers = before.isCancelled ? [] : details.cancellationHandlers
        let taken = Details(
          completionBlock: details.completionBlock, observers: details.observers, cancellationHandlers: handlers)
        details.completionBlock = nil
        details.observers = nil
        if !before.isCancelled { details.cancellationHandlers = [] }
        return taken
      }
    }

    /// What is left when all have been told.
    consuming func tidyUp(_ executor: (any WorkExecutor)?) {
      dependencies.forEach { $0.release() }
      guard let details else { return }
      details.observers?.removeAll()
      if let block = details.completionBlock { (executor ?? WorkerPool.shared).submit(PoolBlock(block), count: 1) }
    }
  }

  // MARK: After the end

  /// The implementation of ``completionBlock``.
  final func setCompletionBlock(_ block: (@Sendable () -> Void)?) {
    // The old block is let go of after the lock is released: freeing it may run code of its owner's.
    let old = links.withLock { links in
      guard block != nil || links.details != nil else { return Optional<@Sendable () -> Void>.none }
      // After the end it would never be called, and keep for good what it captures.
      guard state.announceLink().phase != .finished else { return nil }
      let old = links.madeDetails.completionBlock
      links.madeDetails.completionBlock = block
      return old
    }
    _ = old
    if state.current.isObserved { tell([ObservedChange(.completionBlock)]) }
  }

  /// What ``waitUntilFinished()`` does.
  final func blockUntilSettled() {
    guard !state.current.isSettled else { return }
    require(
      !ThreadContext.isInside(self), "waitUntilFinished() on \(self) from inside it: it would wait for itself.")
    guard !settlesSoon() else { return }
    WaitGraph.block(on: self) { waiter in addWaiter(waiter) }
  }

  /// Looks for the end for an instant, without falling asleep: to be woken takes longer than most operations do.
  ///
  /// Not on workers, which others replace while they wait.
  private func settlesSoon() -> Bool {
    guard Worker.current == nil else { return false }
    for _ in 0..<Self.looksBeforeSleeping {
      headway_pause()
      if state.current.isSettled { return true }
    }
    return false
  }

  /// About 10 microseconds.
  private static let looksBeforeSleeping = 400

  /// Registers a waiter; false if the end has been announced already.
  fileprivate final func addWaiter(_ waiter: Waiter) -> Bool {
    links.withLock { links in
      // The announcement and the end are read-modify-writes of one word: either the one who ends sees the waiter, or
      // the waiter sees the end.
      guard !state.announceWaiter().isSettled else { return false }
      links.madeDetails.waiters.append(waiter)
      return true
    }
  }
}
