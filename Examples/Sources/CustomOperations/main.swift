import Headway

let queue = OperationQueue()

/// Runs an operation and prints how it ended.
func run(_ operation: Operation) {
  queue.addOperations([operation], waitUntilFinished: true)
  print("Outcome: \(operation.outcome.map { "\($0)" } ?? "none")\n")
}

run(OQNonConcurrentOperation(data: "once"))
run(OQNonConcurrentOperation(data: ""))

run(OQCancellableOperation(data: "three times"))
run(OQCancellableOperation(data: "until the second time") { operation, loop in if loop == 2 { operation.cancel() } })

let never = OQCancellableOperation(data: "never")
never.cancel()
run(never)
