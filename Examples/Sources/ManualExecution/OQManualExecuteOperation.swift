import Headway

import class Foundation.Thread

/// Runs operations without a queue, with the looks that a queue takes before it starts one.
struct OQManualExecuteOperation {
  /// Runs an operation if it can run now.
  ///
  /// - Parameter operation: The operation, which is in no queue.
  /// - Returns: Whether it is done with: it was cancelled, or has been started.
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
