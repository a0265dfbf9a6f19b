import Dispatch
import Synchronization

extension OperationQueue {
  /// The work that remains after the queue's lock has been released.
  ///
  /// Every update creates one, and nearly all need only its numbers. Therefore, each reference here is usually nil, the
  /// properties that few updates need are in one object, and none of them is copied.
  fileprivate struct AfterUpdate: ~Copyable {
    var tickets = PerClass(0)
    var followed = FollowedUpdate()
    var released = ReleasedOperations()
    var rare: Rare?
    /// How many operations the queue held when the update began, and before the change.
    var (oldCount, count) = (0, 0)
    /// Positive if the queue has begun to hold operations, negative if it no longer holds any.
    ///
    /// While it holds operations, it owns itself.
    var ownership = 0

    final class Rare {
      /// The executor that runs the operations instead of the pool.
      var executor: (any WorkExecutor)?
      var underlyingQueue: DispatchQueue?
      var generation = 0
      var waiters: [Waiter] = []
      /// The operations that the change has raised.
      var raised: [Admission.Raised] = []
      var policySteps: (any AdmissionPolicySteps)?
    }

    /// Created on first use.
    var rareCreatedIfNeeded: Rare {
      mutating get {
        if let rare { return rare }
        let made = Rare()
        rare = made
        return made
      }
    }
  }

  /// Changes the state under the lock.
  ///
  /// After the lock, it requests the workers that the change needs, wakes callers that wait for an empty queue, and
  /// notifies the observers.
  ///
  /// - Parameters:
  ///   - collectsBatches: Whether to collect the results of batches first, so that the state is exact. An observed
  ///     queue always collects them.
  ///   - body: Changes the state.
  /// - Returns: The result of `body`.
  final func update<Answer>(
    collectingBatches collectsBatches: Bool = false, _ body: (inout QueueState) -> Answer
  ) -> Answer {
    var effects = Effects()
    let answer = update(collectingBatches: collectsBatches, leaving: &effects, body)
    effects.perform()
    return answer
  }

  /// Changes the state like ``update(collectingBatches:_:)``, but leaves steps that can run user code to the caller.
  ///
  /// - Parameters:
  ///   - collectsBatches: Whether to collect the results of batches first.
  ///   - effects: Receives the steps that the caller must perform.
  ///   - body: Changes the state.
  /// - Returns: The result of `body`.
  @inline(never)  // If it were inlined, the closure that takes the lock would retain the references in `body`.
  final func update<Answer>(
    collectingBatches collectsBatches: Bool = false, leaving effects: inout Effects,
    _ body: (inout QueueState) -> Answer
  ) -> Answer {
    // Compiled again for each change, so code that does not depend on the change is in other functions.
    var after = AfterUpdate()
    let answer = state.withLock { state in
      beginUpdate(of: &state, collectingBatches: collectsBatches, &after)
      let answer = body(&state)
      endUpdate(of: &state, &after)
      return answer
    }
    finishUpdate(after, &effects)
    return answer
  }

  /// An update whose remaining work was postponed.
  final class PostponedUpdate {
    private let queue: OperationQueue
    fileprivate var after = AfterUpdate()

    fileprivate init(of queue: OperationQueue) { self.queue = queue }

    /// Performs the remaining work.
    ///
    /// - Parameter effects: Receives the steps that the caller must perform.
    func finish(leaving effects: inout Effects) { queue.finishUpdate(after, &effects) }
  }

  /// Changes the state like ``update(collectingBatches:leaving:_:)``, collecting batches, but postpones all steps that
  /// follow the critical section, because they can run user code or request workers.
  final func postponingUpdate(_ body: (inout QueueState) -> Void) -> PostponedUpdate {
    let update = PostponedUpdate(of: self)
    state.withLock { state in
      beginUpdate(of: &state, collectingBatches: true, &update.after)
      body(&state)
      endUpdate(of: &state, &update.after)
    }
    return update
  }

  /// Prepares the state for a change, under the lock.
  private func beginUpdate(
    of state: inout QueueState, collectingBatches collectsBatches: Bool, _ after: inout AfterUpdate
  ) {
    after.oldCount = state.admission.count
    after.followed.begin(state)
    state.takeIn(inbox, &after.released)
    if state.isObserved { state.admission.makeOperations() }
    if collectsBatches || state.isObserved {
      state.collectBatches(&after.released)
      // Operations that finished may have added others before they did.
      state.takeIn(inbox, &after.released)
    }
    after.count = state.admission.count
  }

  /// Completes a change, under the lock.
  private func endUpdate(of state: inout QueueState, _ after: inout AfterUpdate) {
    // The change may have collected the end of an operation that had added another one. In that case, the queue is not
    // empty.
    if state.admission.count == 0 { state.takeIn(inbox, &after.released) }
    if let policy = state.admission.policy { policy.offerReleased(in: self, &state.admission) }
    // Before tickets are issued, because this reclaims operations that threads of a lower class have not started.
    if state.admission.isRaising { takeRaised(from: &state, &after) }
    after.tickets = state.issueTickets(inbox, servesInbox, &after.released)
    #if DEBUG
    state.admission.checkIfSmall()
    #endif
    if state.hasSpinningWorker, state.admission.hasStartable {
      spinSignal.store(true, ordering: .releasing)
    }
    if state.runsElsewhere, !after.tickets.isZero {
      let rare = after.rareCreatedIfNeeded
      (rare.executor, rare.underlyingQueue, rare.generation) = (state.executor, state.underlyingQueue, state.generation)
    }
    let listeners = after.followed.end(&state, since: after.count)
    if !listeners.isEmpty { after.rareCreatedIfNeeded.waiters += listeners }
    if let policy = state.admission.policy, let steps = policy.takeSteps(for: self, &state.admission) {
      after.rareCreatedIfNeeded.policySteps = steps
    }
    if state.producers.areWaiting {
      let woken = state.producers.givePlaces(besides: state.admission.count)
      if !woken.isEmpty { after.rareCreatedIfNeeded.waiters += woken }
    }
    if state.hasWaiters, state.admission.isDone { after.rareCreatedIfNeeded.waiters += state.takeWaiters() }
    if state.admission.awaitedClass != .background { state.endAwaitingIfNoneWaits() }
    after.ownership = (after.oldCount == 0 ? 1 : 0) - (state.admission.count == 0 ? 1 : 0)
    if after.ownership > 0 { _ = Unmanaged.passRetained(self) }
  }

  @inline(never)
  private func takeRaised(from state: inout QueueState, _ after: inout AfterUpdate) {
    let raised = state.admission.takeRaised()
    if !raised.isEmpty { after.rareCreatedIfNeeded.raised = raised }
  }

  /// Performs the remaining work, after the lock.
  private func finishUpdate(_ after: borrowing AfterUpdate, _ effects: inout Effects) {
    if !after.tickets.isZero { sendForWorkers(after) }
    if let rare = after.rare {
      rare.waiters.forEach { $0.wake() }
      Operation.raiseFurther(rare.raised)
      rare.policySteps?.perform(leaving: &effects)
    }
    after.released.release(from: self)
    after.followed.finish(in: self, &effects)
    if after.ownership < 0 { Unmanaged.passUnretained(self).release() }
  }

  private func sendForWorkers(_ after: borrowing AfterUpdate) {
    let (tickets, rare) = (after.tickets, after.rare)
    noteRequest()
    PerClass<Int>.forEachClass { workerClass in
      let count = tickets[workerClass]
      guard count > 0 else { return }
      if let executor = rare?.executor {
        executor.submit(self, count: count)
      } else if let underlyingQueue = rare?.underlyingQueue {
        let generation = rare?.generation ?? 0
        for _ in 0..<count {
          underlyingQueue.async { _ = self.run(by: .underlyingQueue(generation: generation), atMost: 1) }
        }
      } else {
        WorkerPool.pool(of: workerClass).submit(self, count: count)
      }
    }
  }

  // MARK: Settings

  /// The executor that runs the operations instead of the pool, for example step by step.
  ///
  /// You can set it only while the queue is empty.
  package final var executor: (any WorkExecutor)? {
    get { state.withLock { $0.executor } }
    set {
      let isChanged = changeRunner { exchange(&$0.executor, with: newValue) }
      require(isChanged && !isMain, "The executor of \(label) was set while it held operations: set it first.")
    }
  }

  /// Changes the executor or the dispatch queue that runs the operations, if the queue is empty.
  ///
  /// - Parameter change: Replaces the executor or dispatch queue, and returns the previous one.
  /// - Returns: Whether `change` was called.
  private func changeRunner<Runner>(_ change: (inout QueueState) -> Runner) -> Bool {
    let previous = update(collectingBatches: true) { state -> Runner? in
      state.admission.count == 0 ? state.changeRunner(change) : nil
    }
    return previous != nil  // The previous executor or dispatch queue is released here, after the lock.
  }

  /// Makes the operations run where another queue's operations run.
  ///
  /// The queue must be suspended, and none of its operations may have started. It need not be empty.
  final func inherit(from queue: OperationQueue?) {
    guard let queue else { return }
    let (executor, underlyingQueue) = queue.state.withLock { ($0.executor, $0.underlyingQueue) }
    guard executor != nil || underlyingQueue != nil else { return }
    let old = update(collectingBatches: true) { state in
      state.changeRunner { state in
        (exchange(&state.executor, with: executor), exchange(&state.underlyingQueue, with: underlyingQueue))
      }
    }
    withExtendedLifetime(old) {}  // Released after the lock.
  }

  /// Implements ``maxConcurrentOperationCount``.
  final func setLimit(_ limit: Int) {
    require(
      limit >= Self.defaultMaxConcurrentOperationCount,
      "maxConcurrentOperationCount of \(label) was set to \(limit): use a count, 0, or -1 for the default.")
    guard !isMain, order == .priority else { return }
    let heldBack = update { state in
      state.maxConcurrentOperationCount = limit
      state.admission.limit = limit == Self.defaultMaxConcurrentOperationCount ? .max : limit
      state.note(.maxConcurrentOperationCount, limit)
      return state.admission.nextHeldBack()
    }
    // All batches are reclaimed now. Their threads must not occupy a concurrency slot while they run user code between
    // two operations.
    update(collectingBatches: true) { _ in }
    reevaluateReadiness(heldBack)
  }

  /// Implements ``isSuspended``.
  final func setSuspended(_ isSuspended: Bool) {
    guard !isMain else { return }
    // Resuming is recorded before an operation can start. Suspending is recorded after the last operation that still
    // starts.
    if !isSuspended { noteSuspension(false) }
    let heldBack = update { state in
      state.admission.isSuspended = isSuspended
      state.note(.isSuspended, isSuspended)
      return isSuspended ? [] : state.admission.nextHeldBack()
    }
    if isSuspended { noteSuspension(true) }
    reevaluateReadiness(heldBack)
  }

  /// Implements ``underlyingQueue``.
  final func setUnderlyingQueue(_ queue: DispatchQueue?) {
    guard !isMain else { return }
    let isChanged = changeRunner { exchange(&$0.underlyingQueue, with: queue) }
    require(isChanged, "The underlying queue of \(label) was set while it held operations: set it first.")
  }

  /// Implements ``qualityOfService``.
  final func setQuality(_ quality: QualityOfService) { changeQuality(to: quality) { _ in true } }

  /// Sets the quality of service, unless it is already that high.
  final func raiseQuality(to quality: QualityOfService) { changeQuality(to: quality) { $0.level < quality.level } }

  private func changeQuality(to quality: QualityOfService, where condition: (QualityOfService) -> Bool) {
    guard !isMain else { return }
    let isRaised = update { state in
      let old = state.qualityOfService
      guard condition(old) else { return false }
      setQuality(quality, &state)
      return quality.level > old.level && state.admission.count > 0
    }
    guard isRaised else { return }
    for operation in madeOperations { operation.queueWasRaised(level: quality.level) }
  }

  /// The quality of service, without the lock.
  final var knownQuality: QualityOfService { QualityOfService(level: qualityLevel.load(ordering: .relaxed)) }

  /// The level of the quality of service, for a worker that has continued with another operation: see
  /// `Worker+Raising.swift`.
  final var levelInOrder: Int { qualityLevel.load(ordering: .sequentiallyConsistent) }

  /// Sets the quality of service, under the queue's lock.
  final func setQuality(_ quality: QualityOfService, _ state: inout QueueState) {
    state.setPlacement(quality: quality)
    qualityLevel.store(quality.level, ordering: .relaxed)
  }
}
