import HeadwayTestKit
import Synchronization
import Testing

@testable import Headway

@Suite("Order", .hangLimit) struct OrderTests {
  /// Reads and writes a value without a lock, as operations that run one at a time can do.
  private final class Unprotected: @unchecked Sendable {
    var numbers: [Int] = []
  }

  private final class OwnMain: Headway.Operation, @unchecked Sendable {
    private let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    override func main() { body() }
  }

  /// An operation, of various kinds, that appends a number.
  private func operation(_ number: Int, to record: Unprotected) -> Headway.Operation {
    let body = { @Sendable in record.numbers.append(number) }
    switch number % 4 {
    case 0: return BlockOperation(block: body)
    case 1: return OwnMain(body)
    case 2:
      return TaskOperation {
        await Task.yield()
        body()
        await Task.yield()
      }
    default:
      let operation = BlockOperation(block: body)
      operation.completionBlock = {}
      return operation
    }
  }

  @Test("Q12: operations run one at a time, in insertion order, regardless of kind, priority, and quality")
  func strict() {
    let queue = OperationQueue(name: "fifo", order: .fifo)
    let record = Unprotected()
    var generator = SeededGenerator(seed: 12)
    for number in 0..<2_000 {
      let operation = operation(number, to: record)
      operation.queuePriority = QueuePriority.allCases.randomElement(using: &generator) ?? .normal
      operation.qualityOfService =
        [.default, .default, .background, .userInteractive].randomElement(using: &generator) ?? .default
      queue.addOperation(operation)
      if number % 7 == 0 { queue.isSuspended = true }
      if number % 7 == 3 { queue.isSuspended = false }
    }
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    #expect(record.numbers == Array(0..<2_000))
  }

  @Test("Q12: no operation overtakes an earlier operation that is not ready, unless the earlier one is cancelled")
  func notReady() {
    let queue = OperationQueue(order: .fifo)
    let executor = StepExecutor()
    executor.control(queue)
    let record = EventRecorder<Int>()
    let elsewhere = BlockOperation()
    let operations = (0..<6).map { number in BlockOperation { record.record(number) } }
    operations[1].addDependency(elsewhere)
    operations[3].addDependency(elsewhere)
    operations[5].queuePriority = .veryHigh
    queue.addOperations(operations, waitUntilFinished: false)
    executor.runSteps()
    #expect(record.events == [0])
    #expect(queue.operations == Array(operations[1...]))
    operations[1].cancel()
    executor.runSteps()
    #expect(record.events == [0, 2])
    elsewhere.start()
    executor.runSteps()
    #expect(record.events == [0, 2, 3, 4, 5])
    #expect(queue.operationCount == 0)
  }

  @Test("Q12: an operation of a batch that gets or loses a dependency keeps its position")
  func batch() {
    let queue = OperationQueue(order: .fifo)
    let executor = StepExecutor()
    executor.control(queue)
    let record = EventRecorder<Int>()
    let elsewhere = BlockOperation()
    let late = BlockOperation { record.record(2) }
    queue.isSuspended = true
    queue.addOperation { record.record(0) }
    // The thread has taken the operations behind it by then.
    queue.addOperation {
      record.record(1)
      late.addDependency(elsewhere)
    }
    queue.addOperation(late)
    for number in 3..<9 { queue.addOperation { record.record(number) } }
    queue.isSuspended = false
    executor.runSteps()
    #expect(record.events == [0, 1])
    late.removeDependency(elsewhere)
    executor.runSteps()
    #expect(record.events == Array(0..<9))
  }

  @Test("Q12: an operation that holds itself back holds up later ones; barriers wait for their turn") func heldBack() {
    final class Reluctant: Headway.Operation, @unchecked Sendable {
      let isWilling = Atomic<Bool>(false)
      let record: EventRecorder<Int>

      init(_ record: EventRecorder<Int>) { self.record = record }

      override var isReady: Bool { super.isReady && isWilling.load(ordering: .relaxed) }

      override func main() { record.record(0) }
    }
    let queue = OperationQueue(order: .fifo)
    let executor = StepExecutor()
    executor.control(queue)
    let record = EventRecorder<Int>()
    let reluctant = Reluctant(record)
    queue.addOperation(reluctant)
    queue.addBarrierBlock { record.record(1) }
    queue.addOperation { record.record(2) }
    executor.runSteps()
    #expect(record.events.isEmpty)
    reluctant.isWilling.store(true, ordering: .relaxed)
    reluctant.didChangeValue(forKey: "isReady")
    executor.runSteps()
    #expect(record.events == [0, 1, 2])
  }

  @Test("Q12: the limit is always 1, and the order of a queue can be read") func limit() {
    let queue = OperationQueue(order: .fifo)
    #expect(queue.maxConcurrentOperationCount == 1 && queue.order == .fifo)
    queue.maxConcurrentOperationCount = 4
    #expect(queue.maxConcurrentOperationCount == 1)
    let other = OperationQueue(name: "other", maxConcurrentOperationCount: 4, qualityOfService: .utility)
    #expect(other.order == .priority && other.maxConcurrentOperationCount == 4)
    #expect(other.name == "other" && other.qualityOfService == .utility)
    let (two, urgent) = (OperationQueue(maxConcurrentOperationCount: 2), OperationQueue(qualityOfService: .utility))
    #expect(two.maxConcurrentOperationCount == 2 && two.qualityOfService == .default)
    #expect(urgent.maxConcurrentOperationCount == -1 && urgent.qualityOfService == .utility)
    final class Jobs: OperationQueue, @unchecked Sendable { var order = 0 }
    let jobs = Jobs(order: .fifo)
    #expect(jobs.order == 0 && jobs.maxConcurrentOperationCount == 1)
    #expect(OperationQueue().order == .priority && OperationQueue.main.order == .priority)
  }

  @Test("Q12, D6, Q14: the diagnosis names the previous operation, and a cycle through insertion order is found")
  func diagnosis() {
    let queue = OperationQueue(name: "line", order: .fifo)
    let (first, second, third) = (
      BlockOperation(name: "first"), BlockOperation(name: "second"), BlockOperation(name: "third")
    )
    first.addDependency(third)
    let hold = BlockOperation()
    first.addDependency(hold)
    queue.addOperations([first, second, third], waitUntilFinished: false)
    #expect(
      second.diagnosis
        == "“second” never runs, since it waits for a cycle: "
        + "“first”, which waits for “third”, which waits for “second”, which waits for “first”"
        || second.firstDependencyCycle()?.count == 3)
    // Through a cancelled operation that has its own code to run, which waits for none of them.
    final class OwnStart: Headway.Operation, @unchecked Sendable { override func start() { super.start() } }
    let (cancelled, fourth) = (OwnStart(), BlockOperation(name: "fourth"))
    queue.isSuspended = true
    queue.addOperations([cancelled, fourth], waitUntilFinished: false)
    cancelled.cancel()
    #expect(fourth.firstDependencyCycle()?.count == 3)
    queue.isSuspended = false
    first.removeDependency(third)
    #expect(second.firstDependencyCycle() == nil)
    #expect(third.diagnosis == "“third” waits behind “second” in queue “line”")
    hold.start()
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test("Q12, C5: after all operations are cancelled, operations that are added later run") func cancelling() {
    let queue = OperationQueue(order: .fifo)
    let record = Unprotected()
    let end = queue.occupy()
    for number in 0..<1_000 { queue.addOperation(operation(number, to: record)) }
    queue.cancelAllOperations()
    queue.addOperation { record.numbers.append(-1) }
    end.open()
    queue.waitUntilAllOperationsAreFinished()
    #expect(record.numbers == [-1])
  }

  @Test("Q12: if many threads add, cancel, and link operations, each thread's operations run in its order")
  func storm() {
    let seed = environmentNumber("HEADWAY_STRESS_SEED") ?? 1
    print("Order: HEADWAY_STRESS_SEED=\(seed)")
    let queue = OperationQueue(order: .fifo)
    let record = Unprotected()
    onThreads(4) { producer in
      var generator = SeededGenerator(seed: UInt64(seed * 4 + producer))
      var earlier: [Headway.Operation] = []
      for number in 0..<500 {
        let kind = Int.random(in: 0...3, using: &generator)
        let operation = operation((((number << 2) | producer) << 2) | kind, to: record)
        // An operation that was added before, so there is no cycle.
        if let last = earlier.randomElement(using: &generator), Bool.random(using: &generator) {
          operation.addDependency(last)
        }
        queue.addOperation(operation)
        switch Int.random(in: 0...5, using: &generator) {
        case 0: earlier.randomElement(using: &generator)?.cancel()
        case 1: earlier.last?.queuePriority = .veryHigh
        case 2: earlier.last?.qualityOfService = .background
        default: break
        }
        earlier.append(operation)
      }
    }
    queue.waitUntilAllOperationsAreFinished()
    for producer in 0..<4 {
      let numbers = record.numbers.map { $0 >> 2 }.filter { $0 & 3 == producer }
      #expect(numbers == numbers.sorted(), "HEADWAY_STRESS_SEED=\(seed)")
    }
  }
}
