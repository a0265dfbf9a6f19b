import Synchronization

/// One task, to be run once: by an ``OperationQueue``, or by hand with ``start()``.
///
/// Subclass it and override ``main()``, or use ``BlockOperation``. Nothing else needs to be written for an operation
/// that does its work in one go on one thread:
///
/// ```swift
/// final class Thumbnail: Headway.Operation, @unchecked Sendable {
///   override func main() throws {
///     for tile in tiles {
///       if isCancelled { return }
///       try draw(tile)
///     }
///   }
/// }
/// ```
///
/// An operation is *pending* until its dependencies have finished, then *ready*, *executing*, *finished*: one way.
/// Cancelling is a flag beside these states; `main()` is expected to look at it. See ``cancel()``.
///
/// Every member may be used from any thread.
open class Operation: @unchecked Sendable {
  // What protects the state: `state` is atomic. `links` has its own lock, under which nothing is called that is not in
  // this module, and no other lock is taken, except that adding and removing a dependency locks the `links` of both
  // operations, in the order of their addresses. The admission fields are the queue's, under the queue's lock.

  /// The state machine.
  let state = OperationState()

  /// What joins this operation to others.
  let links = Mutex(Links())

  /// The place in a queue's books.
  ///
  /// Protected by the lock of that queue.
  final var admission = AdmissionRecord()

  /// Creates an operation with normal priority, in no queue, that depends on nothing.
  public init() {}

  deinit { releaseDependenciesOfUnreferencedOperation() }

  // MARK: Work

  /// Does the work.
  ///
  /// Override it; the default does nothing, and `super.main()` need not be called.
  ///
  /// Runs at most once, on a thread of the queue's choosing (or the thread that called ``start()``), never when the
  /// operation was cancelled before. An override may be declared without `throws`. What it throws is kept in ``error``.
  ///
  /// - Throws: Whatever makes the operation fail.
  open func main() throws {}

  /// Runs the operation now, on the calling thread, and returns when ``main()`` has.
  ///
  /// Queues call this; call it yourself only for an operation that is in no queue. A cancelled operation finishes
  /// without running `main()`. On a finished operation nothing happens.
  ///
  /// - Precondition: The operation is ready, is not executing, and is in no queue.
  open func start() {
    switch state.begin() {
    case .run(byHand: false):
      runMain()
    case .run(byHand: true):
      // For the queues that this thread may be inside of, nothing changes.
      ThreadContext.run(self, in: ThreadContext.queue) { runMain() }
    case .finishCancelled:
      finish()
    case .alreadyFinished:
      return
    case .misuse(let word):
      misuse(startMisuse(word))
    }
  }

  private func runMain() {
    do { try main() } catch { fail(error) }
    finish()
  }

  private func startMisuse(_ word: OperationWord) -> String {
    if word.phase == .executing { return "start() on \(self), which is executing: an operation runs once." }
    if word.isReserved { return "start() on \(self), which is in a queue: the queue will start it." }
    return "start() on \(self), which is not ready: wait for its dependencies, or let a queue do so."
  }

  /// Lets go of what ``main()`` would have used, when it has not run and never will.
  func releaseWork() {}

  // MARK: States

  /// Whether nothing but its queue keeps the operation from starting: all dependencies have finished, or it was
  /// cancelled.
  open var isReady: Bool { state.current.isReady }

  /// Whether the work is running.
  open var isExecuting: Bool { state.current.phase == .executing }

  /// Whether the operation has ended: done, failed or cancelled.
  open var isFinished: Bool { state.current.phase == .finished }

  /// Whether ``cancel()`` has been called.
  ///
  /// Costs one atomic load, so a loop may look as often as it likes.
  public final var isCancelled: Bool { state.current.isCancelled }

  /// Whether the work goes on after ``start()`` has returned.
  ///
  /// The default is false.
  open var isAsynchronous: Bool { false }

  /// The old name of ``isAsynchronous``.
  public final var isConcurrent: Bool { isAsynchronous }

  // MARK: Cancelling

  /// Asks the operation to end early.
  ///
  /// Never stops code by force: it sets ``isCancelled``, which ``main()`` should look at.
  ///
  /// What happens depends on where the operation is:
  /// - *executing*: the flag is set, and that is all;
  /// - *in a queue, not started*: it stops waiting for dependencies, for the queue's limit, for a barrier and for a
  ///   suspension, and the queue calls ``start()``, which finishes it without running `main()`;
  /// - *in no queue*: it finishes at once;
  /// - *finished*: nothing.
  ///
  /// A cancelled operation finishes like any other: what depends on it is released, who waits for it wakes, its
  /// completion block runs. Cancelling again changes nothing. An override must call `super.cancel()`.
  open func cancel() {
    let before = state.cancel()
    guard !before.isCancelled, before.phase == .pending else { return }
    if before.isEnqueued {
      links.withLock { $0.queue }?.operationWasCancelled(self)
    } else if !before.isReserved, state.finishUnqueued() {
      finished(from: before)
    }
    // Reserved and not yet enqueued: the queue that is taking it in sees the flag.
  }

  // MARK: Priority

  /// The order in which the queue starts this operation among those that are ready.
  ///
  /// Normal by default.
  ///
  /// A change while the operation waits takes effect at once, in constant time; after the start it means nothing.
  public final var queuePriority: QueuePriority {
    get { QueuePriority(level: state.current.priorityLevel) }
    set {
      guard let word = state.setPriority(level: newValue.level), word.isEnqueued, word.phase == .pending else { return }
      links.withLock { $0.queue }?.operationChangedPriority(self)
    }
  }
}

extension Operation: Hashable {
  /// Two operations are equal when they are the same object.
  ///
  /// - Parameters:
  ///   - left: An operation.
  ///   - right: Another.
  /// - Returns: Whether they are one.
  public static func == (left: Operation, right: Operation) -> Bool { left === right }

  /// Hashes the identity of the object.
  ///
  /// - Parameter hasher: The hasher to feed.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
