/// The steps that follow changes and can run user code.
///
/// A thread performs them when it holds neither a lock nor anything else that other threads wait for: user code can
/// take a long time and can wait for anything. Code that changes something appends steps in any order. They are
/// performed in the order of the properties of ``Steps``, with the completion block last. Add new kinds of steps here.
///
/// See `Docs/decisions/0014-ends-before-observers.md`.
struct Effects: ~Copyable {
  /// Created for the first step: usually there are none.
  private var steps: Steps?
  /// The completion block of an operation that has ended in a batch, if the batch's thread runs it, and the operation.
  private var completionBlock: CompletionBlock?
  private var completed: OperationReference?
  /// The queue that an operation leaves on its own, outside a batch.
  ///
  /// The caller keeps the queue alive.
  private let queue: Unmanaged<OperationQueue>?
  /// The batch of the calling thread.
  ///
  /// It keeps the memory of the steps for its next operation. The caller keeps the batch alive.
  private let batch: Unmanaged<Batch>?

  /// Creates effects without a step.
  ///
  /// - Parameter queue: The queue that an operation leaves on its own, if these are the effects of its end.
  init(leaving queue: Unmanaged<OperationQueue>? = nil) { (self.queue, batch) = (queue, nil) }

  /// Creates effects without a step, for the end of an operation in a batch.
  ///
  /// - Parameter batch: The batch of the calling thread.
  init(in batch: Unmanaged<Batch>) { (queue, self.batch) = (nil, batch) }

  var isEmpty: Bool { steps == nil && completionBlock == nil }

  /// Removes and returns all effects.
  mutating func take() -> Effects {
    var taken = Effects()
    swap(&taken, &self)
    return taken
  }

  private var stepsCreatedIfNeeded: Steps {
    mutating get {
      if let steps { return steps }
      let made = batch?._withUnsafeGuaranteedRef { $0.takeRecycledSteps() } ?? Steps()
      made.queue = queue
      steps = made
      return made
    }
  }

  // MARK: Appending

  /// Adds an evaluation of ``Operation/isReady`` for operations that override it.
  mutating func evaluateReadiness(of operations: [Operation]) {
    if !operations.isEmpty { stepsCreatedIfNeeded.reevaluated += operations }
  }

  /// Adds a notification of a queue's observers, about the changes in their list.
  mutating func notify(_ observers: ObserverList, of queue: OperationQueue) {
    stepsCreatedIfNeeded.queues.append((queue, observers))
  }

  /// Adds a notification of an operation's observers.
  mutating func notify(_ change: ObservedChange, of operation: Operation) {
    stepsCreatedIfNeeded.changes.append((operation, change))
  }

  /// Adds a notification of the observers of a queue's progress, which the caller keeps alive.
  mutating func notify(_ progress: Unmanaged<OperationProgress>) { stepsCreatedIfNeeded.progress = progress }

  /// Adds an object to release, which may run user code.
  mutating func release(_ object: AnyObject) { stepsCreatedIfNeeded.released.append(object) }

  /// Adds the completion block of an operation that has ended.
  ///
  /// The caller keeps the operation alive.
  mutating func run(_ completionBlock: consuming CompletionBlock, of operation: Operation) {
    (self.completionBlock, completed) = (completionBlock, OperationReference(operation))
  }

  /// Adds a call of the failure handler.
  mutating func reportFailure() { stepsCreatedIfNeeded.reportsFailure = true }

  /// Adds the rare steps that follow the end of an operation.
  ///
  /// The caller keeps the operation and its queue alive.
  ///
  /// - Parameters:
  ///   - operation: The operation that has ended.
  ///   - queue: The queue that it has left.
  ///   - before: The operation's state before it ended.
  ///   - ending: The contents of the operation's links.
  ///   - isNotified: The end needs no notification.
  mutating func append(
    endOf operation: Operation, in queue: Unmanaged<OperationQueue>?, from before: OperationWord,
    _ ending: borrowing OperationEnding, isNotified: Bool
  ) {
    guard !isNotified || before.hasFailed || ending.rare != nil || reportsFailure else { return }
    let steps = stepsCreatedIfNeeded
    (steps.ended, steps.queue, steps.before) = (OperationReference(operation), queue, before)
    (steps.hasFailed, steps.notifiesEnd) = (before.hasFailed, !isNotified)
    steps.observers = ending.observers
    steps.pendingCancellations = ending.pendingCancellations
    if let rare = ending.rare, ending.runsUserCodeWhenReleased { steps.released.append(rare) }
  }

  /// Whether the failure handler must be called.
  var reportsFailure: Bool { steps?.reportsFailure == true }

  /// Whether the steps notify observers of an end, or of the progress that results from it.
  var notifiesEnd: Bool { steps?.notifiesEnd == true || steps?.progress != nil }

  /// Removes and returns the completion block if another thread must run it, because it may wait for other work of this
  /// thread.
  ///
  /// - Parameter otherwise: Whether the thread has other work in addition to the effects.
  /// - Returns: The block, if another thread must run it.
  mutating func takeCompletionBlock(or otherwise: Bool) -> CompletionBlock? {
    completionBlock != nil && (otherwise || steps != nil) ? completionBlock.take() : nil
  }

  // MARK: Performing

  /// Performs the steps and runs the completion block.
  ///
  /// Called with no lock held.
  @inline(__always)
  mutating func perform() {
    if steps != nil { performSteps() }
    if completionBlock != nil { runCompletionBlock() }
  }

  @inline(never)  // So that the block is released before this returns.
  private mutating func runCompletionBlock() {
    guard let block = completionBlock.take(), let completed else { return }
    completed._withUnsafeGuaranteedRef { $0.runCompletionBlock(block, nil) }
  }

  // A separate function: it is long, and `perform()`, which usually has nothing to do, is on the path of every
  // operation.
  @inline(never)
  private mutating func performSteps() {
    guard let steps = steps.take() else { return }
    if steps.notifiesEnd, let ended = steps.ended {
      // User code can wait for the operation, and this thread still has to notify observers of its end.
      ended._withUnsafeGuaranteedRef { operation in
        NotificationContext.run(notifyingOf: operation) { steps.perform() }
      }
    } else {
      steps.perform()
    }
    steps.reset()
    batch?._withUnsafeGuaranteedRef { $0.deferRecycling(steps) }
  }

  /// Has another thread perform the steps, because they may wait for an operation that the calling thread has claimed.
  ///
  /// - Parameter executor: The executor that runs the operations instead of the pool or a dispatch queue. With a
  ///   stepwise executor, the calling thread performs the steps immediately.
  mutating func submit(to executor: (any WorkExecutor)?) {
    guard let steps = steps.take() else { return }
    assert(steps.ended == nil, "the end of an operation is dealt with by its own thread")
    guard executor?.isStepwise != true else { return steps.perform() }
    steps.performElsewhere()
  }

  /// The steps, in the order of execution.
  final class Steps: @unchecked Sendable {  // Only one thread uses it at a time.
    /// Operations that override ``Operation/isReady``: it is evaluated first, because other operations may depend on
    /// the result, and observers and handlers can take arbitrarily long.
    @exclusivity(unchecked) fileprivate var reevaluated: [Operation] = []
    /// Whether the operation that ended has failed, so its group must cancel its other operations.
    @exclusivity(unchecked) fileprivate var hasFailed = false
    /// Dependents that required the operation to succeed: they are cancelled.
    @exclusivity(unchecked) fileprivate var pendingCancellations: [Operation] = []
    /// Queues to notify their observers of the changes in their lists.
    @exclusivity(unchecked) fileprivate var queues: [(queue: OperationQueue, observers: ObserverList)] = []
    /// The progress of the queue, which notifies its observers if it has advanced.
    @exclusivity(unchecked) fileprivate var progress: Unmanaged<OperationProgress>?
    /// Operations whose observers are notified of a change.
    @exclusivity(unchecked) fileprivate var changes: [(operation: Operation, change: ObservedChange)] = []
    /// Whether the queue's failure handler is called.
    @exclusivity(unchecked) fileprivate var reportsFailure = false
    /// Whether the end of the operation is notified: first to its observers, then to the threads and tasks that wait
    /// for it.
    @exclusivity(unchecked) fileprivate var notifiesEnd = false
    @exclusivity(unchecked) fileprivate var observers: ObserverList?
    /// Objects to release.
    @exclusivity(unchecked) fileprivate var released: [AnyObject] = []

    /// The operation that has ended, the queue that it left, and its state before it ended.
    @exclusivity(unchecked) fileprivate var ended: OperationReference?
    @exclusivity(unchecked) fileprivate var queue: Unmanaged<OperationQueue>?
    @exclusivity(unchecked) fileprivate var before = OperationWord.initial

    fileprivate func perform() {
      if !reevaluated.isEmpty { reevaluated.forEach { $0.reconsiderReadiness() } }
      if hasFailed { endGroup() }
      if !pendingCancellations.isEmpty {
        ended?._withUnsafeGuaranteedRef { $0.cancelRequiringDependents(pendingCancellations) }
      }
      if !queues.isEmpty { notifyQueues() }
      progress?._withUnsafeGuaranteedRef { $0.notifyIfFurther() }
      if !changes.isEmpty { changes.forEach { $0.operation.notify([$0.change]) } }
      guard let ended else { return }
      ended._withUnsafeGuaranteedRef { operation in
        if reportsFailure {
          queue?._withUnsafeGuaranteedRef { $0.reportFailure(of: operation) }
          operation.releaseDependencies(readBy: .failureHandler)
        }
        if notifiesEnd { operation.notifyEnd(from: before, observers) }
      }
    }

    private func endGroup() {
      guard let queue, ended?._withUnsafeGuaranteedRef({ $0.failure }) != nil else { return }
      queue._withUnsafeGuaranteedRef { $0.endAfterFailure() }
    }

    private func notifyQueues() {
      // The dispatch queue may have no other thread to run the work that the observers wait for.
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
      if !reevaluated.isEmpty { reevaluated = [] }
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
