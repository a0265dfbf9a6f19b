import Synchronization

/// One task, to be run once: by an ``OperationQueue``, or by hand with ``start()``.
///
/// Subclass it and override ``main()``, or use ``BlockOperation``. Nothing else needs to be written for an operation
/// that does its work in one go on one thread:
///
/// ```swift
/// final class Thumbnail: Operation, @unchecked Sendable {
///   override func main() throws {
///     for tile in ["left half", "right half"] {
///       if isCancelled { return }
///       try draw(tile)
///     }
///   }
/// }
/// ```
///
/// For work that goes on after `main()` has returned, subclass ``AsynchronousOperation``.
///
/// An operation is *pending* until its dependencies have finished, then *ready*, *executing*, *finished*: one way.
/// Cancelling is a flag beside these states; `main()` is expected to look at it. See ``cancel()``.
///
/// Every member may be used from any thread.
open class Operation: @unchecked Sendable {
  // What protects the state: `state` is atomic. `links` has its own lock, under which nothing is called that is not in
  // this module, and no other lock is taken, except that adding and removing a dependency locks the `links` of both
  // operations, in the order of their addresses. The admission fields are the queue's, under the queue's lock.
  //
  // Members that Foundation's class lets subclasses override are open, and so have to be here; what they do is in the
  // extension that is about it.

  /// The state machine.
  let state = OperationStateMachine()

  /// What few operations need to be joined to others, and what protects the looks at all that joins them.
  let links = Guarded(Links())

  /// Those that wait for this operation.
  let dependents = DependentStack()

  // What this operation waits for: the first few, and the edges by which those know it.
  let firstSlot = DependencySlot()
  let secondSlot = DependencySlot()
  let thirdSlot = DependencySlot()

  // The single bytes are together, behind the links, which leave room there: an operation is as small as it can be.
  // Where a lock or a single thread excludes, that is not checked once more at each access.

  /// `main()` runs; belongs to the thread that calls it, which is one.
  @exclusivity(unchecked) final var isInMain = false

  /// A block operation has a block that has not been taken for running.
  ///
  /// Protected by the lock of the links.
  @exclusivity(unchecked) final var hasBlock = false

  /// A queue was given it as a barrier.
  ///
  /// Set before anybody else knows the operation, and never again.
  @exclusivity(unchecked) final var isBarrier = false

  /// Where the operation is in its queue.
  ///
  /// Protected by the lock of that queue.
  @exclusivity(unchecked) final var admission = AdmissionRecord()

  /// What joins the operation to the queue and to others there.
  ///
  /// Protected by the lock of that queue.
  @exclusivity(unchecked) final var queueLinks = QueueLinks()

  /// Creates an operation with normal priority, in no queue, that depends on nothing.
  public init() {}

  deinit {
    removeObservers()
    releaseDependenciesOfUnreferencedOperation()
  }

  // MARK: Work

  /// Does the work.
  ///
  /// Override it; the default does nothing, and `super.main()` need not be called.
  ///
  /// Runs at most once, on a thread of the queue's choosing (or the thread that called ``start()``), never when the
  /// operation was cancelled before. An override may be declared without `throws`. What it throws is kept in ``error``.
  ///
  /// - Throws: Whatever makes the operation fail.
  @_disfavoredOverload  // HeadwayFoundation adds one that does not throw, for callers written for Foundation.
  open func main() throws {}

  /// Runs the operation now, on the calling thread, and returns when ``main()`` has.
  ///
  /// Queues call this; call it yourself only for an operation that is in no queue. A cancelled operation finishes
  /// without running `main()`. On a finished operation nothing happens.
  ///
  /// An override for asynchronous work looks at ``isCancelled``, starts the work, and announces what ``isExecuting``
  /// and ``isFinished``, which it overrides too, answer from then on, with
  /// ``willChangeValue(for:)-(KeyPath<Operation,Value>)`` and ``didChangeValue(for:)-(KeyPath<Operation,Value>)``. It
  /// need not call `super.start()`. ``AsynchronousOperation`` does all of that.
  ///
  /// - Precondition: The operation is ready, is not executing, and is in no queue.
  open func start() { begin() }

  /// Runs ``main()`` and, unless the work goes on after it, ends the operation.
  func run() {
    // Nobody else ends what has failed to begin.
    if runMain() { endUnlessSubclassGoesOn() } else { end() }
  }

  /// The operation was cancelled: cancels what it consists of, before handlers and observers hear, which may wait.
  func cancelWork() {}

  /// False for what others can't do without.
  var isCancellable: Bool { true }

  /// What a start does in place of ``run()`` when the operation was cancelled before.
  func endCancelled() { endUnlessSubclassGoesOn() }

  /// Ends what ``main()`` would have begun, when it has not run and never will.
  func abandonWork() {}

  /// Releases what the user gave the operation for ``main()``.
  ///
  /// Called once by the thread that ended the operation, after the queue is left and dependents are released: a
  /// `deinit` that runs then may wait for them.
  func releaseWork() { releaseRetainedWork() }

  /// Whether the operation ends when ``main()`` returns, and so never before.
  var endsWithMain: Bool { !overridesIsFinished }

  /// Whether nothing of a subclass's happens when it is freed, after it has run.
  var isFreedPlainly: Bool { false }

  /// Whether it ends by a call of the library's, during ``main()`` or after that, on whatever thread.
  var mayEndLater: Bool { false }

  /// The queue that must be empty before it ends, if it is a group.
  var queueOfParts: OperationQueue? { nil }

  /// Makes the operation's progress, which has been asked for; or gives one that is there already.
  func makeProgress() -> OperationProgress { makeProgress(totalUnitCount: 0) }

  /// The progress can be found from now on: reports what it has missed.
  func progressWasMade() {}

  /// Makes a progress by which the operation can be cancelled.
  final func makeProgress(totalUnitCount: Int64) -> OperationProgress {
    let made = OperationProgress(totalUnitCount: totalUnitCount)
    made.cancellationHandler = { [weak self] in self?.cancel() }
    return made
  }

  /// Whether it is one of the units of its queue's progress.
  var isUnit: Bool { true }

  /// The level of quality of service of the task whose job this is, which may have been escalated; nil for others.
  var levelOfTask: Int? { nil }

  /// Something more urgent waits for the operation, or its queue has become more urgent.
  func qualityWasRaised() {}

  // MARK: States

  /// Whether nothing but its queue keeps the operation from starting: all dependencies have finished, or it was
  /// cancelled.
  ///
  /// An override may ask for more, `super.isReady && networkIsUp`; it posts ``didChangeValue(forKey:)`` with `isReady`
  /// when its answer has changed. A queue asks it when the operation is added, when the last dependency has finished,
  /// when a change was posted, and, of operations that hold themselves back, up to 64 in turn, when another is added,
  /// finishes or posts, and when the limit or the suspension changes; it holds no lock then. Of an operation in no
  /// queue it is asked when the last dependency has finished.
  open var isReady: Bool { state.current.isReady }

  /// Whether the work is running.
  open var isExecuting: Bool { state.current.phase == .executing }

  /// Whether the operation has ended: done, failed or cancelled.
  ///
  /// A subclass that overrides it says when it has finished: when ``start()`` has called ``main()``, or has not since
  /// the operation was cancelled, it asks this property, and goes on unless that says true; the subclass then posts
  /// ``didChangeValue(forKey:)`` with `isFinished`. To such an override, `super.isFinished` says true from then on. If
  /// `main()` throws, the operation ends.
  open var isFinished: Bool { state.current.saysFinished }

  /// Whether ``cancel()`` was called before the operation had finished.
  ///
  /// Costs one atomic load, so a loop may look as often as it likes.
  open var isCancelled: Bool { state.current.isCancelled }

  /// Whether the work goes on after ``start()`` has returned.
  ///
  /// The default is false. It tells readers of the code; nothing here depends on it.
  open var isAsynchronous: Bool { false }

  /// The old name of ``isAsynchronous``.
  open var isConcurrent: Bool { isAsynchronous }

  // MARK: Cancelling

  /// Asks the operation to end early.
  ///
  /// Never stops code by force: it sets ``isCancelled``, which ``main()`` should look at.
  ///
  /// What happens depends on where the operation is:
  /// - *executing*: the flag is set, and handlers given to ``onCancel(_:)`` run on the calling thread;
  /// - *in a queue, not started*: it stops waiting for dependencies, for the queue's limit, for a barrier and for a
  ///   suspension, and the queue calls ``start()``, which finishes it without running `main()`. An operation that
  ///   overrides `start()` or ``isFinished`` has code of its own to run for that: the queue starts it before others,
  ///   within its limit, and not while it is suspended;
  /// - *in no queue*: it finishes at once. One that overrides ``isFinished`` finishes when it is started, by hand or by
  ///   a queue;
  /// - *finished*: nothing.
  ///
  /// The queue knows of the cancellation before handlers and observers are called, so none of them holds it up. A
  /// cancelled operation finishes like any other: what depends on it is released, threads and tasks that wait for it
  /// wake, its completion block runs. Cancelling again changes nothing. An override must call `super.cancel()`.
  open func cancel() { markCancelled() }

  // MARK: Dependencies

  /// The operations that must finish before this one is ready, in the order in which they were added.
  ///
  /// Empty once this operation has finished, and its completion block has run: it has released them.
  ///
  /// - Complexity: O(*n*) in their number.
  open var dependencies: [Operation] { links.withLock { listedDependencies(&$0) } }

  /// Makes this operation wait until `operation` has finished, whether that succeeds, fails or is cancelled.
  ///
  /// The two may be in different queues, or in none. Adding a finished operation, or the same one twice, is harmless.
  ///
  /// Operations that depend on each other in a cycle never run, until one of them is cancelled or a dependency is
  /// removed; see ``dependencyCycle()``. An operation owns its dependencies, so the operations of a cycle keep each
  /// other in memory: before you release a cycle that never ran, cancel one of them or remove a dependency.
  ///
  /// Once this operation has started it is too late: the dependency is ignored, and the first time in a process that
  /// this happens, a line on the standard error stream says so.
  ///
  /// - Parameter operation: The operation to wait for.
  /// - Precondition: `operation` is not this operation.
  /// - Complexity: O(1).
  open func addDependency(_ operation: Operation) { link(to: operation) }

  /// Stops waiting for `operation`.
  ///
  /// Removing one that is not a dependency is harmless. If it was the last that had not finished, this operation is
  /// ready.
  ///
  /// - Parameter operation: The operation that is no longer waited for.
  /// - Complexity: O(1).
  open func removeDependency(_ operation: Operation) { unlink(from: operation) }

  // MARK: Priority and quality of service

  /// The order in which the queue starts this operation among those that are ready.
  ///
  /// Normal by default.
  ///
  /// A change while the operation waits takes effect at once, in constant time; after the start it means nothing.
  open var queuePriority: QueuePriority {
    get { QueuePriority(level: state.current.priorityLevel) }
    set { setPriority(newValue) }
  }

  /// How important the work is to the user: on which threads it runs.
  ///
  /// The operation runs at the higher of this and its queue's; `.default` asks for nothing. If a more important
  /// operation or task waits for it, it runs at no lower quality than that one: because of a dependency, the queue's
  /// limit, order or barriers, or a call that waits. On Linux, an operation that has begun on a thread with a raised
  /// nice value continues there; only a privileged process can lower that value.
  ///
  /// - Complexity: Each operation is raised a few times in its life, so raising is O(1) for each operation and each
  ///   dependency. A change that makes an operation more important is O(*n*) in the number of operations that it is the
  ///   first to raise.
  open var qualityOfService: QualityOfService {
    get { QualityOfService(level: state.current.ownQualityLevel) }
    set { setQuality(newValue) }
  }

  /// How much of the processor the thread gets while it runs ``main()``, from 0.0 to 1.0; 0.5, the default, changes
  /// nothing.
  ///
  /// Prefer ``qualityOfService``. It applies to `main()` on a thread of this library only; not on a thread that called
  /// ``start()`` by hand. On Linux it is the thread's nice value, 38 steps from 1.0 to 0.0; more than 0.5 takes a
  /// privilege and is ignored without it.
  ///
  /// - Precondition: It is from 0.0 to 1.0.
  open var threadPriority: Double {
    get { links.withLock { $0.details?.rareDetails?.threadPriority ?? 0.5 } }
    set { setThreadPriority(newValue) }
  }

  // MARK: The end

  /// A block that runs once after the operation has finished, cancelled or not, on a thread of the pool; then it is
  /// released.
  ///
  /// The block is handed to a thread before waiting threads wake. It has usually run when ``waitUntilFinished()``
  /// returns, which waits up to 0.2 ms for it. So does ``OperationQueue/addOperations(_:waitUntilFinished:)``.
  /// But no wait depends on it, because it might need the thread that waits. Use a dependent operation for work that
  /// must come before the return.
  ///
  /// It may be set from inside the operation. Set after the end, it is released at once and never runs; except that an
  /// operation that was cancelled in no queue, and so has finished, keeps it for a queue to which it is given
  /// afterwards, or for ``start()``, which runs it.
  open var completionBlock: (@Sendable () -> Void)? {
    get { completionBlockIfAny }
    set { setCompletionBlock(newValue) }
  }

  /// Blocks the calling thread until the operation has finished, has left its queue and released what depends on it,
  /// and its observers have been notified.
  ///
  /// Inside an observer of this operation, and inside other code that its end calls, it does not wait for observers to
  /// be notified.
  ///
  /// A waiting operation does not hold up others: the pool starts another thread in its place while this one waits. If
  /// this operation can't finish before one that the calling thread is inside of has, the wait is reported within a
  /// tenth of a second as ``OperationQueueEvent/waitsInCycle(_:)``, and goes on, since something else may end it: an
  /// end from elsewhere, a cancellation, a higher limit.
  ///
  /// - Precondition: It is not called from inside this operation's own ``main()``, which would wait for itself for
  ///   ever. That does not apply to an ``AsynchronousOperation``, which another thread may finish.
  @available(*, noasync, message: "This blocks the thread: await finished() instead.")
  open func waitUntilFinished() { blockUntilFinished() }

  // MARK: Names and descriptions

  /// What to call the operation in descriptions and messages.
  ///
  /// Nil by default.
  open var name: String? {
    get { links.withLock { $0.details?.name } }
    set { setName(newValue) }
  }

  /// The operation's name, or its type where it has none, and its state: `‘parse’ (executing)`.
  open var description: String { shortDescription }

  /// The description with the type, the queue, the priority, the progress and what the operation waits for.
  open var debugDescription: String { longDescription }

  // MARK: Key-value observing

  /// Returns the names of the properties that affect the value of another.
  ///
  /// Override it in a class that computes some properties from others. When the class posts a change of a property by
  /// name, the properties that depend on it have changed as well:
  ///
  /// ```swift
  /// class Download: Operation, @unchecked Sendable {
  ///   override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
  ///     key == "isReady" ? ["state"] : super.keyPathsForValuesAffectingValue(forKey: key)
  ///   }
  /// }
  /// ```
  ///
  /// The default returns an empty set. A separate method per property, as
  /// `keyPathsForValuesAffectingIsReady()`, is found by Objective-C only.
  ///
  /// - Parameter key: The name of a property, in the form with `is` or without it.
  /// - Returns: The names of those that affect it. Of a path such as `request.state`, the first part counts.
  open class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> { [] }

  /// Returns whether setting a property notifies its observers without a posted change.
  ///
  /// The default returns true. An operation posts changes of its own properties itself, and a subclass posts those of
  /// the properties that it adds, even if an override returns true.
  ///
  /// - Parameter key: The name of a property.
  /// - Returns: Whether observers are notified automatically.
  open class func automaticallyNotifiesObservers(forKey key: String) -> Bool { true }

  // MARK: Equality

  /// What ``hash(into:)`` feeds; that of the object's identity.
  ///
  /// An override of ``isEqual(_:)`` goes with one of this.
  open var hash: Int { Int(bitPattern: Unmanaged.passUnretained(self).toOpaque()) }

  /// Whether `object` equals this operation, which `==` asks: whether it is the same object.
  ///
  /// Queues and dependencies go by identity, whatever an override says.
  ///
  /// - Parameter object: What to compare it with.
  /// - Returns: Whether the two are equal.
  open func isEqual(_ object: Any?) -> Bool { object as? Operation === self }
}

extension Operation: CustomStringConvertible, CustomDebugStringConvertible {}

extension Operation: Hashable {
  /// Two operations are equal when ``isEqual(_:)`` says so: when they are the same object.
  ///
  /// - Parameters:
  ///   - left: An operation.
  ///   - right: Another.
  /// - Returns: Whether they are equal.
  public static func == (left: Operation, right: Operation) -> Bool { left.isEqual(right) }

  /// Feeds ``hash``.
  ///
  /// - Parameter hasher: The hasher to feed.
  public final func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}
