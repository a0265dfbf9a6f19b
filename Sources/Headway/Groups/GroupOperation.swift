/// Operations that are one operation to the outside.
///
/// ```swift
/// let feed = GroupOperation(name: "feed", maxConcurrentOperationCount: 4) { group in
///   let page = group.addTask { try await fetch(addresses[0]) }
///   group.addTask(after: page) { try await render(page.value) }
/// }
/// queue.addOperation(feed)
/// try await feed.finishedSuccessfully()
/// ```
///
/// The operations of a group are in a queue of its own, its ``innerQueue``, which holds them back until the group
/// starts, and run where those of the group's queue do. The group finishes when all of them have; it keeps its place in
/// the limit of its queue from the start to the end, and holds no thread.
///
/// *It may grow* while it runs: its operations, or others, add to the inner queue, which is ``OperationQueue/current``
/// inside of them. A subclass may add what there is to do in ``Operation/main()``:
///
/// ```swift
/// final class Gallery: GroupOperation, @unchecked Sendable {
///   override func main() {
///     for tile in ["left half", "right half"] { addOperation(BlockOperation { try draw(tile) }) }
///   }
/// }
/// ```
///
/// *It fails as one:* when an operation of the group fails, its error becomes that of the group, and the others are
/// cancelled. *It is cancelled as one:* cancelling the group cancels them all, and those added later; it finishes when
/// they have. *It progresses as one:* ``OperationExtensions/progress`` counts each of them as one unit, of which their
/// own progress is a fraction; it may fall when the group grows.
///
/// *Groups may be nested.* To cancel a group, raise it or free it takes O(*n*) in the number of its operations and of
/// the groups inside it. Cancelling also uses the stack for each level, so do not nest groups tens of thousands of
/// levels deep.
///
/// An operation of the group must not wait for the group, nor depend on it; nor must an observer of the inner queue
/// that is notified of an addition, for which the group waits.
open class GroupOperation: Operation, @unchecked Sendable {
  // Neither changes; the queue protects itself.
  private final let groupQueue = GroupQueue()

  /// The queue of the group's operations.
  ///
  /// It is suspended until the group starts. If you suspend it later, that holds the group up, unless the group was
  /// cancelled or one of its operations has failed. You can change its limit, and add to it, until the group has
  /// finished. Its quality of service is at least that of the group.
  ///
  /// - Precondition: To what is added to it: the group has not finished, unless it was cancelled or has failed; then
  ///   the operation is cancelled.
  public final var innerQueue: OperationQueue { groupQueue }

  /// Creates a group.
  ///
  /// - Parameters:
  ///   - name: What to call the group, and its queue, in descriptions and messages.
  ///   - maxConcurrentOperationCount: How many operations of the group run at once, at most; by default the system
  ///     decides.
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

  /// Creates a group, and lets a function add operations.
  ///
  /// - Parameters:
  ///   - name: What to call the group, and its queue, in descriptions and messages.
  ///   - maxConcurrentOperationCount: How many operations of the group run at once, at most; by default the system
  ///     decides.
  ///   - body: Adds operations to the queue that it is called with, the ``innerQueue``. They start when the group does.
  /// - Throws: What `body` throws.
  public convenience init<Failure: Error>(
    name: String? = nil,
    maxConcurrentOperationCount: Int = OperationQueue.defaultMaxConcurrentOperationCount,
    _ body: (OperationQueue) throws(Failure) -> Void
  ) throws(Failure) {
    self.init(name: name, maxConcurrentOperationCount: maxConcurrentOperationCount)
    try body(groupQueue)
  }

  deinit {
    // Never started, and so it may hold operations, which it would keep for ever.
    if !groupQueue.isClosed { ReleasedChain.release(AbandonedQueue(groupQueue)) }
  }

  /// Ends the operations of a group that was freed before it started.
  private final class AbandonedQueue {
    private let queue: GroupQueue

    init(_ queue: GroupQueue) { self.queue = queue }

    deinit { queue.cancelMembers() }
  }

  /// Adds an operation to the group; what `innerQueue.addOperation(operation)` does.
  ///
  /// - Parameter operation: The operation.
  public final func addOperation(_ operation: Operation) { groupQueue.addOperation(operation) }

  /// True: the work goes on after ``Operation/start()`` has returned.
  open override var isAsynchronous: Bool { true }

  // MARK: The run

  override var endsWithMain: Bool { false }

  override var queueOfParts: OperationQueue? { groupQueue }

  override func run() {
    if let queue, queue.trackedProgress != nil { _ = progress }
    groupQueue.inherit(from: queue)
    qualityWasRaised()
    groupQueue.isSuspended = false
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

  /// A subclass has ended it without having started it.
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
    if error == nil { endUnlessSubclassGoesOn() } else { end() }
  }

  // MARK: Quality of service and progress

  override func qualityWasRaised() {
    groupQueue.raiseQuality(to: effectiveQuality(in: queue?.knownQuality ?? .default))
  }

  override func makeProgress() -> OperationProgress { groupQueue.progress }
}
