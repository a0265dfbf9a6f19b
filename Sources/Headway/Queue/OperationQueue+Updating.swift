import Dispatch
import Synchronization

extension OperationQueue {
  /// What is left to do when the queue's lock has been released.
  ///
  /// Every update makes one, and nearly all leave no more to do than numbers say: so each reference here is mostly nil,
  /// what few updates need is in one object, and none is copied.
  private struct AfterUpdate: ~Copyable {
    var tickets = PerClass(0)
    var observers: ObserverList?
    /// The queue is to be looked at for a stall.
    var looksForStall = false
    var released = ReleasedOperations()
    var rare: Rare?
    /// How many operations the queue held, when the update began and before the change was made.
    var (oldCount, count) = (0, 0)
    /// The queue has begun, or ceased, to hold operations: while it does, it owns itself.
    var ownership = 0

    final class Rare {
      /// What runs the operations in place of the pool.
      var executor: (any WorkExecutor)?
      var underlyingQueue: DispatchQueue?
      var generation = 0
      var waiters: [Waiter] = []
      /// The operations that the change has raised.
      var raised: [Admission.Raised] = []
    }

    /// Made when there is something.
    var madeRare: Rare {
      mutating get {
        if let rare { return rare }
        let made = Rare()
        rare = made
        return made
      }
    }
  }

  /// Changes the state under the lock; then, outside it, sends for the workers that the change calls for, wakes those
  /// who wait for an empty queue, and notifies the observers.
  ///
  /// - Parameters:
  ///   - collectsBatches: First, collects the results of batches, so that the state is exact; always so when somebody
  ///     observes.
  ///   - body: Makes the change.
  /// - Returns: What `body` returns.
  final func update<Answer>(
    collectingBatches collectsBatches: Bool = false, _ body: (inout QueueState) -> Answer
  ) -> Answer {
    var effects = Effects()
    let answer = update(collectingBatches: collectsBatches, leaving: &effects, body)
    effects.perform()
    return answer
  }

  /// As ``update(collectingBatches:_:)``, but for what may run users' code, which the caller performs later.
  ///
  /// - Parameters:
  ///   - collectsBatches: First, collects the results of batches.
  ///   - effects: Takes what the caller is to perform.
  ///   - body: Makes the change.
  /// - Returns: What `body` returns.
  @inline(never)  // Where it were inlined, what `body` refers to would be retained for the closure that takes the lock.
  final func update<Answer>(
    collectingBatches collectsBatches: Bool = false, leaving effects: inout Effects,
    _ body: (inout QueueState) -> Answer
  ) -> Answer {
    // Compiled anew for each change: so what does not depend on the change is in other functions.
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

  /// Under the lock, before the change.
  private func beginUpdate(
    of state: inout QueueState, collectingBatches collectsBatches: Bool, _ after: inout AfterUpdate
  ) {
    after.oldCount = state.admission.count
    if state.observers != nil { after.observers = state.observers }
    state.takeIn(inbox, &after.released)
    if collectsBatches || state.isObserved {
      state.collectBatches(&after.released)
      // What those added that have finished, before they did.
      state.takeIn(inbox, &after.released)
    }
    after.count = state.admission.count
  }

  /// Under the lock, after the change.
  private func endUpdate(of state: inout QueueState, _ after: inout AfterUpdate) {
    // The change may have collected the end of one that had added another: then the queue is not empty.
    if state.admission.count == 0 { state.takeIn(inbox, &after.released) }
    // Before tickets are issued, since it takes back what threads of a lower class have not started.
    if state.admission.isRaising { takeRaised(from: &state, &after) }
    after.tickets = state.issueTickets(inbox, servesInbox, &after.released)
    #if DEBUG
    state.admission.checkIfSmall()
    #endif
    if state.hasSpinningWorker, !state.admission.countStartable().isZero {
      spinSignal.store(true, ordering: .releasing)
    }
    if state.runsElsewhere, !after.tickets.isZero {
      let rare = after.madeRare
      (rare.executor, rare.underlyingQueue, rare.generation) = (state.executor, state.underlyingQueue, state.generation)
    }
    if after.observers != nil { state.noteCount(since: after.count) }
    if let eventBuffers = state.eventBuffers {
      let awakened = eventBuffers.takeAwakened()
      if !awakened.isEmpty { after.madeRare.waiters += awakened }
      after.looksForStall = state.beginToLookForStall()
    }
    if state.producers.areWaiting {
      let woken = state.producers.givePlaces(besides: state.admission.count)
      if !woken.isEmpty { after.madeRare.waiters += woken }
    }
    let isEmpty = state.admission.count == 0
    if state.hasWaiters, state.admission.isDone { after.madeRare.waiters += state.takeWaiters() }
    if state.admission.awaitedClass != .background { state.endAwaitingIfNoneWaits() }
    after.ownership = (after.oldCount == 0 ? 1 : 0) - (isEmpty ? 1 : 0)
    if after.ownership > 0 { _ = Unmanaged.passRetained(self) }
  }

  @inline(never)
  private func takeRaised(from state: inout QueueState, _ after: inout AfterUpdate) {
    let raised = state.admission.takeRaised()
    if !raised.isEmpty { after.madeRare.raised = raised }
  }

  /// After the lock.
  private func finishUpdate(_ after: borrowing AfterUpdate, _ effects: inout Effects) {
    if !after.tickets.isZero { sendForWorkers(after) }
    if let rare = after.rare {
      rare.waiters.forEach { $0.wake() }
      Operation.raiseFurther(rare.raised)
    }
    after.released.release()
    if after.looksForStall { lookForStall() }
    if after.observers != nil, let observers = after.observers { effects.notify(observers, of: self) }
    if after.ownership < 0 { Unmanaged.passUnretained(self).release() }
  }

  private func sendForWorkers(_ after: borrowing AfterUpdate) {
    let (tickets, rare) = (after.tickets, after.rare)
    if hasJobs.load(ordering: .relaxed) { beginLookingForEscalations() }
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

  /// What runs the operations in place of the pool, for instance step by step.
  ///
  /// It can be set while the queue is empty.
  package final var executor: (any WorkExecutor)? {
    get { state.withLock { $0.executor } }
    set {
      let isChanged = setRunner(\.executor, newValue)
      require(isChanged && !isMain, "The executor of \(label) was set while it held operations: set it first.")
    }
  }

  /// Changes what runs the operations, if the queue holds none.
  ///
  /// - Parameters:
  ///   - property: Where the state has it.
  ///   - runner: What is to run them from now on.
  /// - Returns: Whether it was changed.
  private func setRunner<Runner>(_ property: WritableKeyPath<QueueState, Runner?>, _ runner: Runner?) -> Bool {
    let old = update(collectingBatches: true) { state -> Runner?? in
      guard state.admission.count == 0 else { return nil }
      return state.setRunner(property, runner)
    }
    return old != nil  // What ran them before is released here, after the lock.
  }

  /// Has the operations run where those of another queue do.
  ///
  /// The queue must be suspended, and none of its operations have started; there may be operations in it.
  final func inherit(from queue: OperationQueue?) {
    guard let queue else { return }
    let (executor, underlyingQueue) = queue.state.withLock { ($0.executor, $0.underlyingQueue) }
    guard executor != nil || underlyingQueue != nil else { return }
    let old = update(collectingBatches: true) { state in
      (state.setRunner(\.executor, executor), state.setRunner(\.underlyingQueue, underlyingQueue))
    }
    withExtendedLifetime(old) {}  // Released after the lock.
  }

  /// The implementation of ``maxConcurrentOperationCount``.
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
    // Threads that run users' code between two operations of their batches, all of which are reclaimed now, have no
    // place of the limit any more.
    update(collectingBatches: true) { _ in }
    reevaluateReadiness(heldBack)
  }

  /// The implementation of ``isSuspended``.
  final func setSuspended(_ isSuspended: Bool) {
    guard !isMain else { return }
    let heldBack = update { state in
      state.admission.isSuspended = isSuspended
      state.note(.isSuspended, isSuspended)
      return isSuspended ? [] : state.admission.nextHeldBack()
    }
    reevaluateReadiness(heldBack)
  }

  /// The implementation of ``underlyingQueue``.
  final func setUnderlyingQueue(_ queue: DispatchQueue?) {
    guard !isMain else { return }
    let isChanged = setRunner(\.underlyingQueue, queue)
    require(isChanged, "The underlying queue of \(label) was set while it held operations: set it first.")
  }

  /// The implementation of ``qualityOfService``.
  final func setQuality(_ quality: QualityOfService) { changeQuality(to: quality) { _ in true } }

  /// Sets the quality of service, unless it is that high already.
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
    for operation in operations { operation.queueWasRaised(level: quality.level) }
  }

  /// The quality of service, without the lock.
  final var knownQuality: QualityOfService { QualityOfService(level: qualityLevel.load(ordering: .relaxed)) }

  /// The level of the quality of service, for a worker that has gone on to an operation: see `Worker+Raising.swift`.
  final var levelInOrder: Int { qualityLevel.load(ordering: .sequentiallyConsistent) }

  /// Under the lock of the queue.
  final func setQuality(_ quality: QualityOfService, _ state: inout QueueState) {
    state.setPlacement(quality: quality)
    qualityLevel.store(quality.level, ordering: .relaxed)
  }
}
