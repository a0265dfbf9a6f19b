import Headway

/// Uses queues: how operations get in, and what decides when they run.
final class OQUseOperationQueue: Sendable {
  /// Adds operations in the three ways there are, and waits for them.
  ///
  /// A limit of one makes them run one at a time. It does not promise the order of adding: readiness and priority come
  /// first, which here are the same for all.
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
