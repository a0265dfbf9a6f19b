import Dispatch
import HeadwayTestKit
import Synchronization
import Testing

@testable import Headway

/// User code that a batch's thread runs between two operations: it can take long, and wait for anything.
@Suite("User code between operations of a batch", .hangLimit) struct BatchUsersCodeTests {
  /// Adds an operation with many operations before and after it, so that it is in the middle of a batch.
  private func add(_ operation: Headway.Operation, amongOthersTo queue: OperationQueue) {
    queue.isSuspended = true
    let others = (0..<300).map { _ in BlockOperation {} }
    queue.addOperations(Array(others[..<150]) + [operation] + Array(others[150...]), waitUntilFinished: false)
    queue.isSuspended = false
  }

  private final class Freed: Headway.Operation, @unchecked Sendable {
    let freed: @Sendable () -> Void

    init(freed: @escaping @Sendable () -> Void) { self.freed = freed }

    deinit { freed() }
  }

  @Test(
    "Q3: user code holds no slot of a limit that is set in the meantime", arguments: ["completion block", "observer"])
  func limit(kind: String) {
    for _ in 0..<10 {
      let (queue, begun, go, done) = (OperationQueue(), Gate(), Gate(), Gate())
      let block: @Sendable () -> Void = {
        begun.open()
        go.wait()
        done.open()
      }
      let operation = BlockOperation {}
      let token = operation.observe(\.isFinished) { _, _ in if kind == "observer" { block() } }
      if kind == "completion block" { operation.completionBlock = block }
      if kind == "completion block" { token.invalidate() }
      add(operation, amongOthersTo: queue)
      begun.wait()
      queue.maxConcurrentOperationCount = 1
      queue.addOperation { go.open() }
      done.wait()
      queue.waitUntilAllOperationsAreFinished()
      token.invalidate()
    }
  }

  @Test("Q14: a stall is found while user code runs") func stall() {
    let (queue, begun, go) = (OperationQueue(), Gate(), Gate())
    let operation = BlockOperation {}
    operation.completionBlock = {
      begun.open()
      go.wait()
    }
    add(operation, amongOthersTo: queue)
    begun.wait()
    let token = queue.listen { event in if case .stalled = event { go.open() } }
    let (one, other) = (BlockOperation {}, BlockOperation {})
    one.addDependency(other)
    other.addDependency(one)
    queue.addOperations([one, other], waitUntilFinished: false)
    go.wait()
    one.cancel()
    queue.waitUntilAllOperationsAreFinished()
    token.invalidate()
  }

  @Test(
    "O8, K2: a completion block can wait for all other effects of the end of its operation",
    arguments: ["observer of a dependent", "dependent", "handler", "observer of the queue"], [false, true])
  func restOfEnd(kind: String, isAlone: Bool) {
    let (queue, other, told, done) = (OperationQueue(), OperationQueue(), Gate(), Gate())
    other.isSuspended = true
    let begun = Gate()
    var operation: BlockOperation? = BlockOperation {
      if kind == "observer of the queue" {
        begun.open()
        told.wait()
      }
    }
    operation?.completionBlock = {
      told.wait()
      done.open()
    }
    var tokens: [KeyValueObservation] = []
    switch kind {
    case "observer of a dependent":
      let dependent = BlockOperation {}
      dependent.addDependency(operation!)
      tokens.append(dependent.observe(\.isReady) { dependent, _ in if dependent.isReady { told.open() } })
      other.addOperation(dependent)
    case "dependent":
      // It finishes and leaves its queue before its observers are notified.
      let dependent = Freed { told.open() }
      dependent.addDependency(operation!)
      other.isSuspended = false
      other.addOperation(dependent)
    case "handler":
      let freed = Freed { told.open() }
      operation?.onCancel { _ = freed }
    default:
      break
    }
    if isAlone { queue.addOperation(operation!) } else { add(operation!, amongOthersTo: queue) }
    if kind == "observer of the queue" {
      begun.wait()
      // This thread can also notify while it adds the observer.
      tokens.append(queue.observe(\.operationCount) { _, _ in if told.isOpen { done.wait() } })
      told.open()
    }
    operation = nil
    done.wait()
    for token in tokens { token.invalidate() }
    other.isSuspended = false
    other.waitUntilAllOperationsAreFinished()
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test("K2: the list of operations and their count shrink by one at a time")
  func shrinking() {
    for _ in 0..<20 {
      let (queue, go, begun) = (OperationQueue(), Gate(), EventRecorder<Int>())
      for number in 0..<24 {
        queue.addOperation {
          begun.record(number)
          go.wait()
        }
      }
      #expect(eventually { begun.count == 24 })
      let (sizes, counts) = (EventRecorder<Int>(), EventRecorder<Int>())
      let tokens = [
        queue.observe(\.operations, options: [.new, .initial]) { _, change in
          sizes.record(change.newValue?.count ?? -1)
        },
        queue.observe(\.operationCount, options: [.new, .initial]) { _, change in counts.record(change.newValue ?? -1)
        },
      ]
      go.open()
      queue.waitUntilAllOperationsAreFinished()
      #expect(eventually { sizes.events.last == 0 && counts.events.last == 0 })
      #expect(sizes.events == Array((0...24).reversed()) && counts.events == Array((0...24).reversed()))
      for token in tokens { token.invalidate() }
    }
  }

  @Test("Q14: an operation that runs when the first listener is added is reported before its dependents start")
  func listening() {
    for _ in 0..<20 {
      let (queue, begun, go) = (OperationQueue(), Gate(), Gate())
      let first = BlockOperation {
        begun.open()
        go.wait()
      }
      let dependents = (0..<200).map { _ in BlockOperation {} }
      for dependent in dependents { dependent.addDependency(first) }
      queue.addOperation(first)
      begun.wait()
      let events = EventRecorder<String>()
      let token = queue.listen { event in
        switch event {
        case .finished(let operation): events.record(operation === first ? "first" : "finished")
        case .started: events.record("started")
        default: break
        }
      }
      queue.addOperations(dependents, waitUntilFinished: false)
      go.open()
      queue.waitUntilAllOperationsAreFinished()
      #expect(eventually { events.count == 401 })
      #expect(events.events.first == "first")
      token.invalidate()
    }
  }

  @Test("K2, W2: an observer of the queue can wait for an operation whose end is also observed") func bothObserved() {
    for _ in 0..<20 {
      let (queue, begun, go, told) = (OperationQueue(), Gate(), Gate(), Gate())
      let operation = BlockOperation {
        begun.open()
        go.wait()
      }
      let ofEnd = operation.observe(\.isFinished) { _, _ in told.open() }
      queue.addOperation(operation)
      begun.wait()
      let ofCount = queue.observe(\.operationCount) { _, _ in operation.waitUntilFinished() }
      go.open()
      told.wait()
      operation.waitUntilFinished()
      queue.waitUntilAllOperationsAreFinished()
      for token in [ofEnd, ofCount] { token.invalidate() }
    }
  }

  @Test("K2, W2: an object that a cancellation handler captured can wait in its deinit for an observed operation")
  func handlerWaits() {
    let (queue, told) = (OperationQueue(), Gate())
    let operation = BlockOperation {}
    let token = operation.observe(\.isFinished) { _, _ in told.open() }
    do {
      let freed = Freed { [weak operation] in operation?.waitUntilFinished() }
      operation.onCancel { _ = freed }
    }
    queue.addOperation(operation)
    told.wait()
    queue.waitUntilAllOperationsAreFinished()
    token.invalidate()
  }

  @Test("Q14: a new listener receives no event for an operation that ended earlier") func endsBefore() {
    let queue = OperationQueue()
    for _ in 0..<100 {
      let begun = Gate()
      let first = BlockOperation { begun.open() }
      queue.addOperation(first)
      begun.wait()
      while !first.isFinished || queue.operationCount > 0 {}
      let events = EventRecorder<Bool>()
      let token = queue.listen { event in
        if case .finished(let operation) = event { events.record(operation === first) }
      }
      queue.addOperations([BlockOperation {}], waitUntilFinished: true)
      #expect(eventually { events.count > 0 })
      #expect(!events.events.contains(true))
      token.invalidate()
    }
  }

  @Test("Q14: a barrier waits for the operations of a batch, even after a cancelled barrier") func obstacles() {
    let (queue, executor) = (OperationQueue(), VisitExecutor())
    queue.executor = executor
    let first = BlockOperation {}
    queue.addOperation(first)
    let batch = Batch()
    queue.update(collectingBatches: true) { state in
      batch.reset(for: queue, state.executor, state.admission.placement, .normal)
      let isFilled = state.admission.fill(batch, atMost: 1, indivisible: 1, at: 0) { _ in true }
      #expect(isFilled)
    }
    // Acts as its thread does if it can't start the operation.
    let last = BlockOperation {}
    first.addDependency(last)
    let isClaimed = queue.update(collectingBatches: true) { $0.admission.claimTaken(first, of: batch) }
    #expect(!isClaimed)
    queue.addBarrierBlock {}
    queue.addBarrierBlock {}
    let barriers = queue.operations.dropFirst()
    last.addDependency(barriers.last!)
    barriers.first?.cancel()
    #expect(WaitGraph(of: [first]).isStuck(first))
    first.removeDependency(last)
    executor.runSteps()
    #expect(queue.operationCount == 0 && queue.operations.isEmpty)
  }
}
