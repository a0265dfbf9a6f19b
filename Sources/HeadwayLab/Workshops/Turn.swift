#if Lab
import Headway
import Synchronization

/// Lets one activity run at a time, in its own queue.
///
/// It can be cancelled from its first moment to its last.
final class Turn: Sendable {
  private struct State {
    var isTaken = false
    var isCancelled = false
    var isClosed = false
  }

  /// The queue that runs the activity.
  ///
  /// Only operations that were added with ``add(_:)`` are certain to be cancelled with it.
  let queue: Headway.OperationQueue
  // Protected by its lock.
  private let state = Mutex(State())

  init(queue: Headway.OperationQueue) {
    self.queue = queue
  }

  /// Begins an activity, if none is running.
  func take() -> Bool {
    state.withLock { state in
      guard !state.isTaken, !state.isClosed else { return false }
      (state.isTaken, state.isCancelled) = (true, false)
      return true
    }
  }

  /// Ends the activity.
  func giveBack() { state.withLock { $0.isTaken = false } }

  /// Whether an activity is running.
  var isTaken: Bool { state.withLock { $0.isTaken } }

  /// Whether the current activity was cancelled.
  var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// Cancels the current activity.
  func cancel() {
    state.withLock { $0.isCancelled = true }
    queue.cancelAllOperations()
  }

  /// Cancels the current activity and prevents new ones.
  func close() {
    state.withLock { ($0.isCancelled, $0.isClosed) = (true, true) }
    queue.cancelAllOperations()
  }

  /// Adds operations of the current activity.
  func add(_ operations: [Headway.Operation]) {
    queue.addOperations(operations, waitUntilFinished: false)
    // A cancellation before this might not have found them in the queue.
    if isCancelled { operations.forEach { $0.cancel() } }
  }
}
#endif
