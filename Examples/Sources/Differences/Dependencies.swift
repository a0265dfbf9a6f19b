// Dependencies.

#if HEADWAY
import HeadwayFoundation
#else
import Foundation
#endif

func dependencyRemoved() -> String {
  let dependency = Operation()
  let operation = BlockOperation {}
  operation.addDependency(dependency)
  let queue = OperationQueue()
  queue.addOperation(operation)
  operation.removeDependency(dependency)
  let ran = becomesTrue { operation.isFinished }
  return ran
    ? "ran" : "never ran: dependencies \(operation.dependencies.count), isReady \(operation.isReady)"
}

func dependencyOnItself() -> String {
  let operation = Operation()
  let returned = returns { operation.addDependency(operation) }
  return returned ? "returned; isReady \(operation.isReady)" : "addDependency(self) hung"
}

func dependencyAfterStart() -> String {
  let begun = DispatchSemaphore(value: 0)
  let end = DispatchSemaphore(value: 0)
  let operation = BlockOperation {
    begun.signal()
    end.wait()
  }
  let queue = OperationQueue()
  queue.addOperation(operation)
  begun.wait()
  operation.addDependency(Operation())
  let (isReady, count) = (operation.isReady, operation.dependencies.count)
  end.signal()
  return "while executing: isReady \(isReady), dependencies \(count)"
}

func dependenciesFromTwoThreads() -> String {
  let returned = returns(within: 10) {
    let (left, right) = (Operation(), Operation())
    let both = DispatchGroup()
    for (from, to) in [(left, right), (right, left)] {
      both.enter()
      Thread.detachNewThread {
        for _ in 0..<500_000 {
          from.addDependency(to)
          from.removeDependency(to)
        }
        both.leave()
      }
    }
    both.wait()
  }
  return returned ? "500,000 times added and removed, no deadlock" : "deadlock"
}

func dependenciesKept() -> String {
  let dependency = BlockOperation {}
  let operation = BlockOperation {}
  operation.addDependency(dependency)
  OperationQueue().addOperations([dependency, operation], waitUntilFinished: true)
  return "after the end: dependencies \(operation.dependencies.count)"
}

func dependenciesInCompletionBlock() -> String {
  let count = Shared<Int?>(nil)
  let dependency = BlockOperation {}
  let operation = BlockOperation {}
  operation.addDependency(dependency)
  operation.completionBlock = { [unowned operation] in count.change { $0 = operation.dependencies.count } }
  OperationQueue().addOperations([dependency, operation], waitUntilFinished: true)
  _ = becomesTrue { count.value != nil }
  return "dependencies \(count.value.map(String.init) ?? "never asked")"
}

func chainFreed() -> String {
  for length in [10_000, 50_000, 100_000, 500_000] {
    print("while a chain of \(length) was freed")
    fflush(nil)
    var last = Operation()
    for _ in 0..<length {
      let next = Operation()
      next.addDependency(last)
      last = next
    }
  }
  return "a chain of 500,000 was freed"
}

/// A dependent that is neither run nor kept.
func dependentFreed() -> String {
  var dependencies: [Operation] = []
  for _ in 0..<1_000 {
    let dependency = BlockOperation {}
    for _ in 0..<4 { Operation().addDependency(dependency) }
    dependencies.append(dependency)
  }
  OperationQueue().addOperations(dependencies, waitUntilFinished: true)
  return "1,000 operations whose dependents were freed have run"
}

func cycle() -> String {
  let (left, right) = (BlockOperation {}, BlockOperation {})
  left.addDependency(right)
  right.addDependency(left)
  let queue = OperationQueue()
  queue.addOperations([left, right], waitUntilFinished: false)
  return becomesTrue(within: 1) { queue.operationCount == 0 } ? "ended" : "waits in silence, no message"
}
