import Dispatch
import HeadwayTestKit
import Synchronization
import Testing

@testable import Headway

/// Subclasses that start with `main()` and end when that returns run in batches, like blocks.
@Suite("Subclasses in batches", .hangLimit) struct SubclassBatchTests {
  private class Plain: Headway.Operation, @unchecked Sendable {
    let work: @Sendable () -> Void

    init(work: @escaping @Sendable () -> Void = {}) { self.work = work }

    override func main() { work() }
  }

  private final class Below: Plain, @unchecked Sendable {
    override func main() { super.main() }
    override func cancel() { super.cancel() }
    override var isReady: Bool { super.isReady }
  }

  private final class OwnBlocks: BlockOperation, @unchecked Sendable {}

  private final class OwnStart: Headway.Operation, @unchecked Sendable {
    override func start() { super.start() }
  }

  private final class OwnIsFinished: Headway.Operation, @unchecked Sendable {
    override var isFinished: Bool { super.isFinished }
  }

  @Test("P2: operations that start with main() and end with it go into batches") func whatFits() {
    let fitting = [Plain(), Below(), OwnBlocks {}, BlockOperation {}]
    #expect(fitting.allSatisfy { $0.fitsBatch })
    let others = [OwnStart(), OwnIsFinished()]
    #expect(!others.contains { $0.fitsBatch })
  }

  @Test("P2: a batch runs subclasses, named operations, and operations with completion blocks in insertion order")
  func order() {
    let (queue, executor, order) = (OperationQueue(), VisitExecutor(), EventRecorder<Int>())
    queue.executor = executor
    let places = EventRecorder<AdmissionRecord.Place>()
    var operations: [Headway.Operation] = []
    for number in 0..<12 {
      let work = { @Sendable in
        order.record(number)
        if number == 0 {
          for operation in queue.operations { places.record(queue.state.withLock { _ in operation.admission.place }) }
        }
      }
      let operation =
        switch number % 4 {
        case 0: Plain(work: work)
        case 1: Below(work: work)
        case 2: OwnBlocks(block: work)
        default: BlockOperation(block: work)
        }
      if number % 3 == 0 { operation.name = "number \(number)" }
      if number % 5 == 0 { operation.completionBlock = { order.record(100 + number) } }
      operations.append(operation)
      queue.addOperation(operation)
    }
    executor.runBatch(of: queue)
    #expect(order.events == Array(0..<12))
    #expect(places.events == Array(repeating: .taken, count: 12))
    #expect(operations.allSatisfy { $0.isFinished } && queue.operationCount == 0)
    executor.runSteps()
    #expect(order.events.suffix(3).sorted() == [100, 105, 110])
  }

  @Test("Q1, O8: reading a queue's operations does not free finished operations of a batch; the batch's thread does")
  func freeing() {
    final class Observed: Headway.Operation, @unchecked Sendable {
      let (work, freed): (@Sendable () -> Void, @Sendable () -> Void)

      init(work: @escaping @Sendable () -> Void, freed: @escaping @Sendable () -> Void) {
        (self.work, self.freed) = (work, freed)
      }

      override func main() { work() }

      deinit { freed() }
    }

    let (queue, executor, events) = (OperationQueue(), VisitExecutor(), EventRecorder<String>())
    queue.executor = executor
    for number in 0..<3 {
      let work = { @Sendable in
        events.record("\(number) runs, \(queue.operationCount) in the queue")
      }
      queue.addOperation(
        Observed(work: work) { [unowned queue] in
          events.record("\(number) is freed, \(queue.operationCount) in the queue")
        })
    }
    executor.runBatch(of: queue)
    #expect(
      events.events == [
        "0 runs, 3 in the queue", "0 is freed, 2 in the queue", "1 runs, 2 in the queue", "1 is freed, 1 in the queue",
        "2 runs, 1 in the queue", "2 is freed, 0 in the queue",
      ])
  }

  @Test("D1, O8: a chain of subclasses runs in one batch, and each operation is freed") func chain() {
    let census = Crowd()
    let (queue, order) = (OperationQueue(), EventRecorder<Int>())
    queue.maxConcurrentOperationCount = 2
    do {
      var last: Headway.Operation?
      for number in 0..<200 {
        let operation = CountedMain(census) { order.record(number) }
        if let last { operation.addDependency(last) }
        last = operation
        queue.addOperation(operation)
      }
    }
    queue.waitUntilAllOperationsAreFinished()
    #expect(order.events == Array(0..<200))
    #expect(census.eventuallyEmpty())
  }

  private final class CountedMain: CountedOperation, @unchecked Sendable {
    let work: @Sendable () -> Void

    init(_ census: Crowd, work: @escaping @Sendable () -> Void) {
      self.work = work
      super.init(census)
    }

    override func main() { work() }
  }

  @Test("W5: if a subclass blocks in its main(), other threads run the operations after it") func blocked() {
    let (queue, gate) = (OperationQueue(), Gate())
    let done = EventRecorder<Int>()
    queue.isSuspended = true
    queue.addOperation(Plain { gate.wait() })
    for number in 1...40 { queue.addOperation(Plain { done.record(number) }) }
    queue.isSuspended = false
    #expect(eventually { done.count == 40 })
    gate.open()
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test("O2, C4: observing, cancelling, or failing a subclass works the same in a batch as separately") func special() {
    struct Fault: Error {}
    final class Failing: Headway.Operation, @unchecked Sendable {
      override func main() throws { throw Fault() }
    }

    let (queue, executor, order) = (OperationQueue(), VisitExecutor(), EventRecorder<String>())
    queue.executor = executor
    let cancelled = Plain { order.record("never") }
    let first = Plain {
      order.record("first")
      cancelled.cancel()
    }
    let observed = Plain { order.record("observed") }
    let token = observed.observe(\.isFinished, options: .new) { _, change in
      order.record("finished: \(change.newValue == true)")
    }
    let failing = Failing()
    for operation in [first, observed, cancelled, failing] { queue.addOperation(operation) }
    executor.runBatch(of: queue)
    executor.runSteps()
    token.invalidate()
    #expect(order.events == ["first", "observed", "finished: true"])
    #expect(cancelled.isFinished && cancelled.isCancelled && failing.error is Fault)
    #expect(queue.operationCount == 0)
  }

  @Test("O8: the objects that an operation captured are released before the next one begins", arguments: [1, 2, -1])
  func permits(limit: Int) {
    final class Permitted: Headway.Operation, @unchecked Sendable {
      let permits: DispatchSemaphore

      init(_ permits: DispatchSemaphore) { self.permits = permits }

      override func main() { permits.wait() }

      deinit { permits.signal() }
    }

    let (queue, permits) = (OperationQueue(), DispatchSemaphore(value: 1))
    queue.maxConcurrentOperationCount = limit
    for _ in 0..<300 { queue.addOperation(Permitted(permits)) }
    queue.waitUntilAllOperationsAreFinished()
    permits.wait()
    permits.signal()
  }

  @Test(
    "O8: the objects that belong to an operation are released before the next one begins",
    arguments: ["dependency", "handler", "progress", "plain dependency's progress"])
  func permitsOfBlocks(kind: String) {
    final class Permit: Headway.Operation, @unchecked Sendable {
      let permits: DispatchSemaphore

      init(_ permits: DispatchSemaphore) { self.permits = permits }

      deinit { permits.signal() }
    }

    let (queue, permits) = (OperationQueue(), DispatchSemaphore(value: 1))
    queue.isSuspended = true
    for _ in 0..<100 {
      let permit = Permit(permits)
      let operation = BlockOperation { permits.wait() }
      switch kind {
      case "dependency":
        permit.start()
        operation.addDependency(permit)
      case "handler": operation.onCancel { _ = permit }
      case "progress": operation.progress.cancellationHandler = { _ = permit }
      default:
        let dependency = BlockOperation {}
        dependency.progress.cancellationHandler = { _ = permit }
        dependency.start()
        operation.addDependency(dependency)
      }
      queue.addOperation(operation)
    }
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    permits.wait()
    permits.signal()
  }

  @Test("O2: an operation that holds itself back after a batch has taken it is evaluated again, like any other")
  func heldBackInBatch() {
    final class Held: Headway.Operation, @unchecked Sendable {
      let isHeld = Atomic(false)

      override var isReady: Bool { super.isReady && !isHeld.load(ordering: .acquiring) }
    }

    let (queue, executor, order) = (OperationQueue(), VisitExecutor(), EventRecorder<String>())
    queue.executor = executor
    let held = Held()
    queue.addOperation(
      Plain {
        order.record("first")
        held.isHeld.store(true, ordering: .releasing)
        held.didChangeValue(for: \.isReady)
      })
    queue.addOperation(held)
    executor.runBatch(of: queue)
    executor.runSteps()
    #expect(!held.isFinished && queue.operationCount == 1)
    held.isHeld.store(false, ordering: .releasing)
    // Nothing is posted: adding another operation evaluates it.
    queue.addOperation(Plain { order.record("other") })
    executor.runSteps()
    #expect(held.isFinished && queue.operationCount == 0 && order.events == ["first", "other"])
  }
}
