import Headway
import HeadwayTestKit
import Synchronization
import Testing

@Suite("Operation", .hangLimit) struct OperationTests {
  final class Counting: Headway.Operation, @unchecked Sendable {
    let runs = Atomic<Int>(0)
    let states = EventRecorder<String>()

    override func main() {
      runs.add(1, ordering: .relaxed)
      states.record("ready \(isReady), executing \(isExecuting), finished \(isFinished)")
    }
  }

  @Test("O1: an operation runs once; calling start() on a finished operation returns immediately") func runsOnce() {
    let operation = Counting()
    operation.start()
    operation.start()
    #expect(operation.runs.load(ordering: .relaxed) == 1)
  }

  @Test("O2: an operation's state changes from pending through ready and executing to finished") func states() {
    let first = BlockOperation {}
    let operation = Counting()
    operation.addDependency(first)
    #expect(!operation.isReady && !operation.isExecuting && !operation.isFinished && !operation.isCancelled)
    first.start()
    #expect(operation.isReady)
    operation.start()
    #expect(operation.states.events == ["ready true, executing true, finished false"])
    #expect(operation.isFinished && !operation.isExecuting && !operation.isCancelled)
    #expect(!operation.isAsynchronous && !operation.isConcurrent)
  }

  @Test("O3: a synchronous subclass overrides main() and nothing else") func subclass() {
    let queue = OperationQueue()
    let operation = Counting()
    queue.addOperation(operation)
    operation.waitUntilFinished()
    #expect(operation.runs.load(ordering: .relaxed) == 1)
    #expect(operation.states.events == ["ready true, executing true, finished false"])
  }

  @Test("O4: start() runs main() on the calling thread and returns when the operation has finished") func startByHand()
  {
    let thread = EventRecorder<Bool>()
    let caller = ThreadIdentity()
    let operation = BlockOperation { thread.record(caller.isCurrent) }
    operation.start()
    #expect(thread.events == [true])
    #expect(operation.isFinished)
  }

  @Test("O4: start() finishes a cancelled operation without calling main()") func startCancelled() {
    let operation = Counting()
    operation.cancel()
    operation.start()
    #expect(operation.isFinished)
    #expect(operation.runs.load(ordering: .relaxed) == 0)
  }

  @Test("O5: calling start() on an operation that is not ready stops the process with the operation's name")
  func startNotReady() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let operation = BlockOperation {}
      operation.name = "parse"
      operation.addDependency(BlockOperation {})
      operation.start()
    }
    #expect(result.message.contains("start() on “parse” (pending), which is not ready"))
  }

  @Test("O5: calling start() on an executing operation stops the process with the operation's name")
  func startExecuting() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      final class Restarting: Headway.Operation, @unchecked Sendable {
        override func main() { start() }
      }
      let operation = Restarting()
      operation.name = "again"
      operation.start()
    }
    #expect(result.message.contains("start() on “again” (executing), which is executing"))
  }

  @Test("O5: calling start() on an operation in a queue stops the process") func startEnqueued() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let queue = OperationQueue()
      queue.isSuspended = true
      let operation = BlockOperation {}
      queue.addOperation(operation)
      operation.start()
    }
    #expect(result.message.contains("which is in a queue: the queue will start it"))
  }

  @Test("O6: when a cancelled operation finishes, dependents start, waiters wake, and the completion block runs")
  func cancelledFinishes() {
    let queue = OperationQueue()
    queue.isSuspended = true
    let completed = Gate()
    let operation = Counting()
    operation.completionBlock = { completed.open() }
    let dependent = Counting()
    dependent.addDependency(operation)
    let other = OperationQueue()
    other.addOperation(dependent)
    queue.addOperation(operation)
    operation.cancel()
    operation.waitUntilFinished()
    completed.wait()
    dependent.waitUntilFinished()
    #expect(operation.runs.load(ordering: .relaxed) == 0)
    #expect(dependent.runs.load(ordering: .relaxed) == 1)
    #expect(operation.outcome.map { if case .cancelled = $0 { true } else { false } } == true)
  }

  @Test("O7: descriptions contain the operation, its state, its progress and what it waits for") func descriptions() {
    let parse = BlockOperation(name: "parse")
    let store = BlockOperation(name: "store")
    store.addDependency(parse)
    store.queuePriority = .high
    store.progress.totalUnitCount = 4
    store.progress.completedUnitCount = 1
    let queue = OperationQueue()
    queue.name = "import"
    queue.isSuspended = true
    queue.addOperation(store)
    #expect(parse.description == "“parse” (ready)")
    #expect(store.description == "“store” (pending)")
    #expect(
      store.debugDescription
        == "BlockOperation “store” (pending); in queue “import”; priority high; 25% done; waits for “parse”")
    #expect(queue.description == "queue “import” (1 operation, suspended)")
    #expect(Counting().description == "Counting (ready)")
    parse.cancel()
    #expect(parse.description == "“parse” (finished, cancelled)")
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    #expect(store.description == "“store” (finished)")
  }

  @Test("O7: the description and the diagnosis of a failed operation include its error") func failedDescription() {
    let (upload, notice) = (BlockOperation(name: "upload") { throw Mishap() }, BlockOperation(name: "notice") {})
    notice.addDependency(upload, requiring: .success)
    OperationQueue().addOperations([upload, notice], waitUntilFinished: true)
    #expect(upload.description == "“upload” (failed: \(Mishap()))")
    #expect(upload.diagnosis == "“upload” has failed: \(Mishap())")
    #expect(notice.description == "“notice” (cancelled: “upload”, which was required to succeed, failed: \(Mishap()))")
  }
}

@Suite("Operation lifetime", .hangLimit) struct OperationLifetimeTests {
  /// Counts its living instances.
  final class Tracked: Headway.Operation, @unchecked Sendable {
    let census: Crowd

    init(_ census: Crowd) {
      self.census = census
      census.enter()
    }

    deinit { census.leave() }
  }

  @Test("O8: freeing a chain of 1,000,000 operations that never ran does not overflow the stack")
  func freeNeverRun() {
    let census = Crowd()
    do {
      var last = Tracked(census)
      for _ in 1..<1_000_000 {
        let next = Tracked(census)
        next.addDependency(last)
        last = next
      }
      #expect(census.now == 1_000_000)
      #expect(last.dependencies.count == 1)
    }
    #expect(census.now == 0)
  }

  @Test("O8: a chain of 1,000,000 finished operations can be freed from either end", arguments: [true, false])
  func freeFinished(holdingFirst: Bool) {
    let census = Crowd()
    do {
      let first = Tracked(census)
      var last = first
      for _ in 1..<1_000_000 {
        let next = Tracked(census)
        next.addDependency(last)
        last.start()
        last = next
      }
      last.start()
      let end = holdingFirst ? first : last
      #expect(end.isFinished && end.dependencies.isEmpty)
    }
    #expect(census.now == 0)
  }

  @Test("O8: a finished operation releases its dependencies and blocks") func letsGo() {
    let census = Crowd()
    let operation: BlockOperation
    do {
      let captured = Tracked(census)
      let dependency = Tracked(census)
      operation = BlockOperation { _ = captured }
      operation.addDependency(dependency)
      operation.completionBlock = { _ = captured }
      dependency.start()
    }
    let queue = OperationQueue()
    queue.addOperation(operation)
    operation.waitUntilFinished()
    // Its dependencies are kept until its completion block has run.
    #expect(eventually { operation.dependencies.isEmpty })
    #expect(operation.executionBlocks.isEmpty)
    #expect(census.eventuallyEmpty())
  }

  @Test("O8: a dependency that outlives its dependents finishes safely") func dependentsAreNotOwned() {
    let first = BlockOperation {}
    let census = Crowd()
    for _ in 0..<100 {
      let dependent = Tracked(census)
      dependent.addDependency(first)
    }
    #expect(census.now == 0)
    first.start()
    #expect(first.isFinished)
  }
}
