/// A group of operations that acts as a single operation.
///
/// ```swift
/// let feed = GroupOperation(name: "feed", maxConcurrentOperationCount: 4) { group in
///   let page = group.addTask { try await fetch(addresses[0]) }
///   group.addTask(.dependingOn(page)) { try await render(page.value) }
/// }
/// queue.addOperation(feed)
/// try await feed.untilSucceeded()
/// ```
///
/// The operations of a group are in its own queue, the ``operationQueue``, which holds them back until the group
/// starts. They run where the queue that runs the group runs its operations. The group finishes when all of them have
/// finished. It keeps its concurrency slot in its queue from start to end and holds no thread.
///
/// *A group can grow* while it runs: its operations, or other code, can add operations to its queue, which is
/// ``OperationQueue/current`` inside its operations. A subclass can add its work in ``Operation/main()``:
///
/// ```swift
/// final class Gallery: GroupOperation, @unchecked Sendable {
///   override func main() {
///     for tile in ["left half", "right half"] { addOperation(BlockOperation { try draw(tile) }) }
///   }
/// }
/// ```
///
/// *It fails as one:* when an operation of the group fails, its error becomes the error of the group, and the other
/// operations are cancelled. *It is cancelled as one:* cancelling the group cancels all its operations, including
/// operations that you add later. The group finishes when they have finished. *It progresses as one:*
/// ``OperationProtocol/progress`` counts each operation as one unit, or as its ``OperationProtocol/progressUnitCount``,
/// and an operation's own progress as a fraction of its units. The fraction can decrease when the group grows.
///
/// *Groups can be nested.* Cancelling, raising or freeing a group takes O(*n*) in the number of its operations and of
/// the groups inside it. Cancelling also uses stack space for each level, so do not nest groups tens of thousands of
/// levels deep.
///
/// An operation of the group must not wait for the group or depend on it. The same applies to an observer of the
/// group's ``operationQueue`` that is notified of an addition, because the group waits for it.
open class GroupOperation: Operation, @unchecked Sendable {
  // Neither changes. The queue protects itself.
  private final let groupQueue = GroupQueue()

  /// The queue of the group's operations.
  ///
  /// The queue is suspended until the group starts. If you suspend it later, the group cannot finish, unless it was
  /// cancelled or one of its operations has failed. You can change the queue's limit and add operations until the group
  /// has finished. The queue's quality of service is at least the group's.
  ///
  /// - Precondition: When you add an operation, the group has not finished. If the group was cancelled or has failed,
  ///   it may already have finished. In that case, the operation is cancelled.
  public final var operationQueue: OperationQueue { groupQueue }

  /// Creates a group.
  ///
  /// - Parameters:
  ///   - name: The name of the group, and of its queue, in descriptions and messages.
  ///   - maxConcurrentOperationCount: The maximum number of operations of the group that run at the same time. By
  ///     default, the system decides.
  ///   - operations: The first operations of the group.
  public init(
    name: String? = nil,
    maxConcurrentOperationCount: Int = OperationQueue.defaultMaxConcurrentOperationCount,
    operations: [Operation] = []
  ) {
    super.init()
    groupQueue.group = self
    if let name {
      self.name = name
      groupQueue.name = name
    }
    groupQueue.progress.cancellationHandler = { [weak self] in self?.cancel() }
    groupQueue.progress.open()
    groupQueue.isSuspended = true
    groupQueue.maxConcurrentOperationCount = maxConcurrentOperationCount
    groupQueue.addOperations(operations, waitUntilFinished: false)
  }

  /// Creates a group with the operations that a function adds.
  ///
  /// - Parameters:
  ///   - name: The name of the group, and of its queue, in descriptions and messages.
  ///   - maxConcurrentOperationCount: The maximum number of operations of the group that run at the same time. By
  ///     default, the system decides.
  ///   - body: Adds operations to its argument, the ``operationQueue``. They start when the group starts.
  /// - Throws: The error that `body` throws.
  public convenience init<Failure: Error>(
    name: String? = nil,
    maxConcurrentOperationCount: Int = OperationQueue.defaultMaxConcurrentOperationCount,
    _ body: (OperationQueue) throws(Failure) -> Void
  ) throws(Failure) {
    self.init(name: name, maxConcurrentOperationCount: maxConcurrentOperationCount)
    try body(groupQueue)
  }

  deinit {
    // The group never started, so it might hold operations, and its queue would keep them forever.
    if !groupQueue.isClosed { ReleasedChain.release(AbandonedQueue(groupQueue)) }
  }

  /// Ends the operations of a group that was freed before it started.
  private final class AbandonedQueue {
    private let queue: GroupQueue

    init(_ queue: GroupQueue) { self.queue = queue }

    deinit { queue.cancelMembers() }
  }

  /// Adds an operation to the group.
  ///
  /// Does the same as `operationQueue.addOperation(operation)`.
  ///
  /// - Parameter operation: The operation to add.
  public final func addOperation(_ operation: Operation) { groupQueue.addOperation(operation) }

  /// Always true: the work continues after ``Operation/start()`` has returned.
  open override var isAsynchronous: Bool { true }

  // MARK: The run

  override var endsWithMain: Bool { false }

  override var queueOfParts: OperationQueue? { groupQueue }

  override func run() {
    if let queue, queue.trackedProgress != nil { _ = progress }
    groupQueue.inherit(from: queue)
    qualityWasRaised()
    groupQueue.isSuspended = false
    if mayKeepOthersWaiting {
      WaitGraph.lookForCycle(through: self, in: queue) { [weak self] in self?.state.current.phase == .executing }
    }
    if !runMain() { groupQueue.cancelMembers() }
    finishWhenEmpty()
  }

  override func endCancelled() {
    groupQueue.inherit(from: queue)
    groupQueue.cancelMembers()
    finishWhenEmpty()
  }

  override func cancelWork() {
    if state.current.phase == .executing { groupQueue.cancelMembers() } else { groupQueue.end() }
  }

  /// Cancels the operations of a group that a subclass has ended without starting it.
  override func abandonWork() { if !groupQueue.isClosed { groupQueue.cancelMembers() } }

  private final func finishWhenEmpty() {
    groupQueue.close(
      submitting: { [self] work in
        if let queue { queue.submit(work, of: self) } else { WorkerPool.shared.submit(work, count: 1) }
      },
      then: { [self] in finish() })
  }

  private final func finish() {
    if let error = groupQueue.firstFailure { recordError(error) }
    groupQueue.progress.close()
    if error == nil { endUnlessOverrideContinues() } else { end() }
  }

  // MARK: Quality of service and progress

  override func qualityWasRaised() {
    groupQueue.raiseQuality(to: effectiveQuality(in: queue?.knownQuality ?? .default))
  }

  override var labelOfFailedMember: String? { groupQueue.labelOfFirstFailure }

  override func makeProgress() -> OperationProgress { groupQueue.progress }
}
