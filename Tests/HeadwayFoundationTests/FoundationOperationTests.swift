import HeadwayFoundation
import HeadwayTestKit
import Testing

/// The requirements that Foundation's tests on Linux place on its operations; if Headway differs, the title states it.
@Suite("Behavior in Foundation's tests: operations", .hangLimit) struct FoundationOperationTests {
  @Test("O2: isExecuting is true inside the block, and false before and after") func executing() {
    let seen = EventRecorder<Bool>()
    let operation = BlockOperation()
    operation.addExecutionBlock { [unowned operation] in seen.record(operation.isExecuting) }
    #expect(!operation.isExecuting)
    OperationQueue().addOperations([operation], waitUntilFinished: true)
    #expect(seen.events == [true])
    #expect(!operation.isExecuting)
  }

  @Test("O3, O4: an asynchronous operation that is started manually has the state that it announces")
  func asynchronous() {
    let operation = FlaggedOperation()
    #expect(!operation.isExecuting && !operation.isFinished)
    operation.start()
    #expect(operation.isExecuting && !operation.isFinished)
    DispatchQueue.global().async { operation.complete() }
    operation.waitUntilFinished()
    #expect(!operation.isExecuting && operation.isFinished)
  }

  @Test("O4: a synchronous operation that is started manually has finished when start() returns") func synchronous() {
    final class Synchronous: Operation, @unchecked Sendable {
      let ran = EventRecorder<Bool>()
      override func main() { ran.record(isExecuting) }
    }
    let operation = Synchronous()
    #expect(!operation.isExecuting && !operation.isFinished)
    operation.start()
    #expect(!operation.isExecuting && operation.isFinished)
    #expect(operation.ran.events == [true])
  }

  @Test("D1: an added dependency is counted") func dependencyCount() {
    let (first, second) = (BlockOperation {}, BlockOperation {})
    (first.name, second.name) = ("first", "second")
    first.addDependency(second)
    #expect(first.dependencies == [second])
    #expect(second.dependencies.isEmpty)
  }

  @Test("C4, D2: an operation that is cancelled in no queue and then added does not run; its dependent does")
  func cancelDependency() {
    let queue = OperationQueue(limit: 1)
    let ran = EventRecorder<String>()
    let dependency = BlockOperation { ran.record("dependency") }
    let operation = BlockOperation { ran.record("operation") }
    operation.addDependency(dependency)
    dependency.cancel()
    queue.addOperation(dependency)
    queue.addOperation(operation)
    queue.waitUntilAllOperationsAreFinished()
    #expect(ran.events == ["operation"])
  }

  @Test("D1, Q11: in a serial queue that no other code retains, the first operation waits for the second")
  func dependencyBehind() {
    let order = EventRecorder<Int>()
    let completed = [Gate(), Gate()]
    let operations = (0..<2).map { number in
      let operation = BlockOperation { order.record(number) }
      operation.completionBlock = { completed[number].open() }
      return operation
    }
    operations[0].addDependency(operations[1])
    do {
      let queue = OperationQueue(limit: 1)
      for operation in operations { queue.addOperation(operation) }
    }
    for gate in completed { gate.wait() }
    #expect(order.events == [1, 0])
  }

  @Test(
    "C4: unlike in Foundation, an operation that is cancelled in no queue has finished, unless it overrides isFinished")
  func cancelInNoQueue() {
    let operation = Operation()
    operation.cancel()
    #expect(operation.isCancelled && !operation.isExecuting && operation.isFinished)
    let flagged = FlaggedOperation()
    flagged.cancel()
    #expect(flagged.isCancelled && !flagged.isExecuting && !flagged.isFinished)
  }

  @Test("D1: an operation depends on an operation in another queue") func crossQueue() {
    let order = EventRecorder<Int>()
    let (first, second) = (BlockOperation { order.record(1) }, BlockOperation { order.record(2) })
    first.addDependency(second)
    let (queue, other) = (OperationQueue(), OperationQueue())
    queue.addOperation(first)
    other.addOperation(second)
    queue.waitUntilAllOperationsAreFinished()
    #expect(order.events == [2, 1])
  }

  @Test("D1: of operations that are added together, the dependency runs first; a third one can run at any time")
  func executionOrder() {
    let queue = OperationQueue()
    let third = Gate()
    let dependency = BlockOperation { third.wait() }
    let operation = BlockOperation { #expect(dependency.isFinished) }
    operation.addDependency(dependency)
    queue.addOperations([operation, dependency], waitUntilFinished: false)
    queue.addOperation { third.open() }
    queue.waitUntilAllOperationsAreFinished()
    #expect(operation.isFinished)
  }

  @Test(
    "O3: an operation that overrides isReady waits, and runs after it has posted that it is ready",
    arguments: [false, true])
  func customReadiness(isSerial: Bool) {
    final class Custom: Operation, @unchecked Sendable {
      private let lock = NSLock()
      private var isOpen = false
      override var isReady: Bool { lock.withLock { isOpen } }
      func open() {
        willChangeValue(forKey: "isReady")
        lock.withLock { isOpen = true }
        didChangeValue(forKey: "isReady")
      }
    }
    let queue = OperationQueue()
    if isSerial { queue.maxConcurrentOperationCount = 1 }
    let operation = Custom()
    queue.addOperation(operation)
    queue.addOperations([BlockOperation {}], waitUntilFinished: true)
    #expect(queue.operations == [operation])
    operation.open()
    queue.waitUntilAllOperationsAreFinished()
    #expect(operation.isFinished)
  }

  @Test("D6: cancelling an operation of a cycle lets the other operations run, in their order") func cycleBroken() {
    let queue = OperationQueue()
    let ran = EventRecorder<Int>()
    let operations = (0..<3).map { number in BlockOperation { ran.record(number) } }
    for number in 0..<3 { operations[number].addDependency(operations[(number + 1) % 3]) }
    for operation in operations { queue.addOperation(operation) }
    #expect(queue.operationCount == 3)
    operations[2].cancel()
    queue.waitUntilAllOperationsAreFinished()
    #expect(ran.events == [1, 0])
    #expect(operations.filter(\.isFinished).count == 3)
  }

  @Test("B1: blocks are listed as they were added, and all run") func executionBlocks() {
    let ran = EventRecorder<Int>()
    let operation = BlockOperation { ran.record(1) }
    operation.addExecutionBlock { ran.record(2) }
    #expect(operation.executionBlocks.count == 2)
    OperationQueue().addOperations([operation], waitUntilFinished: true)
    #expect(ran.events.sorted() == [1, 2])
  }
}

/// A class between `Operation` and a program's own classes, as is common.
private class Middle: Operation, @unchecked Sendable {}

extension FoundationOperationTests {
  @Test("O3, O1: if start() calls main(), main() runs once, even if it calls the main() of an intermediate class")
  func mainOfClassBetween() {
    final class Leaf: Middle, @unchecked Sendable {
      let runs = EventRecorder<Int>()
      override func start() { main() }
      override func main() {
        super.main()
        runs.record(1)
      }
    }
    class Base: Operation, @unchecked Sendable {
      override func start() { main() }
    }
    final class Work: Base, @unchecked Sendable {
      let runs = EventRecorder<Int>()
      override func main() {
        super.main()
        runs.record(1)
      }
    }
    let (leaf, work) = (Leaf(), Work())
    leaf.start()
    work.start()
    #expect(leaf.runs.events == [1] && work.runs.events == [1])
  }
}
