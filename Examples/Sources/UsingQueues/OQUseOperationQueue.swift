import Headway

/// Uses queues: how to add operations, and what determines when they run.
final class OQUseOperationQueue: Sendable {
  /// Adds operations in the three possible ways and waits for them.
  ///
  /// With a limit of one, they run one at a time. The limit does not guarantee insertion order: readiness and priority
  /// have precedence, and here they are the same for all.
  func executeOperationUsingOperationQueue() {
    let operationQueue = OperationQueue()
    operationQueue.maxConcurrentOperationCount = 1

    let invocationOperation = InvocationOperation(target: self, method: OQUseOperationQueue.taskMethod)
    operationQueue.addOperation(invocationOperation)

    let blockOperation1 = BlockOperation { print("Executing blockOperation1") }
    let blockOperation2 = BlockOperation { print("Executing blockOperation2") }
    operationQueue.addOperations([blockOperation1, blockOperation2], waitUntilFinished: false)

    operationQueue.addOperation { print("Executing block") }

    operationQueue.waitUntilAllOperationsAreFinished()
  }

  func taskMethod() { print("Executing taskMethod") }
}
