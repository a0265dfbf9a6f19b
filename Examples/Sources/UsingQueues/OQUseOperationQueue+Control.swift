import Headway
import HeadwayTestKit

extension OQUseOperationQueue {
  /// Suspends a queue while an operation runs: the running operation continues, and the next one waits.
  func suspendAndResume() {
    let operationQueue = OperationQueue()
    let (started, isSuspended) = (Gate(), Gate())

    let running = BlockOperation {
      started.open()
      isSuspended.wait()
      print("The running operation continues")
    }
    operationQueue.addOperation(running)
    started.wait()
    operationQueue.isSuspended = true
    operationQueue.addOperation { print("The waiting one runs") }
    isSuspended.open()
    running.waitUntilFinished()

    print("Still in the queue: \(operationQueue.operationCount)")
    operationQueue.isSuspended = false
    operationQueue.waitUntilAllOperationsAreFinished()
  }

  /// Cancels one operation, and then all operations.
  func cancelOperations() {
    let operationQueue = OperationQueue()
    operationQueue.isSuspended = true
    let operations = (1...4).map { number in BlockOperation { print("never printed: \(number)") } }
    operationQueue.addOperations(operations, waitUntilFinished: false)

    operations[1].cancel()
    operations[1].waitUntilFinished()
    print("In the queue after cancelling one: \(operationQueue.operationCount)")

    // Cancelled operations leave the queue even though it is suspended.
    operationQueue.cancelAllOperations()
    operationQueue.waitUntilAllOperationsAreFinished()
    print("In the queue after cancelling all: \(operationQueue.operationCount)")
    print("All finished: \(operations.allSatisfy(\.isFinished))")
  }

  /// Waits for one operation and for several, while the queue contains another.
  func waitForOperations() {
    let operationQueue = OperationQueue()
    let end = Gate()
    operationQueue.addOperation {
      end.wait()
      print("The long one ends")
    }

    let short = BlockOperation { print("The short one ends") }
    operationQueue.addOperation(short)
    short.waitUntilFinished()
    operationQueue.addOperations([BlockOperation { print("One of a list ends") }], waitUntilFinished: true)

    end.open()
    operationQueue.waitUntilAllOperationsAreFinished()
  }

  /// Prints a message when an operation has finished.
  ///
  /// The block is also called for cancelled operations, so it reads `isCancelled`.
  func setCompletionBlocks() {
    let operationQueue = OperationQueue()
    operationQueue.isSuspended = true

    for isCancelled in [false, true] {
      let operation = BlockOperation { print("Works") }
      let isTold = Gate()
      // This is a reference cycle only temporarily: the block is released after it has run.
      operation.completionBlock = {
        print(operation.isCancelled ? "Was cancelled" : "Has completed")
        isTold.open()
      }
      operationQueue.addOperation(operation)
      if isCancelled { operation.cancel() } else { operationQueue.isSuspended = false }
      // The block runs after the operation has finished, so waiting for the operation would not be enough.
      isTold.wait()
      operationQueue.isSuspended = true
    }
  }
}
