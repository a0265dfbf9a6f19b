import Headway
import HeadwayTestKit

/// Prints each announced change, until the tokens are released.
func printChanges(of operation: Operation) -> [KeyValueObservation] {
  [
    operation.observe(\.isExecuting, options: .new) { _, change in
      if let isExecuting = change.newValue { print("isExecuting: \(isExecuting)") }
    },
    operation.observe(\.isFinished, options: .new) { _, change in
      if let isFinished = change.newValue { print("isFinished: \(isFinished)") }
    },
  ]
}

/// Runs operations in the three possible ways.
func show(_ makeOperation: (@escaping @Sendable () -> Void) -> Operation) {
  print("Started manually:")
  let (isWorking, startHasReturned) = (Gate(), Gate())
  let byHand = makeOperation {
    isWorking.open()
    startHasReturned.wait()
  }
  var tokens = printChanges(of: byHand)
  byHand.start()
  isWorking.wait()
  print("start() has returned")
  startHasReturned.open()
  byHand.waitUntilFinished()

  print("Cancelled while it waits in a queue:")
  let queue = OperationQueue()
  queue.isSuspended = true
  let cancelled = makeOperation { print("never printed") }
  tokens = printChanges(of: cancelled)
  queue.addOperation(cancelled)
  cancelled.cancel()
  // To finish, its `start()` must run, which happens when the queue resumes.
  queue.isSuspended = false
  cancelled.waitUntilFinished()

  print("In a queue, before one that depends on it:")
  let first = makeOperation {}
  let second = BlockOperation { print("The dependent runs") }
  second.addDependency(first)
  queue.addOperations([second, first], waitUntilFinished: true)
  withExtendedLifetime(tokens) {}
}

print("With strings\n")
show { OQConcurrentOperation(task: $0) }
print("\nWith key paths\n")
show { OQKeyPathConcurrentOperation(task: $0) }
