import Synchronization

/// A unit of work that runs once: in an ``OperationQueue``, or manually with ``start()``.
///
/// Subclass it and override ``main()``, or use ``BlockOperation``. An operation that does its work without interruption
/// on one thread needs nothing else:
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
/// For work that continues after `main()` has returned, subclass ``AsynchronousOperation``.
///
/// An operation is *pending* until its dependencies have finished. Then it becomes *ready*, *executing* and *finished*,
/// in this order. Cancellation is a separate flag, which `main()` should check. See ``cancel()``.
///
/// You can use every member from any thread.
open class Operation: @unchecked Sendable {
  // How the state is protected: `state` is atomic. `links` has its own lock. No code outside this module is called
  // under it. Two other locks can be taken under it: the lock of the operation's cancellation handlers, and the lock of
  // a second operation's `links`. Adding and removing a dependency lock the `links` of both operations, in address
  // order. The admission fields belong to the queue and are protected by the queue's lock.
  //
  // Members that subclasses of Foundation's class can override are open, so they must be declared in the class itself.
  // Their implementations are in the extension for the corresponding aspect.

  /// The state machine.
  let state = OperationStateMachine()

  /// The links to other operations that only few operations have.
  ///
  /// The lock also protects reads of all dependencies.
  let links = Guarded(Links())

  /// The edges of the operations that wait for this operation.
  let dependents = DependentStack()

  // The first three dependencies. Each slot also holds the edge that the dependency uses to reach this operation.
  let firstSlot = DependencySlot()
  let secondSlot = DependencySlot()
  let thirdSlot = DependencySlot()

  // The single-byte properties are next to each other, so that an operation is as small as possible. A lock or a single
  // thread already guarantees exclusive access to them, so it is not checked again at each access.

  /// True while ``main()`` runs.
  ///
  /// Only the thread that calls ``main()`` uses this property, and there is only one.
  @exclusivity(unchecked) final var isInMain = false

  /// True if a block operation has a block that no thread has taken out to run.
  ///
  /// Protected in the same way as the first block of a ``BlockOperation``.
  @exclusivity(unchecked) final var hasBlock = false

  /// True if the operation was added to a queue as a barrier.
  ///
  /// Set before any other thread has a reference to the operation, and never changed afterwards.
  @exclusivity(unchecked) final var isBarrier = false

  /// The kind of gate that the operation has because of its policy.
  ///
  /// Set before the operation is added to a queue, and never changed afterwards.
  @exclusivity(unchecked) final var gateKind = GateKind.none

  /// The operation's place in its queue.
  ///
  /// Protected by the queue's lock.
  @exclusivity(unchecked) final var admission = AdmissionRecord()

  /// The operation's references to its queue and to its neighbors in the queue's lists.
  ///
  /// Protected by the queue's lock, except ``QueueLinks/home``.
  @exclusivity(unchecked) final var queueLinks = QueueLinks()

  /// Creates an operation that has normal priority, has no dependencies, and is in no queue.
  public init() {}

  deinit {
    noteDeletion()
    releaseDependenciesOfUnreferencedOperation()
  }

  // MARK: Work

  /// Performs the work of the operation.
  ///
  /// Override this method. The default implementation does nothing, and you don't need to call `super.main()`.
  ///
  /// The method runs at most once, on a thread that the queue chooses, or on the thread that calls ``start()``. It
  /// never runs if the operation was cancelled before it started. You can declare an override without `throws`. The
  /// error that the method throws is stored in ``error``.
  ///
  /// - Throws: The error that makes the operation fail.
  @_disfavoredOverload  // HeadwayFoundation adds one that does not throw, for callers written for Foundation.
  open func main() throws {}

  /// Runs the operation immediately on the calling thread and returns after ``main()`` has returned.
  ///
  /// A queue calls this method. Call it yourself only if the operation is in no queue. A cancelled operation finishes
  /// without running `main()`. If the operation has finished, the method does nothing.
  ///
  /// For asynchronous work, override this method together with ``isExecuting`` and ``isFinished``. The override checks
  /// ``isCancelled``, starts the work, and announces each change of these two properties with
  /// ``willChangeValue(for:)-(KeyPath<Operation,Value>)`` and ``didChangeValue(for:)-(KeyPath<Operation,Value>)``. It
  /// does not need to call `super.start()`. ``AsynchronousOperation`` does all of this for you.
  ///
  /// - Precondition: The operation is ready, is not executing, and is in no queue.
  open func start() { begin() }

  /// Runs ``main()``, and finishes the operation unless its work continues afterwards.
  func run() {
    // If `main()` has thrown, no other code finishes the operation.
    if runMain() { endUnlessOverrideContinues() } else { end() }
  }

  /// Cancels the parts of this operation, which was cancelled.
  ///
  /// Called before the handlers and observers, because they can wait.
  func cancelWork() {}

  /// False for an operation that has to run even after a request to cancel it, because other code depends on it.
  var isCancellable: Bool { true }

  /// Finishes the operation, which was cancelled before its start.
  ///
  /// Called instead of ``run()``.
  func endCancelled() { endUnlessOverrideContinues() }

  /// Ends the work that ``main()`` would have begun, if it has not run and never will.
  func abandonWork() {}

  /// Releases the objects that the user passed to the operation for ``main()``.
  ///
  /// Called once, by the thread that finished the operation. The operation has left its queue and its dependents have
  /// been counted down before this call, because a `deinit` that runs in it may wait for them.
  func releaseWork() { releaseRetainedWork() }

  /// Whether the operation ends when ``main()`` returns, and never earlier.
  var endsWithMain: Bool { !overridesIsFinished }

  /// Whether freeing the operation after it has run executes no code of a subclass.
  var isFreedPlainly: Bool { false }

  /// Whether Headway's code finishes the operation with a call during ``main()`` or later, on any thread.
  var mayEndLater: Bool { false }

  /// The method that user code must call to finish the operation after ``main()``, or nil.
  var missingCall: String? { nil }

  /// The queue that must be empty before the operation ends, if the operation is a group.
  var queueOfParts: OperationQueue? { nil }

  /// The part of the description that names the operation inside this one that made it fail.
  var labelOfFailedMember: String? { nil }

  /// Creates the operation's progress, which was requested, or returns the existing progress.
  func makeProgress() -> OperationProgress { makeProgress(totalUnitCount: 0) }

  /// Reports to the progress object, which has just become available, the progress that it has missed.
  func progressWasCreated() {}

  /// Whether the operation counts as a unit of its queue's progress.
  var isUnit: Bool { true }

  /// The level of the quality of service of the task whose job this operation runs; nil for all other operations.
  ///
  /// The task may have been escalated.
  var levelOfTask: Int? { nil }

  /// Called when something more urgent waits for the operation, or when its queue has become more urgent.
  func qualityWasRaised() {}

  // MARK: States

  /// Whether only its queue keeps the operation from starting: all dependencies have finished, or it was cancelled.
  ///
  /// An override can add a condition, such as `super.isReady && networkIsUp`. Post ``didChangeValue(forKey:)`` for
  /// `isReady` when the value changes.
  ///
  /// A queue evaluates the property when the operation is added, when its last dependency has finished, and when a
  /// change is posted. It also evaluates operations that hold themselves back, up to 64 at a time in turn, when another
  /// operation is added, finishes, or posts a change, and when the limit or the suspension changes. The queue holds no
  /// lock at that time. If the operation is in no queue, the property is evaluated when the last dependency has
  /// finished.
  open var isReady: Bool { state.current.isReady }

  /// Whether the work of the operation is running.
  open var isExecuting: Bool { state.current.phase == .executing }

  /// Whether the operation has finished: it succeeded, failed, or was cancelled.
  ///
  /// A subclass that overrides this property decides when it has finished. ``start()`` reads the property after
  /// ``main()`` has returned, or after skipping `main()` because the operation was cancelled. From that point on,
  /// `super.isFinished` returns true in the override. If the override returns false, the operation keeps executing
  /// until the subclass posts ``didChangeValue(forKey:)`` for `isFinished`. If `main()` throws, the operation ends.
  open var isFinished: Bool { state.current.announcesFinished }

  /// Whether ``cancel()`` was called before the operation had finished.
  ///
  /// Reading this property costs one atomic load, so a loop can check it in each iteration.
  open var isCancelled: Bool { state.current.isCancelled }

  /// Whether the work continues after ``start()`` has returned.
  ///
  /// The default is false. Headway ignores the value, which only documents the class for its readers.
  open var isAsynchronous: Bool { false }

  /// The old name of ``isAsynchronous``.
  open var isConcurrent: Bool { isAsynchronous }

  // MARK: Cancelling

  /// Requests that the operation end early.
  ///
  /// This method does not stop running code. It sets ``isCancelled``, which ``main()`` should check.
  ///
  /// The effect depends on the state of the operation:
  /// - *Executing*: The flag is set, and the handlers that you registered with ``onCancel(_:)`` run on the calling
  ///   thread.
  /// - *In a queue, not started*: The operation no longer waits for its dependencies, the queue's limit, a barrier or a
  ///   suspension. The queue calls ``start()``, which finishes the operation without running `main()`. If the operation
  ///   overrides `start()` or ``isFinished``, it has its own code to run at this point. The queue then starts it before
  ///   others, within its limit, and not while it is suspended.
  /// - *In no queue*: The operation finishes immediately. If it overrides ``isFinished``, it finishes when it is
  ///   started, manually or by a queue.
  /// - *Finished*: The call has no effect.
  ///
  /// The queue processes the cancellation before handlers and observers are called, so none of them delays it. A
  /// cancelled operation finishes like any other operation: its dependents no longer wait for it, threads and tasks
  /// that wait for it wake, and its completion block runs. Cancelling it again has no effect. An override must call
  /// `super.cancel()`.
  open func cancel() { markCancelled() }

  // MARK: Dependencies

  /// The operations that must finish before this operation is ready, in insertion order.
  ///
  /// Code that is called because the operation has finished can read them, for example to use the results of its
  /// inputs: the ``completionBlock``, observers, instruments, and the ``OperationQueueProtocol/failureHandler``. When
  /// this code has returned, the operation releases its dependencies, and the list is empty. Otherwise, the last
  /// operation of a long chain would keep all earlier operations and their results in memory. If you need the result of
  /// an operation later, keep a reference to that operation.
  ///
  /// - Complexity: O(*n*) in the number of dependencies.
  open var dependencies: [Operation] { links.withLock { listedDependencies(&$0) } }

  /// Makes this operation wait until `operation` has finished, whether it succeeds, fails, or is cancelled.
  ///
  /// The two operations can be in different queues, or in no queue. Adding a finished operation, or adding the same
  /// operation twice, is harmless.
  ///
  /// Operations that depend on each other in a cycle do not run until one of them is cancelled or a dependency is
  /// removed; see ``firstDependencyCycle()``. An operation owns its dependencies, so the operations of a cycle keep
  /// each other in memory. Before you release a cycle that never ran, cancel one of its operations or remove a
  /// dependency.
  ///
  /// If this operation has already started, the dependency is ignored. The first time that this happens in a process,
  /// Headway writes a warning to the standard error stream.
  ///
  /// - Parameter operation: The operation to wait for.
  /// - Precondition: `operation` is not this operation.
  /// - Complexity: O(1).
  open func addDependency(_ operation: Operation) { link(to: operation) }

  /// Stops waiting for `operation`.
  ///
  /// If `operation` is not a dependency, nothing happens. If it was the last unfinished dependency, this operation
  /// becomes ready.
  ///
  /// - Parameter operation: The operation that this operation no longer waits for.
  /// - Complexity: O(1).
  open func removeDependency(_ operation: Operation) { unlink(from: operation) }

  // MARK: Priority and quality of service

  /// The priority of this operation among the ready operations of its queue.
  ///
  /// The default is normal. The queue starts operations of a higher priority first.
  ///
  /// A change takes effect immediately, in constant time, while the operation waits. After the start, it has no effect.
  open var queuePriority: QueuePriority {
    get { QueuePriority(level: state.current.priorityLevel) }
    set { setPriority(newValue) }
  }

  /// How important the work is to the user, which determines the threads that it runs on.
  ///
  /// The operation runs at the higher of this and its queue's quality of service; `.default` has no effect. If a more
  /// important operation or task waits for this operation, it runs at least at the quality of service of the waiting
  /// operation or task. The cause of the wait can be a dependency, the queue's limit, order or barriers, or a call that
  /// waits. On Linux, an operation that has begun on a thread with a raised nice value continues there, because only a
  /// privileged process can lower that value.
  ///
  /// - Complexity: Each operation is raised a few times in its life, so raising is O(1) per operation and per
  ///   dependency. A change that makes an operation more important is O(*n*) in the number of operations that it is the
  ///   first to raise.
  open var qualityOfService: QualityOfService {
    get { QualityOfService(level: state.current.ownQualityLevel) }
    set { setQuality(newValue) }
  }

  /// The share of the processor that the thread gets while it runs ``main()``, from 0.0 to 1.0.
  ///
  /// The default, 0.5, changes nothing. Prefer ``qualityOfService``.
  ///
  /// The priority applies only to `main()` on one of Headway's threads, not on a thread that called ``start()``
  /// manually. On Linux, it is the thread's nice value, in 38 steps from 1.0 to 0.0. A value above 0.5 requires a
  /// privilege and is ignored without it.
  ///
  /// - Precondition: The value is from 0.0 to 1.0.
  open var threadPriority: Double {
    get { links.withLock { $0.details?.pointee.rareDetails?.threadPriority ?? 0.5 } }
    set { setThreadPriority(newValue) }
  }

  // MARK: Completion

  /// A block that runs once on a thread of the pool after the operation has finished, even if it was cancelled.
  ///
  /// The block is passed to a thread before waiting threads wake, and it is released after it has run.
  /// ``waitUntilFinished()`` and ``OperationQueue/addOperations(_:waitUntilFinished:)`` wait up to 0.2 ms for it, so it
  /// has usually run when they return. But no wait depends on it, because it might need the thread that waits. Use a
  /// dependent operation for work that must be done before they return.
  ///
  /// You can set it from inside the operation. If you set it after the operation has finished, the block is released
  /// immediately and never runs. There is one exception: an operation that was cancelled in no queue has finished, but
  /// it keeps the block, and runs it when you add the operation to a queue or call ``start()``.
  open var completionBlock: (@Sendable () -> Void)? {
    get { completionBlockIfAny }
    set { setCompletionBlock(newValue) }
  }

  /// Blocks the calling thread until the operation has finished and left its queue, its dependents no longer wait for
  /// it, and its observers have been notified.
  ///
  /// Inside an observer of this operation, and inside other code that is called because it ended, the method does not
  /// wait for observers to be notified.
  ///
  /// An operation that calls this method does not delay others, because the pool starts another thread while this one
  /// waits. If this operation can't finish before an operation that the calling thread is inside of has finished, the
  /// wait is reported within a tenth of a second as ``OperationQueueEvent/deadlocked(_:)``. The wait continues, because
  /// it might still end: another thread can finish the operation, or a cancellation or a higher limit can resolve the
  /// deadlock.
  ///
  /// - Precondition: The method is not called from inside this operation's own ``main()``, which would wait for itself
  ///   forever. This does not apply to an ``AsynchronousOperation``, because another thread may finish it.
  @available(*, noasync, message: "This blocks the thread: await untilFinished() instead.")
  open func waitUntilFinished() { blockUntilFinished() }

  // MARK: Names and descriptions

  /// The operation's name in descriptions and messages.
  ///
  /// The default is nil.
  open var name: String? {
    get { links.withLock { $0.details?.pointee.name } }
    set { setName(newValue) }
  }

  /// The operation's name, or its type if it has no name, and its state: `“parse” (executing)`.
  ///
  /// If the operation has failed, the description includes the error: `“parse” (failed: line 7 is damaged)`. A group's
  /// description also names the operation that failed first: `“import” (failed in “parse”: line 7 is damaged)`.
  open var description: String { shortDescription }

  /// The description with the type, the queue, the priority, the progress and the unfinished dependencies.
  open var debugDescription: String { longDescription }

  // MARK: Key-value observing

  /// Returns the names of the properties that affect the value of another property.
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
  /// The default implementation returns an empty set. Only Objective-C finds a separate method per property, such as
  /// `keyPathsForValuesAffectingIsReady()`.
  ///
  /// - Parameter key: The name of a property, with or without the prefix `is`.
  /// - Returns: The names of the properties that affect it. Only the first component of a path such as `request.state`
  ///   counts.
  open class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> { [] }

  /// Returns whether setting a property notifies its observers without a posted change.
  ///
  /// The default implementation returns true. An operation posts changes of its own properties. A subclass must post
  /// changes of the properties that it adds, even if an override returns true.
  ///
  /// - Parameter key: The name of a property.
  /// - Returns: Whether observers are notified automatically.
  open class func automaticallyNotifiesObservers(forKey key: String) -> Bool { true }

  // MARK: Equality

  /// The value that ``hash(into:)`` feeds to the hasher, derived from the identity of the object.
  ///
  /// If you override ``isEqual(_:)``, override this property, too.
  open var hash: Int { Int(bitPattern: Unmanaged.passUnretained(self).toOpaque()) }

  /// Returns whether `object` equals this operation.
  ///
  /// The operator `==` calls this method.
  ///
  /// The default implementation compares identities. Queues and dependencies always use the identity, regardless of
  /// overrides.
  ///
  /// - Parameter object: The object to compare with this operation.
  /// - Returns: True if the two are equal.
  open func isEqual(_ object: Any?) -> Bool { object as? Operation === self }
}

extension Operation: CustomStringConvertible, CustomDebugStringConvertible {}

extension Operation: Hashable {
  /// Returns whether two operations are equal according to ``isEqual(_:)``: by default, whether they are the same
  /// object.
  ///
  /// - Parameters:
  ///   - left: An operation to compare.
  ///   - right: Another operation.
  /// - Returns: True if they are equal.
  public static func == (left: Operation, right: Operation) -> Bool { left.isEqual(right) }

  /// Feeds ``hash`` to the hasher.
  ///
  /// - Parameter hasher: The hasher that combines the value.
  public final func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}
