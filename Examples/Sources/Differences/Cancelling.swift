// Cancelling.

#if HEADWAY
import HeadwayFoundation
#else
import Foundation
#endif

func cancelledWithoutQueue() -> String {
  let operation = BlockOperation {}
  let ran = Shared(false)
  operation.completionBlock = { ran.change { $0 = true } }
  let dependent = BlockOperation {}
  dependent.addDependency(operation)
  OperationQueue().addOperation(dependent)
  operation.cancel()
  let dependentRan = becomesTrue { dependent.isFinished }
  return "isFinished \(operation.isFinished), completion block ran \(ran.value), its dependent ran \(dependentRan)"
}

func cancelledInSuspendedQueue() -> String {
  let queue = OperationQueue()
  queue.isSuspended = true
  let operation = BlockOperation {}
  queue.addOperation(operation)
  operation.cancel()
  return becomesTrue { operation.isFinished } ? "left the queue" : "stayed: operationCount \(queue.operationCount)"
}

func cancelledInFullQueue() -> String {
  let queue = serialQueue()
  let end = DispatchSemaphore(value: 0)
  queue.addOperation { end.wait() }
  let operation = BlockOperation {}
  queue.addOperation(operation)
  operation.cancel()
  let left = becomesTrue { operation.isFinished }
  end.signal()
  return left ? "left the queue" : "stayed until the running one ended"
}

func cancelAllOnMainQueue() -> String {
  let operation = BlockOperation {}
  operation.addDependency(Operation())
  OperationQueue.main.addOperation(operation)
  OperationQueue.main.cancelAllOperations()
  return "isCancelled \(operation.isCancelled)"
}

func cancelledWhenAdded() -> String {
  let operation = BlockOperation {}
  operation.cancel()
  let queue = OperationQueue()
  queue.isSuspended = true
  queue.addOperation(operation)
  return "operationCount of a suspended queue \(queue.operationCount)"
}

func cancelledWithState() -> String {
  let operation = OwnState()
  operation.cancel()
  let before = operation.isFinished
  operation.completionBlock = {}
  OperationQueue().addOperations([operation], waitUntilFinished: true)
  return "isFinished \(before), after it was added \(operation.isFinished)"
}

/// Overrides only `start()`.
private final class OwnStart: Operation, @unchecked Sendable {
  let work: @Sendable () -> Void

  init(work: @escaping @Sendable () -> Void) { self.work = work }

  override func start() {
    work()
    super.start()
  }
}

func cancelledStartSuspended() -> String {
  let queue = OperationQueue()
  queue.isSuspended = true
  let started = Shared(false)
  let operation = OwnStart { started.change { $0 = true } }
  queue.addOperation(operation)
  operation.cancel()
  let startedEarly = becomesTrue(within: 0.5) { started.value }
  queue.isSuspended = false
  let finished = becomesTrue { operation.isFinished }
  return "started while suspended \(startedEarly), finished when resumed \(finished)"
}

func cancelledStartOrder() -> String {
  let queue = serialQueue()
  let end = DispatchSemaphore(value: 0)
  queue.addOperation { end.wait() }
  let order = Shared<[String]>([])
  queue.addOperation { order.change { $0.append("ready") } }
  let operation = OwnStart { order.change { $0.append("cancelled") } }
  queue.addOperation(operation)
  operation.cancel()
  end.signal()
  queue.waitUntilAllOperationsAreFinished()
  return "limit 1, cancelled behind one that is ready: order \(order.value)"
}
