import HeadwayTestSupport
import Synchronization
import Testing

@testable import Headway

@Suite("Helpers", .hangLimit) struct HelperTests {
  private let executor = VisitExecutor()
  private let queue = OperationQueue()

  init() { queue.executor = executor }

  @Test("Q16: concurrentPerform leaves no request for threads behind, and sends one at first") func perform() {
    let most = Mutex(0)
    for _ in 0..<100 {
      queue.concurrentPerform(iterations: 64) { _ in most.withLock { $0 = max($0, executor.waitingCount) } }
      #expect(executor.waitingCount == 0)
    }
    #expect(most.withLock { $0 } == 1)
    queue.concurrentPerform(iterations: 1) { _ in #expect(executor.waitingCount == 0) }
  }

  @Test("Q16: a helper that arrives requests more helpers, until no numbers remain or the limit is reached")
  func growing() {
    let counts = Mutex<[Int]>([])
    // Inside each call, another thread arrives: this reduces the number of requests for threads that are still to
    // arrive by one.
    func perform(_ iterations: Int) {
      queue.concurrentPerform(iterations: iterations) { _ in
        counts.withLock { $0.append(executor.waitingCount) }
        executor.step()
      }
    }
    perform(8)
    #expect(executor.waitingCount == 0)
    // The caller has requested 1; the second thread that arrives requests 2. The third requests 3 and has 4 numbers
    // left.
    #expect(counts.withLock { $0 } == [1, 2, 3, 4, 3, 2, 1, 0])
    counts.withLock { $0 = [] }
    queue.maxConcurrentOperationCount = 2
    perform(4)
    #expect(executor.waitingCount == 0)
    #expect(counts.withLock { $0 } == [1, 0, 0, 0])
  }

  @Test("B1: the blocks of an operation leave no request for threads behind") func blocks() {
    for _ in 0..<10 {
      let count = Counter()
      let operation = BlockOperation {}
      for _ in 0..<20 { operation.addExecutionBlock { count.increment() } }
      queue.addOperation(operation)
      executor.runSteps()
      #expect(operation.isFinished && count.value == 20 && executor.waitingCount == 0)
    }
  }

  @Test("B1: the run of a graph leaves no request for threads behind") func graph() throws {
    let graph = try OperationGraph { graph in
      let first = graph.addNode {}
      for _ in 0..<20 { graph.addNode(after: [first]) {} }
    }
    for _ in 0..<10 {
      let operation = graph.makeOperation(maxConcurrentNodeCount: 4)
      queue.addOperation(operation)
      while !operation.isFinished { executor.step() }
      // The queue itself might have requested one more, before the operation had finished.
      executor.runSteps()
      #expect(executor.waitingCount == 0)
    }
  }

  @Test("Q16: on threads outside the pool, a withdrawn request leaves its blocks to later requests")
  func borrowedThreads() {
    let blocks = Mutex<[@Sendable () -> Void]>([])
    let borrowed = BlockExecutor { block in blocks.withLock { $0.append(block) } }
    let queue = OperationQueue()
    queue.executor = borrowed
    for _ in 0..<100 { queue.concurrentPerform(iterations: 64) { _ in } }
    #expect(blocks.withLock { $0.count } == 1)
    let operation = BlockOperation {}
    queue.addOperation(operation)
    #expect(blocks.withLock { $0.count } == 1)
    while let block = blocks.withLock({ $0.popLast() }) { block() }
    #expect(operation.isFinished)
  }
}
