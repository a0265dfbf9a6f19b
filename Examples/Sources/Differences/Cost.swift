// The cost of building, running and cancelling.

#if HEADWAY
import HeadwayFoundation
#else
import Foundation
#endif

/// Returns how long `measure` takes for 1,000, 2,000, 4,000 and 8,000.
func costs(_ measure: (Int) -> Double) -> String {
  [1_000, 2_000, 4_000, 8_000].map { "\($0): \(String(format: "%.3f", measure($0))) s" }.joined(separator: ", ")
}

func chainCost() -> String {
  costs { count in
    let queue = OperationQueue()
    return secondsTaken {
      let operations = (0..<count).map { _ in BlockOperation {} }
      for (operation, next) in zip(operations, operations.dropFirst()) { next.addDependency(operation) }
      queue.addOperations(operations, waitUntilFinished: true)
    }
  }
}

func joinCost() -> String {
  costs { count in
    let operations = (0..<count).map { _ in Operation() }
    let join = Operation()
    return secondsTaken { for operation in operations { join.addDependency(operation) } }
  }
}

func cancelCost() -> String {
  costs { count in
    let gate = Operation()
    let queue = OperationQueue()
    let operations = (0..<count).map { _ in BlockOperation {} }
    for operation in operations { operation.addDependency(gate) }
    queue.addOperations(operations, waitUntilFinished: false)
    return secondsTaken {
      queue.cancelAllOperations()
      queue.waitUntilAllOperationsAreFinished()
    }
  }
}

func barrierCost() -> String {
  costs { count in
    let queue = OperationQueue()
    queue.isSuspended = true
    for _ in 0..<count { queue.addOperation {} }
    return secondsTaken { queue.addBarrierBlock {} }
  }
}

func barriersCost() -> String {
  let times = [50, 100, 200, 400].map { count in
    let queue = OperationQueue()
    queue.isSuspended = true
    let seconds = secondsTaken {
      for _ in 0..<count {
        queue.addOperation {}
        queue.addBarrierBlock {}
      }
    }
    return "\(count): \(String(format: "%.3f", seconds)) s"
  }
  return "so many times an operation and a barrier, added: " + times.joined(separator: ", ")
}

func countCost() -> String {
  let times = [1_000, 2_000, 4_000, 8_000].map { count in
    let queue = OperationQueue()
    queue.isSuspended = true
    for _ in 0..<count { queue.addOperation {} }
    let seconds = secondsTaken { for _ in 0..<1_000 { _ = queue.operationCount } }
    return "\(count): \(String(format: "%.1f", seconds * 1_000)) µs"
  }
  return "one reading with so many in the queue: " + times.joined(separator: ", ")
}
