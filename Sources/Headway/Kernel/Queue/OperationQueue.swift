public import Dispatch
import Synchronization

/// Runs operations on threads that it does not own, in an order that depends on their readiness, their priority and
/// when they were added.
///
/// ```swift
/// let queue = OperationQueue()
/// queue.maxConcurrentOperationCount = 4
///
/// let fetch = BlockOperation { print("fetch") }
/// let parse = BlockOperation { print("parse") }
/// parse.addDependency(fetch)
/// queue.addOperations([fetch, parse], waitUntilFinished: true)
/// ```
///
/// A queue owns its operations until they have finished. The only way to remove an operation is to cancel it. If you
/// release a queue, it still runs all of its operations, and is then freed. If it is suspended, or its limit is 0, it
/// keeps itself and its operations alive until they are cancelled, because other operations may depend on them.
/// Therefore, before you release such a queue, resume it or call ``cancelAllOperations()``.
///
/// You can use every member from any thread.
@dynamicMemberLookup
open class OperationQueue: @unchecked Sendable {
  // Protection of the state: `state` has a lock. While it is held, only code of this module is called. The only other
  // locks taken are the locks of the observer list and the event log. `knownProgress` has a separate lock.
  //
  // Members that subclasses of Foundation's class can override are open, and so must be declared here. The related
  // extensions implement them.

  let state: Guarded<QueueState>
  /// Set before any other code has a reference to the queue.
  @exclusivity(unchecked) final private(set) var isMain = false
  /// Whether operations start strictly in insertion order.
  ///
  /// Set before any other code has a reference to the queue.
  @exclusivity(unchecked) final var startsInOrder = false
  /// The queue's neighbors among all queues; belongs to ``LiveQueues``.
  @exclusivity(unchecked) final var liveLinks = LiveQueues.Links()
  /// A thread is on its way to the queue and will empty the inbox.
  let servesInbox = Atomic<Bool>(false)
  /// Whether the queue is about to check for waiting jobs whose tasks have been escalated.
  let looksForEscalations = Atomic<Bool>(false)
  /// The followers of all operations in the queue, for reading without the lock: see ``Followers``.
  let followers = Atomic<UInt32>(0)
  /// The level of its quality of service, for reading without the lock.
  let qualityLevel = Atomic<Int>(0)
  /// The progress in ``knownProgress``, for reading without the lock.
  let progressPointer = Atomic<UnsafeRawPointer?>(nil)
  /// The log of events while it has listeners, for reading without the lock.
  let eventLogPointer = Atomic<UnsafeRawPointer?>(nil)
  /// The instruments, for reading without the lock.
  let instrumentsPointer = Atomic<UnsafeRawPointer?>(nil)

  /// Separates the properties above, which threads read for each operation, from the properties that each addition
  /// changes.
  private let gap = CacheLine()
  /// The operations that were added while the inbox was served.
  let inbox = Inbox()
  /// Notifies the worker that spins for this queue, if there is one, that work is available.
  let spinSignal = Atomic<Bool>(false)
  /// How many operations have left the queue, or are about to, while their completion blocks have not returned.
  let dueCompletions = Atomic<Int>(0)
  /// Created on first use: it refers back to the queue weakly, which slows down reference counting.
  let knownProgress = Guarded<OperationProgress?>(nil)
  /// Separates the inbox from the object behind the queue.
  private let end = CacheLine()

  /// The progress of the operations in the queue.
  ///
  /// The default `totalUnitCount` is 0, which tracks nothing. After you set it, each operation that finishes completes
  /// one unit, or as many as its ``Operation/progressUnitCount``. While an operation runs, its own
  /// ``Operation/progress`` counts as a fraction of its units. Barriers complete no unit. The units of an operation are
  /// complete before it leaves the queue. The progress notifies its observers afterwards.
  ///
  /// Cancelling the progress cancels the operations in the queue, once: a cancelled progress stays cancelled. You can
  /// call ``cancelAllOperations()`` again.
  open var progress: OperationProgress { progressCreatedIfNeeded }

  /// Creates an empty queue that is not suspended and has no limit on concurrent operations.
  public init() {
    OperationLayout.requireKnown()
    state = Guarded(QueueState())
    LiveQueues.add(self)
    noteCreation()
  }

  /// Creates an empty queue with the given settings.
  ///
  /// ```swift
  /// let queue = OperationQueue(name: "thumbnails", maxConcurrentOperationCount: 4)
  /// ```
  ///
  /// - Parameters:
  ///   - name: The name of the queue in descriptions and messages.
  ///   - maxConcurrentOperationCount: How many operations run at the same time, at most. By default, the system
  ///     decides.
  ///   - qualityOfService: How important the queue's work is to the user.
  /// - Precondition: `maxConcurrentOperationCount` is -1 or more.
  public convenience init(
    name: String?, maxConcurrentOperationCount: Int = OperationQueue.defaultMaxConcurrentOperationCount,
    qualityOfService: QualityOfService = .default
  ) {
    self.init()
    configure(name: name, order: .priority, qualityOfService)
    self.maxConcurrentOperationCount = maxConcurrentOperationCount
  }

  /// Creates an empty queue with a limit and without a name.
  ///
  /// - Parameters:
  ///   - maxConcurrentOperationCount: How many operations run at the same time, at most.
  ///   - qualityOfService: How important the queue's work is to the user.
  /// - Precondition: `maxConcurrentOperationCount` is -1 or more.
  public convenience init(maxConcurrentOperationCount: Int, qualityOfService: QualityOfService = .default) {
    self.init(
      name: nil, maxConcurrentOperationCount: maxConcurrentOperationCount, qualityOfService: qualityOfService)
  }

  /// Creates an empty queue without a name.
  ///
  /// - Parameter qualityOfService: How important the queue's work is to the user.
  public convenience init(qualityOfService: QualityOfService) {
    self.init(name: nil, qualityOfService: qualityOfService)
  }

  /// Creates an empty queue that starts its operations in a given order.
  ///
  /// ```swift
  /// let log = OperationQueue(name: "log", order: .fifo)
  /// log.addOperation { print("first") }
  /// log.addOperation { print("second") }
  /// ```
  ///
  /// - Parameters:
  ///   - name: The name of the queue in descriptions and messages.
  ///   - order: How the queue chooses the next operation to start.
  ///   - qualityOfService: How important the queue's work is to the user.
  public convenience init(
    name: String? = nil, order: QueueOrder, qualityOfService: QualityOfService = .default
  ) {
    self.init()
    configure(name: name, order: order, qualityOfService)
  }

  // A convenience initializer, like the other initializers: subclasses inherit convenience initializers only if they
  // can see all designated ones.
  private convenience init(mainName: String) {
    self.init()
    isMain = true
    state.withLock { state in
      state.name = mainName
      state.maxConcurrentOperationCount = 1
      state.admission.limit = 1
      state.underlyingQueue = .main
      setQuality(.userInteractive, &state)
    }
  }

  deinit {
    LiveQueues.remove(self)
    noteDeletion()
    state.withLock { $0.admission.policy }?.end()
    state.withLock { $0.followers.eventLog }?.end()
    ReleasedChain.release(state.withLock { $0.takeUserObjects() })
  }

  // MARK: Existing queues

  /// The queue of the main dispatch queue, and therefore of the main actor.
  ///
  /// It runs its operations there, one at a time. The operations run while a thread serves the main dispatch queue:
  /// after `dispatchMain()`, in a run loop, or while an asynchronous `main` awaits. On Linux, that thread need not be
  /// the first thread of the process. If the thread that serves the queue waits for one of these operations, it waits
  /// for itself. Headway reports this as ``OperationQueueEvent/deadlocked(_:)``, and on the standard error stream.
  open class var main: OperationQueue { mainQueue }

  private static let mainQueue = OperationQueue(mainName: "main queue")

  /// The queue that runs the current operation, or nil if the caller is not inside an operation.
  ///
  /// Outside of operations, the main thread and the main dispatch queue get ``main``.
  open class var current: OperationQueue? { ThreadContext.queue ?? (MainDispatchQueue.isCurrent ? mainQueue : nil) }

  /// Adds a new operation as a barrier.
  ///
  /// A subclass can override this method to receive all barriers.
  func add(barrier operation: BlockOperation) { takeBarrier(operation) }

  /// Notes that a task is about to add an operation, perhaps after a wait.
  ///
  /// ``endAddition()`` must follow, unless this returns false. Queues that can close override it.
  func beginAddition() -> Bool { true }

  func endAddition() {}

  // MARK: Failures, for queues that end with the first one

  /// Notes that an operation has failed and is about to leave the queue.
  ///
  /// ``endAfterFailure()`` follows.
  func noteFailure(of operation: Operation, _ error: any Error, leaving effects: inout Effects) {}

  /// Ends the queue after a failed operation has left it.
  func endAfterFailure() {}

  /// The operation whose parts the queue holds, if it is the queue of a group.
  var operationOfParts: Operation? { nil }

  /// Notes that an operation of the queue has become ready.
  ///
  /// Not final, so that a test can observe the notifications.
  func operationBecameReady(_ operation: Operation, leaving effects: inout Effects) {
    // Here and elsewhere, the reference is unretained: the closure would retain it on each call.
    let reference = OperationReference(operation)
    update(leaving: &effects) { $0.becameReady(reference) }
  }

  /// Notes that several operations of the queue have become ready.
  func operationsBecameReady(_ references: [OperationReference], leaving effects: inout Effects) {
    guard !references.isEmpty else { return }
    update(leaving: &effects) { state in
      for reference in references { state.becameReady(reference) }
    }
  }

  // MARK: Limits

  /// The value of ``maxConcurrentOperationCount`` that lets the system decide.
  public static let defaultMaxConcurrentOperationCount = -1

  /// How many operations run at the same time, at most.
  ///
  /// The default, -1, lets the system decide: it runs about one operation per processor, and more when operations
  /// block. If you set 1, the queue runs one operation at a time, but *not* in insertion order, because readiness and
  /// priority take precedence (see ``QueueOrder``). If you set 0, it runs nothing.
  ///
  /// A change takes effect immediately. When you raise the limit, more operations start. When you lower it, running
  /// operations finish. The main queue, and queues with the order ``QueueOrder/fifo``, always run one operation at a
  /// time: setting the property has no effect.
  ///
  /// - Precondition: The value is -1 or more.
  open var maxConcurrentOperationCount: Int {
    get { state.withLock { $0.maxConcurrentOperationCount } }
    set { setLimit(newValue) }
  }

  /// Whether the queue holds back operations that have not started.
  ///
  /// While a queue is suspended, running operations continue, and you can add operations. Cancelled operations leave
  /// the queue, unless they have their own code to run for that (see ``Operation/cancel()``). The main queue can't be
  /// suspended: setting the property has no effect.
  ///
  /// If you release a suspended queue, it keeps its operations until they are cancelled.
  open var isSuspended: Bool {
    get { state.withLock { $0.admission.isSuspended } }
    set { setSuspended(newValue) }
  }

  /// How important the queue's work is to the user.
  ///
  /// It determines which threads run the operations. An operation runs at the higher of this quality of service and its
  /// own. A change applies to operations that start afterwards. A higher value also applies to a running
  /// ``TaskOperation``, after its next suspension. If the queue has an ``underlyingQueue``, the dispatch queue's
  /// quality of service applies instead. The quality of service of ``main`` is always `.userInteractive`.
  open var qualityOfService: QualityOfService {
    get { state.withLock { $0.qualityOfService } }
    set { setQuality(newValue) }
  }

  /// The dispatch queue that runs the operations, or nil for Headway's own threads.
  ///
  /// If it is the main dispatch queue, the operations run on the main thread, together with the operations of ``main``.
  /// The underlying queue of ``main`` can't be changed: setting the property has no effect.
  ///
  /// - Precondition: When you set the property, the queue is empty, or is ``main``.
  open var underlyingQueue: DispatchQueue? {
    get { state.withLock { $0.underlyingQueue } }
    set { setUnderlyingQueue(newValue) }
  }

  // MARK: The operations of the queue

  /// A snapshot of the operations that have not finished, including barriers, in insertion order.
  ///
  /// - Complexity: O(*n*).
  open var operations: [Operation] {
    makeOperations()
    return update(collectingBatches: true) { $0.admission.operations }
  }

  /// How many operations have not finished.
  ///
  /// - Complexity: O(1).
  open var operationCount: Int { update(collectingBatches: true) { $0.admission.count } }

  // MARK: Adding

  /// Adds an operation, which starts when it is ready and the queue allows it.
  ///
  /// If the queue is closed, it cancels the operation: see ``OperationQueueDynamicMembers/close``.
  ///
  /// - Parameter operation: The operation to run. An operation that was cancelled, and therefore has finished, is
  ///   ignored.
  /// - Precondition: The operation is in no queue, is not executing, and has not finished, unless it was cancelled.
  /// - Complexity: O(1).
  open func addOperation(_ operation: Operation) { add(operation) }

  /// Adds a block as a separate operation.
  ///
  /// A subclass that overrides ``addOperation(_:)-(Operation)`` receives the operation there as well.
  ///
  /// - Parameter block: The block to run.
  /// - Complexity: O(1).
  open func addOperation(_ block: @escaping @Sendable () -> Void) { add(block) }

  /// Adds several operations at the same time.
  ///
  /// All of them are checked before the first one is added.
  ///
  /// - Parameters:
  ///   - operations: The operations to run. Cancelled operations, which have finished, are ignored.
  ///   - wait: Whether to block the calling thread until all of the operations have finished. Their completion blocks
  ///     have usually run by then, but the wait does not depend on them: see ``Operation/completionBlock``.
  /// - Precondition: Each operation meets the requirements of ``addOperation(_:)-(Operation)``, and none is in the list
  ///   twice.
  /// - Complexity: O(*n*).
  open func addOperations(_ operations: [Operation], waitUntilFinished wait: Bool) {
    add(operations, waitUntilFinished: wait)
  }

  /// Adds a block that starts when every operation added before it has finished.
  ///
  /// Operations added after it start only after it has finished. The block obeys the queue's suspension and limit like
  /// any operation and runs on the same threads. If it is cancelled, it holds back no other operation. It does not
  /// affect other queues.
  ///
  /// - Parameter barrier: The block to run.
  /// - Complexity: O(*n*) in the number of waiting blocks that have no operation yet.
  open func addBarrierBlock(_ barrier: @escaping @Sendable () -> Void) { add(barrier: barrier) }

  // MARK: Cancelling and waiting

  /// Cancels all operations that are currently in the queue.
  ///
  /// Operations that have not started when you call this method do not start, even if running operations end during the
  /// call. The same applies to operations in groups.
  ///
  /// You can call this method from inside one of the operations. Operations added later are not cancelled. Running
  /// operations end when they check ``Operation/isCancelled``. To continue only after they have ended, wait for the
  /// queue.
  ///
  /// - Complexity: O(*n*). The lock of the queue is held for a limited time in each step.
  open func cancelAllOperations() { cancelAll() }

  /// Blocks the calling thread until the queue is empty.
  ///
  /// Operations added during the wait prolong it. An operation leaves the queue before its observers are notified, and
  /// before ``OperationQueueProtocol/failureHandler`` is called, because either may need the thread that this method
  /// blocks. In contrast, `await untilAllOperationsAreFinished()` includes the call of `failureHandler` and the
  /// observers of the queue. Completion blocks have usually run when this method returns: it waits up to 0.2 ms for
  /// them, but never depends on them.
  ///
  /// If the queue can't become empty until an operation that calls this method has finished, the deadlock is reported
  /// within 0.1 s as ``OperationQueueEvent/deadlocked(_:)``. The wait continues, because another thread may still
  /// resolve it.
  ///
  /// - Precondition: The caller is not inside the ``Operation/main()`` of one of this queue's operations, because that
  ///   operation would wait for itself forever. The requirement does not apply to an ``AsynchronousOperation``.
  @available(*, noasync, message: "This blocks the thread: await untilAllOperationsAreFinished() instead.")
  open func waitUntilAllOperationsAreFinished() { blockUntilEmpty() }

  // MARK: Names and descriptions

  /// The name of the queue in descriptions and messages.
  ///
  /// The default is nil. The name of ``main`` can't be changed.
  open var name: String? {
    get { state.withLock { $0.name } }
    set {
      guard !isMain else { return }
      update { state in
        state.name = newValue
        state.note(.name, newValue as any Sendable)
      }
    }
  }

  /// The queue's name, its number of operations, and whether it is suspended or closed.
  open var description: String { shortDescription }

  /// The same text as ``description``.
  open var debugDescription: String { description }

  // MARK: Key-value observing

  /// Returns the names of the properties that affect the value of another property.
  ///
  /// Override it in a class that computes some properties from others. When the class posts a change of a property by
  /// name, the properties that depend on it have changed as well:
  ///
  /// ```swift
  /// class Uploads: OperationQueue, @unchecked Sendable {
  ///   override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
  ///     key == "isIdle" ? ["operationCount"] : super.keyPathsForValuesAffectingValue(forKey: key)
  ///   }
  /// }
  /// ```
  ///
  /// The default implementation returns an empty set. Only Objective-C finds a separate method per property, such as
  /// `keyPathsForValuesAffectingIsIdle()`.
  ///
  /// - Parameter key: The name of a property, with or without the prefix `is`.
  /// - Returns: The names of the properties that affect it. For a path such as `request.state`, only the first part
  ///   counts.
  open class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> { [] }

  /// Returns whether setting a property notifies its observers without a posted change.
  ///
  /// The default implementation returns true. A queue posts changes of its own properties, and a subclass posts changes
  /// of the properties that it adds, even if an override returns true.
  ///
  /// - Parameter key: The name of a property.
  /// - Returns: Whether observers are notified automatically.
  open class func automaticallyNotifiesObservers(forKey key: String) -> Bool { true }

  // MARK: Equality

  /// The value that ``hash(into:)`` feeds to the hasher.
  ///
  /// The default identifies the object. If you override ``isEqual(_:)``, override this property, too.
  open var hash: Int { Int(bitPattern: Unmanaged.passUnretained(self).toOpaque()) }

  /// Returns whether `object` equals this queue.
  ///
  /// The operator `==` calls this method. By default, only the same object is equal.
  ///
  /// - Parameter object: The object to compare with the queue.
  /// - Returns: Whether the two are equal.
  open func isEqual(_ object: Any?) -> Bool { object as? OperationQueue === self }
}

extension OperationQueue: Hashable {
  /// Returns whether two queues are equal according to ``isEqual(_:)``: by default, whether they are the same object.
  ///
  /// - Parameters:
  ///   - left: A queue to compare.
  ///   - right: The queue to compare it with.
  /// - Returns: Whether they are equal.
  public static func == (left: OperationQueue, right: OperationQueue) -> Bool { left.isEqual(right) }

  /// Feeds ``hash`` to a hasher.
  ///
  /// - Parameter hasher: The hasher to feed.
  public final func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}

extension OperationQueue: CustomStringConvertible, CustomDebugStringConvertible {
  /// The value of ``description``.
  final var shortDescription: String {
    let (count, isSuspended, isClosed) = update(collectingBatches: true) { state in
      (state.admission.count, state.admission.isSuspended, state.isClosed)
    }
    let settings = (isSuspended ? ", suspended" : "") + (isClosed ? ", closed" : "")
    return "\(label) (\(count) operation\(count == 1 ? "" : "s")\(settings))"
  }

  /// The word “queue” and the name in quotation marks, for messages.
  final var label: String { name.map { "queue “\($0)”" } ?? "a queue without a name" }
}
