/// The steps that follow changes and may run user code.
///
/// A thread performs them when it holds no lock, and nothing that other threads wait for: user code may take long, and
/// wait for anything. Code that changes something appends steps in any order. They are performed in one order, that of
/// the properties of ``Steps``, with the completion block last. Add new kinds of steps here.
struct Effects: ~Copyable {
  /// Created for the first step: usually there are none.
  private var steps: Steps?
  /// The completion block of an operation that has ended in a batch, if the batch's thread runs it; and the operation.
  private var completionBlock: CompletionBlock?
  private var completed: (operation: OperationReference, queue: Unmanaged<OperationQueue>?)?
  /// The queue that an operation leaves by itself.
  ///
  /// The caller keeps the queue alive.
  private let queue: Unmanaged<OperationQueue>?
  /// The batch of the calling thread, which keeps the memory of the steps for its next operation.
  ///
  /// The caller keeps the batch alive.
  private let batch: Unmanaged<Batch>?

  /// Creates effects without a step.
  ///
  /// - Parameter queue: The queue that an operation leaves by itself, if these are the effects of its end.
  init(leaving queue: Unmanaged<OperationQueue>? = nil) { (self.queue, batch) = (queue, nil) }

  /// Creates effects without a step, for the end of an operation in a batch.
  ///
  /// - Parameter batch: The batch of the calling thread.
  init(in batch: Unmanaged<Batch>) { (queue, self.batch) = (nil, batch) }

  var isEmpty: Bool { steps == nil && completionBlock == nil }

  /// Takes all out.
  mutating func take() -> Effects {
    var taken = Effects()
    swap(&taken, &self)
    return taken
  }

  private var madeSteps: Steps {
    mutating get {
      if let steps { return steps }
      let made = batch?._withUnsafeGuaranteedRef { $0.takeRecycledSteps() } ?? Steps()
      made.queue = queue
      steps = made
      return made
    }
  }

  // MARK: Appending

  /// Adds operations that override ``Operation/isReady``: their override is evaluated again.
  mutating func ask(_ operations: [Operation]) {
    if !operations.isEmpty { madeSteps.asked += operations }
  }

  /// Adds a notification of a queue's observers, about the changes in their list.
  mutating func notify(_ observers: ObserverList, of queue: OperationQueue) {
    madeSteps.queues.append((queue, observers))
  }

  /// Adds a notification of an operation's observers.
  mutating func notify(_ change: ObservedChange, of operation: Operation) {
    madeSteps.changes.append((operation, change))
  }

  /// Adds a notification of the observers of a queue's progress, which the caller keeps alive.
  mutating func notify(_ progress: Unmanaged<OperationProgress>) { madeSteps.progress = progress }

  /// Adds an object to release, which may run user code.
  mutating func release(_ object: AnyObject) { madeSteps.released.append(object) }

  /// Adds the completion block of an operation that has ended.
  ///
  /// The caller keeps the operation and the queue that it has left alive.
  mutating func run(
    _ completionBlock: consuming CompletionBlock, of operation: Operation, in queue: Unmanaged<OperationQueue>?
  ) {
    (self.completionBlock, completed) = (completionBlock, (OperationReference(operation), queue))
  }

  /// Adds a call of the handler of failures.
  mutating func reportFailure() { madeSteps.reportsFailure = true }

  /// Adds the rare steps that follow the end of an operation.
  ///
  /// The caller keeps the operation and its queue alive.
  ///
  /// - Parameters:
  ///   - operation: The operation.
  ///   - queue: The queue that it has left.
  ///   - before: The state from which it ended.
  ///   - ending: What its links held.
  ///   - isNotified: The end needs no notification.
  mutating func append(
    endOf operation: Operation, in queue: Unmanaged<OperationQueue>?, from before: OperationWord,
    _ ending: borrowing OperationEnding, isNotified: Bool
  ) {
    guard !isNotified || before.hasFailed || ending.rare != nil || reportsFailure else { return }
    let steps = madeSteps
    (steps.ended, steps.queue, steps.before) = (OperationReference(operation), queue, before)
    (steps.hasFailed, steps.notifiesEnd) = (before.hasFailed, !isNotified)
    steps.observers = ending.observers
    steps.pendingCancellations = ending.pendingCancellations
    if let rare = ending.rare, ending.runsUserCodeWhenReleased { steps.released.append(rare) }
  }

  /// Whether the handler of failures is to be called.
  var reportsFailure: Bool { steps?.reportsFailure == true }

  /// Whether it is notified of an end: of that of an operation, or of the progress that it makes.
  var notifiesEnd: Bool { steps?.notifiesEnd == true || steps?.progress != nil }

  /// Takes out the completion block that is to be run, if something else is to be done, too: it may wait for that.
  ///
  /// - Parameter otherwise: There is something else beside the effects.
  /// - Returns: The block, if another thread is to run it.
  mutating func takeCompletionBlock(or otherwise: Bool) -> CompletionBlock? {
    completionBlock != nil && (otherwise || steps != nil) ? completionBlock.take() : nil
  }

  // MARK: Performing

  /// Performs the steps, and runs the completion block.
  ///
  /// Called with no lock held.
  @inline(__always)
  mutating func perform() {
    if steps != nil { performSteps() }
    if completionBlock != nil { runCompletionBlock() }
  }

  @inline(never)  // So that the block is released before this returns.
  private mutating func runCompletionBlock() {
    guard let block = completionBlock.take(), let (operation, queue) = completed else { return }
    operation._withUnsafeGuaranteedRef { $0.runCompletionBlock(block, queue?.takeUnretainedValue()) }
  }

  // By itself: it is long, and `perform()`, which mostly has nothing to do, is in the path of every operation.
  @inline(never)
  private mutating func performSteps() {
    guard let steps = steps.take() else { return }
    if steps.notifiesEnd, let ended = steps.ended {
      // Users' code may wait for the operation, of whose end this thread has still to notify.
      ended._withUnsafeGuaranteedRef { operation in
        NotificationContext.run(notifyingOf: operation) { steps.perform() }
      }
    } else {
      steps.perform()
    }
    steps.reset()
    batch?._withUnsafeGuaranteedRef { $0.deferRecycling(steps) }
  }

  /// Has another thread perform the steps: the calling one has claimed an operation, for which they may wait.
  ///
  /// - Parameter executor: What runs the operations in place of threads of the pool, or of a dispatch queue: one that
  ///   does so step by step performs at once.
  mutating func perform(besides executor: (any WorkExecutor)?) {
    guard let steps = steps.take() else { return }
    assert(steps.ended == nil, "the end of an operation is dealt with by its own thread")
    guard executor?.isStepwise != true else { return steps.perform() }
    steps.performElsewhere()
  }

  /// The steps, in the order in which they are performed.
  final class Steps: @unchecked Sendable {  // One thread after the other uses it.
    /// Operations that override ``Operation/isReady``, and are asked: what other operations may wait for comes first,
    /// since observers and handlers may take as long as they like.
    @exclusivity(unchecked) fileprivate var asked: [Operation] = []
    /// The operation that has ended has failed: its group ends the others.
    @exclusivity(unchecked) fileprivate var hasFailed = false
    /// Dependents of it that required success: they are cancelled.
    @exclusivity(unchecked) fileprivate var pendingCancellations: [Operation] = []
    /// Queues, whose observers are notified of what waits in their lists.
    @exclusivity(unchecked) fileprivate var queues: [(queue: OperationQueue, observers: ObserverList)] = []
    /// The progress of the queue, which notifies if it is further.
    @exclusivity(unchecked) fileprivate var progress: Unmanaged<OperationProgress>?
    /// Operations, whose observers are notified of a change.
    @exclusivity(unchecked) fileprivate var changes: [(operation: Operation, change: ObservedChange)] = []
    /// The queue's handler of failures is called.
    @exclusivity(unchecked) fileprivate var reportsFailure = false
    /// The observers of the operation that has ended are notified of that; then those wake who wait for that.
    @exclusivity(unchecked) fileprivate var notifiesEnd = false
    @exclusivity(unchecked) fileprivate var observers: ObserverList?
    /// Objects that are released.
    @exclusivity(unchecked) fileprivate var released: [AnyObject] = []

    /// The operation that has ended, the queue that it has left, and the state from which it ended.
    @exclusivity(unchecked) fileprivate var ended: OperationReference?
    @exclusivity(unchecked) fileprivate var queue: Unmanaged<OperationQueue>?
    @exclusivity(unchecked) fileprivate var before = OperationWord.initial

    fileprivate func perform() {
      if !asked.isEmpty { asked.forEach { $0.reconsiderReadiness() } }
      if hasFailed { endGroup() }
      if !pendingCancellations.isEmpty {
        ended?._withUnsafeGuaranteedRef { $0.cancelRequiringDependents(pendingCancellations) }
      }
      if !queues.isEmpty { notifyQueues() }
      progress?._withUnsafeGuaranteedRef { $0.notifyIfFurther() }
      if !changes.isEmpty { changes.forEach { $0.operation.notify([$0.change]) } }
      guard let ended else { return }
      ended._withUnsafeGuaranteedRef { operation in
        if reportsFailure { queue?._withUnsafeGuaranteedRef { $0.reportFailure(of: operation) } }
        if notifiesEnd { operation.notifyEnd(from: before, observers) }
      }
    }

    private func endGroup() {
      guard let queue, ended?._withUnsafeGuaranteedRef({ $0.failure }) != nil else { return }
      queue._withUnsafeGuaranteedRef { $0.endAfterFailure() }
    }

    private func notifyQueues() {
      // The dispatch queue may have no other thread for what the observers wait for.
      if let queue, queue._withUnsafeGuaranteedRef({ $0.state.withLock { $0.underlyingQueue } }) != nil {
        let others = Steps()
        swap(&others.queues, &queues)
        return others.performElsewhere()
      }
      for (queue, observers) in queues {
        queue.notify(observers)
        queue.lookForStallIfIdle()
      }
    }

    fileprivate func performElsewhere() {
      WorkerPool.shared.submit(PoolBlock { self.perform() }, count: 1)
    }

    fileprivate func reset() {
      if !asked.isEmpty { asked = [] }
      if !pendingCancellations.isEmpty { pendingCancellations = [] }
      if !queues.isEmpty { queues = [] }
      if !changes.isEmpty { changes = [] }
      if !released.isEmpty { released = [] }
      if observers != nil { observers = nil }
      (progress, ended, queue) = (nil, nil, nil)
      (hasFailed, reportsFailure, notifiesEnd) = (false, false, false)
    }
  }
}
