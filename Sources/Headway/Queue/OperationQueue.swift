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
/// A queue owns what it holds until that has finished; the only way to take an operation out is to cancel it. A queue
/// that you release runs what it holds to the end, and is then freed. If it is suspended, or its limit is 0, it keeps
/// itself and its operations until they are cancelled, because others may depend on them. So before you release such a
/// queue, resume it or call ``cancelAllOperations()``.
///
/// Every member may be used from any thread.
open class OperationQueue: @unchecked Sendable {
  // What protects the state: `state` has a lock, under which nothing is called that is not in this module and no other
  // lock is taken, but those of the list of observers and of the buffers of events. `knownProgress` has a lock of its
  // own.
  //
  // Members that Foundation's class lets subclasses override are open, and so have to be here; what they do is in the
  // extension that is about it.

  let state: Guarded<QueueState>
  /// Set before anybody knows the queue.
  @exclusivity(unchecked) final private(set) var isMain = false
  /// Tells the worker that spins for this queue, if there is one, that there is something to do.
  let spinSignal = Atomic<Bool>(false)
  /// What was added while the inbox was served.
  let inbox = Inbox()
  /// A thread is on its way to the queue, and will take the inbox in.
  let servesInbox = Atomic<Bool>(false)
  /// How many operations have left it, or are about to, whose completion blocks have not returned.
  let dueCompletions = Atomic<Int>(0)
  /// It has had jobs of tasks.
  let hasJobs = Atomic<Bool>(false)
  /// It is about to look whether tasks have been escalated whose jobs wait.
  let looksForEscalations = Atomic<Bool>(false)
  /// The level of its quality of service, to be looked at without the lock.
  let qualityLevel = Atomic<Int>(0)

  /// Made when it is first asked for: it refers back to the queue weakly, which makes counting references slower.
  let knownProgress = Guarded<OperationProgress?>(nil)
  /// The same, to be looked at without the lock.
  let progressPointer = Atomic<UnsafeRawPointer?>(nil)

  /// The progress of what the queue runs.
  ///
  /// With `totalUnitCount` 0, as it is at first, nothing is tracked. Set it, and each operation that finishes completes
  /// one unit; of an operation that runs, its own ``Operation/progress`` counts as a fraction of that unit. Barriers
  /// complete no unit. A unit is complete before its operation leaves the queue; observers of the progress are notified
  /// afterwards.
  ///
  /// Cancelling the progress cancels what the queue holds, once: a progress that was cancelled stays so, and
  /// ``cancelAllOperations()`` may be called again.
  open var progress: OperationProgress {
    knownProgress.withLock { known in
      if let known { return known }
      let made = OperationProgress(totalUnitCount: 0)
      made.cancellationHandler = { [weak self] in self?.cancelAllOperations() }
      made.state.withLock { $0.unitCancellation = { [weak self] in self?.cancelRunningUnits() } }
      known = made
      progressPointer.store(Unmanaged.passUnretained(made).toOpaque(), ordering: .releasing)
      return made
    }
  }

  /// Creates a queue that holds nothing, is not suspended and lets the system decide how much runs at once.
  public init() {
    state = Guarded(QueueState())
    LiveQueues.add(self)
  }

  /// Creates a queue that holds nothing, with its settings.
  ///
  /// ```swift
  /// let queue = OperationQueue(name: "thumbnails", maxConcurrentOperationCount: 4)
  /// ```
  ///
  /// - Parameters:
  ///   - name: What to call the queue in descriptions and messages.
  ///   - maxConcurrentOperationCount: How many operations run at once, at most; by default the system decides.
  ///   - qualityOfService: How important its work is to the user.
  /// - Precondition: `maxConcurrentOperationCount` is not below -1.
  public convenience init(
    name: String?, maxConcurrentOperationCount: Int = OperationQueue.defaultMaxConcurrentOperationCount,
    qualityOfService: QualityOfService = .default
  ) {
    self.init()
    configure(name: name, order: .priority, qualityOfService)
    self.maxConcurrentOperationCount = maxConcurrentOperationCount
  }

  /// Creates a queue without a name that holds nothing, with a limit.
  ///
  /// - Parameters:
  ///   - maxConcurrentOperationCount: How many operations run at once, at most.
  ///   - qualityOfService: How important its work is to the user.
  /// - Precondition: `maxConcurrentOperationCount` is not below -1.
  public convenience init(maxConcurrentOperationCount: Int, qualityOfService: QualityOfService = .default) {
    self.init(
      name: nil, maxConcurrentOperationCount: maxConcurrentOperationCount, qualityOfService: qualityOfService)
  }

  /// Creates a queue without a name that holds nothing.
  ///
  /// - Parameter qualityOfService: How important its work is to the user.
  public convenience init(qualityOfService: QualityOfService) {
    self.init(name: nil, qualityOfService: qualityOfService)
  }

  /// Creates a queue that holds nothing and starts its operations in an order.
  ///
  /// ```swift
  /// let log = OperationQueue(name: "log", order: .fifo)
  /// log.addOperation { print("first") }
  /// log.addOperation { print("second") }
  /// ```
  ///
  /// - Parameters:
  ///   - name: What to call the queue in descriptions and messages.
  ///   - order: The order.
  ///   - qualityOfService: How important its work is to the user.
  public convenience init(
    name: String? = nil, order: QueueOrder, qualityOfService: QualityOfService = .default
  ) {
    self.init()
    configure(name: name, order: order, qualityOfService)
  }

  // A convenience initializer as the others, which a subclass inherits if there is no designated one that it can't see.
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
    state.withLock { $0.eventBuffers }?.end()
    ReleasedChain.release(state.withLock { $0.takeUserObjects() })
  }

  // MARK: Queues that are there

  /// The queue of the main dispatch queue, and so of the main actor: its operations run there, one at a time.
  ///
  /// They run while that queue is served: after `dispatchMain()`, in a run loop, or while an asynchronous `main`
  /// awaits. On Linux the thread that serves it then need not be the process's first. A thread that serves it and waits
  /// for one of these operations waits for itself: that is reported as ``OperationQueueEvent/waitsInCycle(_:)``, and on
  /// the standard error stream.
  open class var main: OperationQueue { mainQueue }

  private static let mainQueue = OperationQueue(mainName: "main queue")

  /// The queue that runs the operation from which this is called, or nil outside of operations; on the main thread,
  /// or main queue, outside of operations, ``main``.
  open class var current: OperationQueue? { ThreadContext.queue ?? (MainDispatchQueue.isCurrent ? mainQueue : nil) }

  /// Adds a new operation as a barrier; for subclasses, which hear of every barrier here.
  func add(barrier operation: BlockOperation) { takeBarrier(operation) }

  /// A task is about to add an operation, perhaps after a wait; ``endAddition()`` follows, unless this returns false:
  /// for queues that come to an end.
  func beginAddition() -> Bool { true }

  func endAddition() {}

  // MARK: Failures, for queues that end with the first

  /// An operation has failed, and is about to leave the queue.
  func noteFailure(_ error: any Error) {}

  /// An operation that has failed has left the queue.
  func endAfterFailure() {}

  /// The operation whose parts it holds, if it is the queue of a group.
  var operationOfParts: Operation? { nil }

  /// An operation of the queue has become ready.
  ///
  /// Not final, so that a test can see what a queue hears.
  func operationBecameReady(_ operation: Operation, leaving effects: inout Effects) {
    // Here and elsewhere, unretained in the closure, for which it would be retained each time.
    let reference = OperationReference(operation)
    update(leaving: &effects) { $0.becameReady(reference) }
  }

  /// As ``operationBecameReady(_:leaving:)``, for several at once.
  func operationsBecameReady(_ references: [OperationReference], leaving effects: inout Effects) {
    guard !references.isEmpty else { return }
    update(leaving: &effects) { state in
      for reference in references { state.becameReady(reference) }
    }
  }

  // MARK: Limits

  /// The value of ``maxConcurrentOperationCount`` that lets the system decide.
  public static let defaultMaxConcurrentOperationCount = -1

  /// How many operations run at once, at most.
  ///
  /// -1, the default, lets the system decide: about as many as there are processors, and more when operations block. 1
  /// runs one at a time, *not* in the order of adding, since readiness and priority come first (see ``QueueOrder``). 0
  /// runs nothing. A change takes effect at once: when the limit is raised, more operations start; when it is lowered,
  /// those that are running finish. The main queue, and one whose order is ``QueueOrder/fifo``, always run one at a
  /// time: setting it does nothing.
  ///
  /// - Precondition: It is not below -1.
  open var maxConcurrentOperationCount: Int {
    get { state.withLock { $0.maxConcurrentOperationCount } }
    set { setLimit(newValue) }
  }

  /// Whether the queue holds back operations that have not started.
  ///
  /// Operations that are running go on, operations can be added, and cancelled operations leave the queue, unless they
  /// have code of their own to run for that (see ``Operation/cancel()``). The main queue can't be suspended: setting it
  /// does nothing.
  ///
  /// A suspended queue that you release keeps its operations until they are cancelled.
  open var isSuspended: Bool {
    get { state.withLock { $0.admission.isSuspended } }
    set { setSuspended(newValue) }
  }

  /// How important the queue's work is to the user: on which threads its operations run.
  ///
  /// An operation runs at the higher of this and its own. A change applies to what starts from then on; of a
  /// ``TaskOperation`` that runs, a higher one applies to what it does after its next suspension. With an
  /// ``underlyingQueue`` it is the dispatch queue's quality of service that counts; that of ``main`` is always
  /// `.userInteractive`.
  open var qualityOfService: QualityOfService {
    get { state.withLock { $0.qualityOfService } }
    set { setQuality(newValue) }
  }

  /// The dispatch queue on which operations run, or nil for the threads of this library.
  ///
  /// It may be the main one: the operations then run on the main thread, beside those of ``main``. That of ``main``
  /// can't be changed: setting it does nothing.
  ///
  /// - Precondition: When it is set, the queue holds nothing, or is ``main``.
  open var underlyingQueue: DispatchQueue? {
    get { state.withLock { $0.underlyingQueue } }
    set { setUnderlyingQueue(newValue) }
  }

  // MARK: What it holds

  /// The operations that have not finished, barriers among them, in the order in which they were added: a snapshot.
  ///
  /// - Complexity: O(*n*).
  open var operations: [Operation] { update(collectingBatches: true) { $0.admission.operations } }

  /// How many operations have not finished.
  ///
  /// - Complexity: O(1).
  open var operationCount: Int { update(collectingBatches: true) { $0.admission.count } }

  // MARK: Adding

  /// Adds an operation, which starts when it is ready and the queue lets it.
  ///
  /// - Parameter operation: The operation to run. One that was cancelled, and so has finished, is ignored.
  /// - Precondition: It is in no queue, is not executing, and has not finished otherwise than by cancelling.
  /// - Complexity: O(1).
  open func addOperation(_ operation: Operation) { add(operation) }

  /// Adds a block as an operation of its own.
  ///
  /// A subclass hears of it in ``addOperation(_:)-(Operation)``, too.
  ///
  /// - Parameter block: What to run.
  /// - Complexity: O(1).
  open func addOperation(_ block: @escaping @Sendable () -> Void) { add(block) }

  /// Adds several operations at once; all are looked at before the first is added.
  ///
  /// - Parameters:
  ///   - operations: The operations to run. Those that were cancelled, and so have finished, are ignored.
  ///   - wait: Whether to block the calling thread until all of them have finished. Their completion blocks have mostly
  ///     run then, but the wait does not depend on them: see ``Operation/completionBlock``.
  /// - Precondition: As for ``addOperation(_:)-(Operation)``, each; and none is in the list twice.
  /// - Complexity: O(*n*).
  open func addOperations(_ operations: [Operation], waitUntilFinished wait: Bool) {
    add(operations, waitUntilFinished: wait)
  }

  /// Adds a block that starts when everything added before it has finished, and before which nothing added after it
  /// starts.
  ///
  /// It obeys the queue's suspension and limit like any operation, and runs where they do. If it is cancelled, it holds
  /// nothing back. It does not affect other queues.
  ///
  /// - Parameter barrier: What to run.
  /// - Complexity: O(1).
  open func addBarrierBlock(_ barrier: @escaping @Sendable () -> Void) { add(barrier: barrier) }

  // MARK: Cancelling and waiting

  /// Cancels all operations that are in the queue at this moment.
  ///
  /// It may be called from inside one of them. What is added later is not cancelled. Operations that are running end
  /// when they look at ``Operation/isCancelled``; to go on only when they have ended, wait for the queue.
  ///
  /// - Complexity: O(*n*).
  open func cancelAllOperations() {
    cancel(operations)
  }

  /// Blocks the calling thread until the queue holds nothing.
  ///
  /// Operations added meanwhile prolong the wait. An operation leaves the queue before its observers are notified, and
  /// before ``OperationQueueExtensions/onFailure`` is called: either may need the thread that this blocks. `await
  /// finished()` includes that call, and observers of the queue. Completion blocks have usually run when this returns:
  /// it gives them up to 0.2 ms, and never depends on them.
  ///
  /// If the queue can't become empty before an operation that the calling thread is inside of has finished, the wait is
  /// reported within a tenth of a second as ``OperationQueueEvent/waitsInCycle(_:)``, and goes on, since something else
  /// may end it.
  ///
  /// - Precondition: It is not called from inside the ``Operation/main()`` of one of this queue's operations, which
  ///   would wait for itself for ever. That does not apply to an ``AsynchronousOperation``.
  @available(*, noasync, message: "This blocks the thread: await finished() instead.")
  open func waitUntilAllOperationsAreFinished() { blockUntilEmpty() }

  // MARK: Names and descriptions

  /// What to call the queue in descriptions and messages.
  ///
  /// Nil by default. That of ``main`` can't be changed.
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

  /// The queue's name, how much it holds and whether it is suspended.
  open var description: String { shortDescription }

  /// The description.
  open var debugDescription: String { description }

  // MARK: Key-value observing

  /// Returns the names of the properties that affect the value of another.
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
  /// The default returns an empty set. A separate method per property, as
  /// `keyPathsForValuesAffectingIsIdle()`, is found by Objective-C only.
  ///
  /// - Parameter key: The name of a property, in the form with `is` or without it.
  /// - Returns: The names of those that affect it. Of a path such as `request.state`, the first part counts.
  open class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> { [] }

  /// Returns whether setting a property notifies its observers without a posted change.
  ///
  /// The default returns true. A queue posts changes of its own properties itself, and a subclass posts those of the
  /// properties that it adds, even if an override returns true.
  ///
  /// - Parameter key: The name of a property.
  /// - Returns: Whether observers are notified automatically.
  open class func automaticallyNotifiesObservers(forKey key: String) -> Bool { true }

  // MARK: Equality

  /// What ``hash(into:)`` feeds; that of the object's identity.
  ///
  /// An override of ``isEqual(_:)`` goes with one of this.
  open var hash: Int { Int(bitPattern: Unmanaged.passUnretained(self).toOpaque()) }

  /// Whether `object` equals this queue, which `==` asks: whether it is the same object.
  ///
  /// - Parameter object: What to compare it with.
  /// - Returns: Whether the two are equal.
  open func isEqual(_ object: Any?) -> Bool { object as? OperationQueue === self }
}

extension OperationQueue: Hashable {
  /// Two queues are equal when ``isEqual(_:)`` says so: when they are the same object.
  ///
  /// - Parameters:
  ///   - left: A queue.
  ///   - right: Another.
  /// - Returns: Whether they are equal.
  public static func == (left: OperationQueue, right: OperationQueue) -> Bool { left.isEqual(right) }

  /// Feeds ``hash``.
  ///
  /// - Parameter hasher: The hasher to feed.
  public final func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}

extension OperationQueue: CustomStringConvertible, CustomDebugStringConvertible {
  /// What ``description`` says.
  final var shortDescription: String {
    let (count, isSuspended) = update(collectingBatches: true) { ($0.admission.count, $0.admission.isSuspended) }
    return "\(label) (\(count) operation\(count == 1 ? "" : "s")\(isSuspended ? ", suspended" : ""))"
  }

  /// The name in quotation marks after the word, for messages.
  final var label: String { name.map { "queue ‘\($0)’" } ?? "a queue without a name" }
}
