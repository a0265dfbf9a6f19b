import HeadwayTestKit
import HeadwayTestSupport
import Testing

@testable import Headway

@Suite("Keys in batches", .hangLimit) struct KeyBatchTests {
  private let queue = OperationQueue()
  private let executor = VisitExecutor()
  private let order = EventRecorder<String>()

  init() { queue.executor = executor }

  /// Adds an operation whose key is the first letter of its name.
  private func add(_ name: String) -> BlockOperation {
    let operation = BlockOperation { [order] in order.record(name) }
    operation.policy = OperationPolicy(key: String(name.prefix(1)))
    queue.addOperation(operation)
    return operation
  }

  private func places(of operations: [Headway.Operation]) -> [AdmissionRecord.Place] {
    queue.state.withLock { _ in operations.map(\.admission.place) }
  }

  private var laneCount: Int? { queue.state.withLock { $0.admission.policies?.lanes?.lanes.count } }

  @Test("X6: a thread takes the turns of several keys together, and one turn of each key") func turns() {
    let operations = ["a1", "a2", "b1", "c1"].map(add)
    let thread = SteppedBatch(of: queue, atMost: 4)
    #expect(places(of: operations) == [.taken, .ready, .taken, .taken])
    thread.begin(operations[0])
    thread.end(operations[0])
    // The operations that have not started keep their turns.
    thread.close()
    #expect(places(of: Array(operations[1...])) == [.ready, .ready, .ready])
    executor.runSteps()
    #expect(order.events == ["b1", "c1", "a2"])
    #expect(laneCount == 0)
  }

  @Test("X6: in a batch, a key starts as many operations as its weight") func weight() {
    queue.setKeyPolicy(KeyPolicy(weight: 2), forKey: "a")
    let operations = ["a1", "a2", "a3", "b1"].map(add)
    let thread = SteppedBatch(of: queue, atMost: 4)
    #expect(places(of: operations) == [.taken, .taken, .ready, .taken])
    thread.begin(operations[0])
    // A thread that reclaims the rest returns the turn of the key, which allows one more start.
    queue.update { $0.admission.reclaimBatches() }
    thread.end(operations[0])
    thread.close()
    executor.runSteps()
    #expect(order.events == ["a2", "b1", "a3"])
    #expect(laneCount == 0)
  }

  @Test("X6: if a queue has a limit, a thread takes one turn at a time") func limit() {
    queue.maxConcurrentOperationCount = 1
    let operations = ["a1", "b1"].map(add)
    let isFilled = queue.update { state in
      let batch = Batch()
      batch.reset(for: queue, state.executor, state.admission.placement, .normal)
      return state.admission.fill(batch, atMost: 2, indivisible: 2, at: 0) { $0.fitsBatch }
    }
    #expect(!isFilled)
    #expect(places(of: operations) == [.ready, .ready])
    executor.runSteps()
    #expect(order.events == ["a1", "b1"])
  }

  @Test("X7: a limit that is set later counts the operations that threads have begun in batches") func lateLimit() {
    queue.setKeyPolicy(KeyPolicy(weight: 3), forKey: "a")
    let operations = ["a1", "a2", "a3"].map(add)
    let thread = SteppedBatch(of: queue, atMost: 3)
    thread.begin(operations[0])
    queue.setKeyPolicy(KeyPolicy(maxConcurrentOperationCount: 1), forKey: "a")
    #expect(places(of: operations) == [.taken, .ready, .ready])
    executor.runSteps()
    #expect(order.count == 0)
    #expect(operations[1].diagnosis.contains("runs 1 of at most 1"))
    thread.end(operations[0])
    thread.close()
    executor.runSteps()
    #expect(order.events == ["a2", "a3"])
    #expect(laneCount == 0)
  }

  @Test("X6, X7: a cancelled operation that a thread has taken leaves its key") func cancelled() {
    let operations = ["a1", "b1", "c1"].map(add)
    let thread = SteppedBatch(of: queue, atMost: 3)
    operations[1].cancel()
    #expect(places(of: operations) == [.taken, .cancelled, .ready])
    thread.begin(operations[0])
    thread.end(operations[0])
    thread.close()
    executor.runSteps()
    #expect(order.events == ["c1"])
    #expect(laneCount == 0)
    #expect(queue.operationCount == 0)
  }
}
