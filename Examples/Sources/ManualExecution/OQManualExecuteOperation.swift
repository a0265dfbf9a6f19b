import Headway

import class Foundation.Thread

/// Runs operations without a queue, with the checks that a queue makes before it starts one.
struct OQManualExecuteOperation {
  /// Runs an operation if it can run now.
  ///
  /// - Parameter operation: An operation that is in no queue.
  /// - Returns: Whether the operation needs no further call, because it was cancelled or has been started.
  func manualPerform(_ operation: Operation) -> Bool {
    if operation.isCancelled { return true }
    guard operation.isReady else { return false }

    if operation.isAsynchronous {
      Thread.detachNewThread { operation.start() }
    } else {
      operation.start()
    }
    return true
  }
}
