import HeadwayFoundation
import HeadwayTestKit
import Testing

/// The promises of the documentation of `NSOperationQueue`, each once.
@Suite("Promises of the documentation: queues", .hangLimit) struct QueuePromiseTests {
  @Test("Q3, Q4, Q9: a new queue has no limit, no underlying queue, and is not suspended") func defaults() {
    let queue = OperationQueue()
    #expect(queue.maxConcurrentOperationCount == OperationQueue.defaultMaxConcurrentOperationCount)
    #expect(OperationQueue.defaultMaxConcurrentOperationCount == -1)
    #expect(!queue.isSuspended && queue.underlyingQueue == nil && queue.qualityOfService == .default)
    #expect(queue.operations.isEmpty && queue.operationCount == 0)
    queue.name = "import"
    #expect(queue.name == "import")
  }

  @Test("Q1: a queue keeps an operation until the operation has finished") func keeps() {
    let queue = OperationQueue()
    queue.isSuspended = true
    weak var operation: Operation?
    let ran = EventRecorder<Int>()
    do {
      let made = BlockOperation { ran.record(1) }
      operation = made
      queue.addOperation(made)
    }
    #expect(operation != nil && queue.operationCount == 1)
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    #expect(ran.events == [1])
  }

  @Test("P2: readiness comes before priority") func readinessFirst() {
    let queue = OperationQueue(limit: 1)
    let order = EventRecorder<String>()
    let low = BlockOperation { order.record("low") }
    low.queuePriority = .veryLow
    let high = BlockOperation { order.record("high") }
    high.queuePriority = .veryHigh
    high.addDependency(low)
    queue.addOperations([high, low], waitUntilFinished: true)
    #expect(order.events == ["low", "high"])
  }

  @Test("Q1: addOperations(_:waitUntilFinished:) waits for all, or for none") func addsMany() {
    let queue = OperationQueue()
    let end = Gate()
    let held = [BlockOperation { end.wait() }, BlockOperation { end.wait() }]
    queue.addOperations(held, waitUntilFinished: false)
    #expect(held.filter(\.isFinished).isEmpty)
    end.open()
    let others = (0..<10).map { _ in BlockOperation {} }
    queue.addOperations(others, waitUntilFinished: true)
    #expect(others.filter(\.isFinished).count == 10)
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test("Q2: an operation is in one queue at a time, and not added when it runs or has finished")
  func addedTwice() async {
    await #expect(processExitsWith: .failure) {
      let (queue, operation) = (OperationQueue(), Operation())
      queue.isSuspended = true
      queue.addOperation(operation)
      OperationQueue().addOperation(operation)
    }
    await #expect(processExitsWith: .failure) {
      let operation = Operation()
      operation.start()
      OperationQueue().addOperation(operation)
    }
    await #expect(processExitsWith: .failure) {
      let operation = FlaggedOperation()
      operation.start()
      OperationQueue().addOperation(operation)
    }
  }

  @Test("Q8: a barrier waits for all earlier operations, and all later operations wait for the barrier") func barrier()
  {
    let queue = OperationQueue()
    let (end, order) = (queue.occupy(), EventRecorder<String>())
    for _ in 0..<5 { queue.addOperation { order.record("before") } }
    queue.addBarrierBlock { order.record("barrier") }
    for _ in 0..<5 { queue.addOperation { order.record("after") } }
    end.open()
    queue.waitUntilAllOperationsAreFinished()
    #expect(order.events == Array(repeating: "before", count: 5) + ["barrier"] + Array(repeating: "after", count: 5))
  }

  @Test("C6: cancelAllOperations() cancels all operations of the queue; running ones continue") func cancelAll() {
    let queue = OperationQueue(limit: 1)
    let (started, end) = (Gate(), Gate())
    let running = BlockOperation {
      started.open()
      end.wait()
    }
    let waiting = BlockOperation { Issue.record("a cancelled operation ran") }
    queue.addOperations([running, waiting], waitUntilFinished: false)
    started.wait()
    queue.cancelAllOperations()
    #expect(running.isCancelled && running.isExecuting && waiting.isCancelled)
    end.open()
    queue.waitUntilAllOperationsAreFinished()
    #expect(running.isFinished && waiting.isFinished)
    let later = BlockOperation {}
    queue.addOperations([later], waitUntilFinished: true)
    #expect(!later.isCancelled)
  }

  @Test("Q6: waiting for an empty queue returns immediately; operations added in the meantime prolong it")
  func waiting() {
    let queue = OperationQueue()
    queue.waitUntilAllOperationsAreFinished()
    let (inner, ran) = (Gate(), EventRecorder<Int>())
    queue.addOperation {
      queue.addOperation {
        inner.wait()
        ran.record(2)
      }
      ran.record(1)
    }
    DispatchQueue.global().async {
      letOthersRun()
      inner.open()
    }
    queue.waitUntilAllOperationsAreFinished()
    #expect(ran.events.sorted() == [1, 2])
  }

  @Test("Q3: a lowered limit does not affect running operations; a raised limit starts more") func limitChanged() {
    let queue = OperationQueue(limit: 2)
    let ends = [queue.occupy(), queue.occupy()]
    queue.maxConcurrentOperationCount = 1
    let (started, other) = (Gate(), BlockOperation {})
    other.completionBlock = { started.open() }
    queue.addOperation(other)
    ends[0].open()
    letOthersRun()
    #expect(!other.isFinished)
    queue.maxConcurrentOperationCount = 2
    started.wait()
    ends[1].open()
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test("Q4: a suspended queue accepts operations and starts none, and running operations continue") func suspended() {
    let queue = OperationQueue()
    let end = queue.occupy()
    queue.isSuspended = true
    let operation = BlockOperation {}
    queue.addOperation(operation)
    end.open()
    letOthersRun()
    #expect(queue.operations.contains(operation) && !operation.isFinished)
    queue.isSuspended = false
    operation.waitUntilFinished()
  }

  @Test("Q9: operations run on the underlying queue, which changes while the queue is empty") func underlying() {
    let queue = OperationQueue()
    for label in ["first", "second"] {
      let underlying = DispatchQueue(label: label)
      queue.underlyingQueue = underlying
      let operation = BlockOperation { dispatchPrecondition(condition: .onQueue(underlying)) }
      queue.addOperations([operation], waitUntilFinished: true)
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test("Q9: the underlying queue of a queue that holds operations can't be changed") func underlyingChanged() async {
    await #expect(processExitsWith: .failure) {
      let queue = OperationQueue()
      queue.isSuspended = true
      queue.addOperation {}
      queue.underlyingQueue = DispatchQueue(label: "late")
    }
  }

  @Test("Q9: the main dispatch queue can be the underlying queue") func underlyingMain() async {
    await #expect(processExitsWith: .success) {
      let queue = OperationQueue()
      queue.underlyingQueue = .main
      await withCheckedContinuation { continuation in
        queue.addOperation {
          dispatchPrecondition(condition: .onQueue(.main))
          continuation.resume()
        }
      }
    }
  }

  @Test("Q7: the main queue's own properties can't be changed") func mainProperties() async {
    await #expect(processExitsWith: .success) {
      let main = OperationQueue.main
      let name = main.name
      main.maxConcurrentOperationCount = 4
      main.isSuspended = true
      main.name = "mine"
      main.underlyingQueue = DispatchQueue(label: "mine")
      #expect(main.maxConcurrentOperationCount == 1 && !main.isSuspended && main.name == name)
      #expect(main.underlyingQueue?.label == DispatchQueue.main.label)
    }
  }

  @Test("P3: a block runs at its queue's quality of service, and an operation at the higher of its own and its queue's")
  func quality() {
    let queue = OperationQueue()
    queue.qualityOfService = .userInitiated
    let operation = BlockOperation {}
    operation.qualityOfService = .utility
    queue.addOperations([operation], waitUntilFinished: true)
    #expect(queue.qualityOfService == .userInitiated)
    #expect(operation.qualityOfService == .utility)
  }

  @Test("Q10: a queue's progress counts no operations until it has a total; then it counts all operations")
  func progress() {
    let queue = OperationQueue()
    queue.addOperations([BlockOperation {}], waitUntilFinished: true)
    queue.waitUntilAllOperationsAreFinished()
    #expect(queue.progress.completedUnitCount == 0)
    queue.progress.totalUnitCount = 3
    queue.addOperations((0..<3).map { _ in BlockOperation {} }, waitUntilFinished: true)
    queue.waitUntilAllOperationsAreFinished()
    #expect(queue.progress.completedUnitCount == 3)
    #expect(queue.progress.fractionCompleted == 1)
  }

  @Test("K1: the properties that the documentation lists are observed by key path") func observed() {
    let queue = OperationQueue()
    let changed = EventRecorder<String>()
    let tokens: [NSKeyValueObservation] = [
      queue.observe(\.operations) { _, _ in changed.record("operations") },
      queue.observe(\.operationCount) { _, _ in changed.record("operationCount") },
      queue.observe(\.maxConcurrentOperationCount) { _, _ in changed.record("maxConcurrentOperationCount") },
      queue.observe(\.isSuspended) { _, _ in changed.record("isSuspended") },
      queue.observe(\.name) { _, _ in changed.record("name") },
    ]
    queue.name = "import"
    queue.maxConcurrentOperationCount = 2
    queue.isSuspended = true
    queue.addOperation {}
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    #expect(
      Set(changed.events) == ["isSuspended", "maxConcurrentOperationCount", "name", "operationCount", "operations"])
    for token in tokens { token.invalidate() }
  }
}
