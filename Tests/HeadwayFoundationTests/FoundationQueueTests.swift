import HeadwayFoundation
import HeadwayTestKit
import Testing

/// The requirements that Foundation's tests on Linux place on its queues; if Headway differs, the title states it.
@Suite("Behavior in Foundation's tests: queues", .hangLimit) struct FoundationQueueTests {
  @Test("Q5: the queue counts and lists the operations that have not finished, in insertion order") func counts() {
    let queue = OperationQueue()
    let gates = [Gate(), Gate()]
    let operations = gates.map { gate in BlockOperation { gate.wait() } }
    queue.addOperation(operations[0])
    #expect(queue.operationCount == 1)
    queue.addOperation(operations[1])
    #expect(queue.operationCount == 2)
    #expect(queue.operations == operations)
    gates[0].open()
    operations[0].waitUntilFinished()
    #expect(queue.operations == [operations[1]])
    gates[1].open()
    queue.waitUntilAllOperationsAreFinished()
    #expect(queue.operationCount == 0)
    #expect(queue.operations.isEmpty)
  }

  @Test("P2: operations that are added together to a serial queue run by priority") func prioritiesAtOnce() {
    let order = EventRecorder<Operation.QueuePriority>()
    let priorities: [Operation.QueuePriority] = [.normal, .low, .veryHigh, .veryLow]
    let operations = priorities.map { priority in
      let operation = BlockOperation { order.record(priority) }
      operation.queuePriority = priority
      return operation
    }
    OperationQueue(limit: 1).addOperations(operations, waitUntilFinished: true)
    #expect(order.events == [.veryHigh, .normal, .low, .veryLow])
  }

  @Test("P2: operations that are added one by one to a suspended serial queue run in insertion order")
  func orderAdded() {
    let queue = OperationQueue(limit: 1, isSuspended: true)
    let order = EventRecorder<Int>()
    for number in 1...5 {
      let operation = BlockOperation { order.record(number) }
      operation.queuePriority = .normal
      queue.addOperation(operation)
    }
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    #expect(order.events == [1, 2, 3, 4, 5])
  }

  @Test("P2, O3: an operation that overrides isReady keeps its place among operations that are added together")
  func orderOfOwnReadiness() {
    final class Ready: Operation, @unchecked Sendable {
      let order: EventRecorder<Int>
      init(_ order: EventRecorder<Int>) { self.order = order }
      override var isReady: Bool { super.isReady }
      override func main() { order.record(1) }
    }
    for _ in 0..<200 {
      let order = EventRecorder<Int>()
      let operations = [Ready(order), BlockOperation { order.record(2) }]
      OperationQueue(limit: 1).addOperations(operations, waitUntilFinished: true)
      #expect(order.events == [1, 2])
    }
  }

  @Test("P2: operations that are added in ascending priority run in descending priority") func orderReversed() {
    let queue = OperationQueue(limit: 1, isSuspended: true)
    let order = EventRecorder<Int>()
    let priorities: [Operation.QueuePriority] = [.veryLow, .low, .normal, .high, .veryHigh]
    for (number, priority) in priorities.enumerated() {
      let operation = BlockOperation { order.record(number) }
      operation.queuePriority = priority
      queue.addOperation(operation)
    }
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    #expect(order.events == [4, 3, 2, 1, 0])
  }

  @Test("C3: of five operations in a serial queue, all except the cancelled operation run") func cancelOne() {
    let queue = OperationQueue(limit: 1)
    let (end, ran) = (queue.occupy(), EventRecorder<Int>())
    let operations = (0..<5).map { number in BlockOperation { ran.record(number) } }
    queue.addOperations(operations, waitUntilFinished: false)
    operations[2].cancel()
    end.open()
    queue.waitUntilAllOperationsAreFinished()
    #expect(ran.events == [0, 1, 3, 4])
  }

  @Test("C3: operations that are cancelled while they wait for more urgent operations do not run")
  func cancelByPriority() {
    let queue = OperationQueue(limit: 1)
    let (started, end, ran) = (Gate(), Gate(), EventRecorder<Int>())
    let operations = (0..<5).map { number in
      let operation = BlockOperation {
        ran.record(number)
        if number == 0 { started.open() }
        end.wait()
      }
      operation.queuePriority = number < 2 ? .high : .normal
      return operation
    }
    queue.addOperations(operations, waitUntilFinished: false)
    started.wait()
    for operation in operations where operation.queuePriority == .normal { operation.cancel() }
    end.open()
    queue.waitUntilAllOperationsAreFinished()
    #expect(ran.events == [0, 1])
    #expect(operations.filter(\.isCancelled) == Array(operations[2...]))
  }

  @Test("C5: two operations cancelled in a suspended queue have finished when it resumes") func cancelWhileSuspended() {
    let queue = OperationQueue()
    queue.isSuspended = true
    let operations = (0..<2).map { _ in BlockOperation { Issue.record("a cancelled operation ran") } }
    for operation in operations { queue.addOperation(operation) }
    for operation in operations { operation.cancel() }
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    for operation in operations {
      #expect(operation.isCancelled && operation.isFinished && !operation.isExecuting)
    }
  }

  @Test("Q7: there is one main queue; it is not suspended, and current on the main thread") func mainQueue() async {
    #expect(OperationQueue.main === OperationQueue.main)
    #expect(!OperationQueue.main.isSuspended)
    await MainActor.run { #expect(OperationQueue.current === OperationQueue.main) }
  }

  @Test(
    "Q7: current is the queue that runs the operation, whether or not the operation is cancelled",
    arguments: [false, true])
  func current(cancels: Bool) {
    let queue = OperationQueue(limit: 1)
    let seen = EventRecorder<Bool>()
    queue.addOperation {
      seen.record(OperationQueue.current === queue)
      // The operation cancels itself along with the other operations.
      if cancels { queue.cancelAllOperations() }
    }
    queue.waitUntilAllOperationsAreFinished()
    #expect(seen.events == [true])
  }

  @Test(
    "Q7, Q9: current is the queue that runs the operation, with an underlying queue and after setting it back to nil",
    arguments: [false, true])
  func currentWithUnderlyingQueue(isSetBack: Bool) {
    let (queue, underlying) = (OperationQueue(), DispatchQueue(label: "underlying"))
    queue.underlyingQueue = underlying
    if isSetBack { queue.underlyingQueue = nil }
    let seen = EventRecorder<Bool>()
    queue.addOperation {
      seen.record(OperationQueue.current === queue)
      if !isSetBack { dispatchPrecondition(condition: .onQueue(underlying)) }
      #expect((OperationQueue.current?.underlyingQueue === underlying) != isSetBack)
    }
    queue.waitUntilAllOperationsAreFinished()
    #expect(seen.events == [true])
  }

  @Test("Q4, Q9: a suspended queue is resumed by its own underlying serial queue") func resumedFromUnderlying() {
    let (queue, underlying) = (OperationQueue(limit: 1, isSuspended: true), DispatchQueue(label: "underlying"))
    queue.underlyingQueue = underlying
    let isResumed = EventRecorder<Bool>()
    queue.addOperation {
      isResumed.record(!queue.isSuspended)
      #expect(OperationQueue.current?.underlyingQueue === underlying)
    }
    underlying.async { queue.isSuspended = false }
    queue.waitUntilAllOperationsAreFinished()
    #expect(isResumed.events == [true])
  }

  @Test("Q6: waiting for a queue includes dependencies of its operations in another queue") func waitsAcrossQueues() {
    let (first, second) = (OperationQueue(), OperationQueue())
    let end = Gate()
    let dependency = BlockOperation { end.wait() }
    let operation = BlockOperation { #expect(dependency.isFinished) }
    operation.addDependency(dependency)
    first.addOperation(dependency)
    second.addOperation(operation)
    first.addOperation { end.open() }
    second.waitUntilAllOperationsAreFinished()
    #expect(second.operationCount == 0)
    #expect(operation.isFinished)
  }

  @Test("W2: when a wait for an operation returns, its queue has already released the operation")
  func waitedForHasLeft() {
    let queue = OperationQueue()
    for _ in 0..<100 {
      let operation = BlockOperation {}
      queue.addOperation(operation)
      operation.waitUntilFinished()
      #expect(queue.operationCount == 0)
    }
  }

  @Test("Q11: a released queue runs its operations, even if a running operation is cancelled, and is freed")
  func lifecycle() {
    let (started, end, freed) = (Gate(), Gate(), Gate())
    let first = BlockOperation {
      started.open()
      end.wait()
    }
    let second = BlockOperation { #expect(first.isFinished && first.isCancelled) }
    second.addDependency(first)
    do {
      let queue = WatchedQueue(freed: freed)
      queue.addOperation(second)
      queue.addOperation(first)
    }
    started.wait()
    first.cancel()
    #expect(!freed.isOpen)
    end.open()
    second.waitUntilFinished()
    freed.wait()
    #expect(second.isFinished && !second.isCancelled)
  }

  @Test("Q3: with a limit of 2, operations that wait for each other run at the same time, repeatedly") func concurrent()
  {
    let queue = OperationQueue(limit: 2)
    for _ in 0..<20 {
      let (first, second) = (Gate(), Gate())
      queue.addOperation {
        second.wait()
        first.open()
      }
      queue.addOperation { second.open() }
      first.wait()
    }
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test("Q3, W1: with a limit of 2, two operations overlap if they have a dependent and a completion block")
  func concurrentWithCompletion() {
    let queue = OperationQueue(limit: 2)
    for _ in 0..<20 {
      let (ran, other, completed, dependencyRan) = (Gate(), Gate(), Gate(), Gate())
      let operation = BlockOperation {
        dependencyRan.wait()
        other.wait()
        ran.open()
      }
      operation.completionBlock = { completed.open() }
      let dependency = BlockOperation { dependencyRan.open() }
      operation.addDependency(dependency)
      queue.addOperations([operation, dependency], waitUntilFinished: false)
      queue.addOperation { other.open() }
      ran.wait()
      completed.wait()
    }
    queue.waitUntilAllOperationsAreFinished()
    #expect(queue.operationCount == 0)
  }
}
