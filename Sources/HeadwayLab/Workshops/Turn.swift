#if Lab
import Headway
import Synchronization

/// Has one thing at a time run, in a queue of its own, which may be cancelled from its first moment to its last.
final class Turn: Sendable {
  private struct State {
    var isTaken = false
    var isCancelled = false
    var isClosed = false
  }

  /// Where it runs; only what ``add(_:)`` adds is sure to be cancelled with it.
  let queue: Headway.OperationQueue
  // Protected by its lock.
  private let state = Mutex(State())

  init(queue: Headway.OperationQueue) {
    self.queue = queue
  }

  /// Takes the turn, if it is free.
  func take() -> Bool {
    state.withLock { state in
      guard !state.isTaken, !state.isClosed else { return false }
      (state.isTaken, state.isCancelled) = (true, false)
      return true
    }
  }

  /// Gives it back.
  func giveBack() { state.withLock { $0.isTaken = false } }

  /// Whether it is taken.
  var isTaken: Bool { state.withLock { $0.isTaken } }

  /// Whether what has the turn was cancelled.
  var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// Cancels what has the turn.
  func cancel() {
    state.withLock { $0.isCancelled = true }
    queue.cancelAllOperations()
  }

  /// Cancels what has the turn, and gives it to nothing any more.
  func close() {
    state.withLock { ($0.isCancelled, $0.isClosed) = (true, true) }
    queue.cancelAllOperations()
  }

  /// Adds operations of what has the turn.
  func add(_ operations: [Headway.Operation]) {
    queue.addOperations(operations, waitUntilFinished: false)
    // A cancellation that came before may not have found them in the queue.
    if isCancelled { operations.forEach { $0.cancel() } }
  }
}
#endif
