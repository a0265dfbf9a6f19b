import Headway

let misusesOfOperations = [
  Misuse("operation: depends on itself", "“load”", "never be ready") {
    let operation = BlockOperation {}
    operation.name = "load"
    operation.addDependency(operation)
  },
  Misuse("queue: clock while it holds operations", "“work”", "set it first") {
    let queue = OperationQueue()
    queue.name = "work"
    queue.isSuspended = true
    queue.addOperation {}
    queue.clock = ContinuousClock()
  },
  Misuse("queue: limit of operations", "“work”", "1 or more") {
    let queue = OperationQueue()
    queue.name = "work"
    queue.maxOperationCount = 0
  },
]
