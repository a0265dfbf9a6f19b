import Dispatch
import HeadwayTestKit
import Synchronization
import Testing

@testable import Headway

/// The records of an operation, and the contents of its queue, when another operation becomes ready by its end.
@Suite("Causal order", .hangLimit) struct CausalOrderTests {
  /// How an operation ends.
  enum Kind: String, CaseIterable {
    case block, failing, later, inMain, cancelled, observed, completing, task
  }

  private final class Later: AsynchronousOperation, @unchecked Sendable {
    override func main() { DispatchQueue.global().async { self.finish() } }
  }

  private final class InMain: AsynchronousOperation, @unchecked Sendable {
    override func main() { finish() }
  }

  private func make(_ kind: Kind) -> (operation: Headway.Operation, token: KeyValueObservation?) {
    switch kind {
    case .block: return (BlockOperation {}, nil)
    case .failing: return (BlockOperation { throw Mishap() }, nil)
    case .later: return (Later(), nil)
    case .inMain: return (InMain(), nil)
    case .cancelled:
      let operation = BlockOperation {}
      operation.addExecutionBlock { [unowned operation] in operation.cancel() }
      return (operation, nil)
    case .observed:
      let operation = BlockOperation {}
      return (operation, operation.observe(\.isFinished) { _, _ in })
    case .completing:
      let operation = BlockOperation {}
      operation.completionBlock = {}
      return (operation, nil)
    case .task: return (TaskOperation { await Task.yield() }, nil)
    }
  }

  @Test(
    "Q14: an operation is recorded as finished before its dependents are recorded as ready",
    arguments: Kind.allCases, [1, -1])
  func events(kind: Kind, limit: Int) async {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = limit
    var iterator = queue.events.makeAsyncIterator()
    for _ in 0..<20 {
      let (first, token) = make(kind)
      let second = BlockOperation {}
      second.addDependency(first)
      queue.addOperations([second, first], waitUntilFinished: false)
      var events: [OperationQueueEvent] = []
      while events.last != .finished(second), let event = await iterator.next() { events.append(event) }
      let ends: [OperationQueueEvent] = [
        .ready(first), .started(first), .finished(first), .ready(second), .started(second), .finished(second),
      ]
      #expect(events == [.added(second), .added(first)] + ends)
      withExtendedLifetime(token) {}
    }
  }

  @Test("Q14: this order holds even if the first listener is added while a batch runs", arguments: [1, 5, 30])
  func lateListener(
    position: Int
  ) async {
    let queue = OperationQueue()
    queue.isSuspended = true
    let (begun, go) = (Gate(), Gate())
    let operations = (0..<300).map { _ in BlockOperation {} }
    let gate = BlockOperation {
      begun.open()
      go.wait()
    }
    let dependent = BlockOperation {}
    dependent.addDependency(gate)
    queue.addOperations(
      operations[..<position] + [gate] + operations[position...] + [dependent], waitUntilFinished: false)
    queue.isSuspended = false
    await begun.untilOpen()
    var iterator = queue.events.makeAsyncIterator()
    go.open()
    var events: [OperationQueueEvent] = []
    while events.last != .finished(dependent), let event = await iterator.next() { events.append(event) }
    let indices = [.finished(gate), .ready(dependent), .started(dependent), .finished(dependent)].map {
      (event: OperationQueueEvent) in events.firstIndex(of: event)
    }
    #expect(!indices.contains(nil))
    #expect(indices.compactMap { $0 } == indices.compactMap { $0 }.sorted())
  }

  @Test(
    "Q5, Q14: when a dependent in another queue starts, the operation has left its queue and is recorded",
    arguments: Kind.allCases, [false, true])
  func otherQueue(kind: Kind, isListenedTo: Bool) async {
    let (queue, other) = (OperationQueue(), OperationQueue())
    let iterator = isListenedTo ? queue.events.makeAsyncIterator() : nil
    let stale = EventRecorder<String>()
    for round in 0..<200 {
      let (operation, token) = make(kind)
      let dependent = BlockOperation {
        if queue.operations.contains(operation) { stale.record("listed in round \(round)") }
        if queue.operationCount > 0 { stale.record("counted in round \(round)") }
      }
      dependent.addDependency(operation)
      other.addOperation(dependent)
      queue.addOperation(operation)
      // It is ready from the moment when that is visible, and not from the moment when its queue is updated.
      while !dependent.isReady { await Task.yield() }
      if queue.operations.contains(operation) { stale.record("listed when ready in round \(round)") }
      if let iterator {
        let events = await iterator.buffer.take(isolation: nil)
        if !events.contains(.finished(operation)) { stale.record("unrecorded in round \(round)") }
      }
      dependent.waitUntilFinishedInTest()
      withExtendedLifetime(token) {}
    }
    #expect(stale.events == [])
  }

  @Test(
    "Q5, Q6: when a wait for the queue returns, the dependents of its operations are ready", arguments: Kind.allCases,
    [1, -1])
  func released(kind: Kind, limit: Int) {
    let (queue, other) = (OperationQueue(limit: limit), OperationQueue())
    other.isSuspended = true
    let unready = EventRecorder<Int>()
    for round in 0..<200 {
      let (operation, token) = make(kind)
      let dependent = BlockOperation {}
      dependent.addDependency(operation)
      other.addOperation(dependent)
      queue.addOperation(operation)
      queue.waitUntilAllOperationsAreFinished()
      if !dependent.isReady { unready.record(round) }
      withExtendedLifetime(token) {}
    }
    other.cancelAllOperations()
    #expect(unready.events == [])
  }

  @Test("P2, Q3: with a limit of 1, an operation that becomes ready starts by its priority") func turn() {
    for _ in 0..<200 {
      let queue = OperationQueue(limit: 1)
      queue.isSuspended = true
      let order = EventRecorder<Int>()
      let first = Later()
      first.queuePriority = .veryHigh
      let low = BlockOperation { order.record(2) }
      low.queuePriority = .low
      let urgent = BlockOperation { order.record(1) }
      urgent.queuePriority = .veryHigh
      urgent.addDependency(first)
      queue.addOperations([low, urgent, first], waitUntilFinished: false)
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
      #expect(order.events == [1, 2])
    }
  }
}

extension Headway.Operation {
  /// For asynchronous tests, whose thread can block briefly.
  fileprivate func waitUntilFinishedInTest() { waitUntilFinished() }
}
