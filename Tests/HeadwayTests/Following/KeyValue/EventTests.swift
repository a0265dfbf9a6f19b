import HeadwayTestKit
import HeadwayTestSupport
import Synchronization
import Testing

@testable import Headway

@Suite("Events of a queue", .hangLimit) struct EventTests {
  /// Consumes the given number of ends and returns all events until then.
  private static func events(
    until count: Int, _ events: inout OperationQueueEvents.Iterator
  ) async -> [OperationQueueEvent] {
    var (taken, ends): ([OperationQueueEvent], Int) = ([], 0)
    while ends < count, let event = await events.next() {
      taken.append(event)
      if case .finished = event { ends += 1 }
    }
    return taken
  }

  private static func checkOrder(_ events: [OperationQueueEvent], of operations: [Operation]) {
    var steps: [Operation: [String]] = [:]
    for event in events {
      switch event {
      case .added(let operation): steps[operation, default: []].append("added")
      case .ready(let operation): steps[operation, default: []].append("ready")
      case .started(let operation): steps[operation, default: []].append("started")
      case .finished(let operation): steps[operation, default: []].append("finished")
      default: Issue.record("\(event)")
      }
    }
    #expect(steps.count == operations.count)
    for operation in operations { #expect(steps[operation] == ["added", "ready", "started", "finished"]) }
  }

  @Test("Q14: each listener receives added, ready, started, and finished for each operation, in this order")
  func order() async {
    let queue = OperationQueue()
    var (first, second) = (queue.events.makeAsyncIterator(), queue.events.makeAsyncIterator())
    let operations = (0..<2_000).map { _ in BlockOperation {} }
    for position in operations.indices where position % 10 != 0 {
      operations[position].addDependency(operations[position - 1])
    }
    async let adding: Void = {
      for operation in operations { queue.addOperation(operation) }
    }()
    // One listens all the time, and the other consumes all events at the end.
    let heard = await Self.events(until: 2_000, &first)
    await adding
    Self.checkOrder(heard, of: operations)
    #expect(await Self.events(until: 2_000, &second) == heard)
    var position: [Operation: Int] = [:]
    for (number, event) in heard.enumerated() {
      if case .started(let operation) = event { position[operation] = number }
    }
    for operation in operations {
      for dependency in operation.dependencies { #expect(position[dependency]! < position[operation]!) }
    }
  }

  @Test("Q14: a listener that is added while operations run receives the events from then on") func late() async {
    let queue = OperationQueue()
    for _ in 0..<50 {
      let operations = (0..<100).map { _ in BlockOperation {} }
      queue.addOperations(operations, waitUntilFinished: false)
      var events = queue.events.makeAsyncIterator()
      let last = BlockOperation {}
      operations.forEach { last.addDependency($0) }
      queue.addOperation(last)
      var ends: Set<Operation> = []
      while !ends.contains(last), let event = await events.next() {
        if case .finished(let operation) = event { #expect(ends.insert(operation).inserted) }
      }
      #expect(ends.contains(last))
    }
  }

  @Test("Q14: an iteration ends when its task is cancelled, and then no events are kept for it")
  func cancelling() async {
    let queue = OperationQueue()
    let begun = Gate()
    let listening = Task { [queue] in
      var count = 0
      for await _ in queue.events {
        count += 1
        if count == 4 { begun.open() }
      }
      return count
    }
    while queue.listenedLog == nil { await Task.yield() }
    queue.addOperation {}
    await begun.untilOpen()
    listening.cancel()
    #expect(await listening.value == 4)
    #expect(queue.listenedLog == nil && queue.state.withLock { $0.followers.observation.listeners == 0 })
    queue.addOperations([BlockOperation {}], waitUntilFinished: true)
  }

  @Test("Q14: an iteration in a cancelled task returns the available events, and ends")
  func cancelledBefore() async throws {
    let queue = OperationQueue()
    let operation = BlockOperation {}
    let heard = try await Task { [queue] in
      var events = queue.events.makeAsyncIterator()
      queue.addOperation(operation)
      try await queue.untilAllOperationsAreFinished()
      withUnsafeCurrentTask { $0?.cancel() }
      var heard: [OperationQueueEvent] = []
      while let event = await events.next() { heard.append(event) }
      return heard
    }.value
    #expect(heard == [.added(operation), .ready(operation), .started(operation), .finished(operation)])
  }

  @Test("Q14: an iteration ends when the queue is freed, after all earlier events") func freed() async {
    var queue: OperationQueue? = OperationQueue()
    var events = queue!.events.makeAsyncIterator()
    let operation = BlockOperation {}
    queue!.addOperation(operation)
    queue = nil
    var heard: [OperationQueueEvent] = []
    while let event = await events.next() { heard.append(event) }
    #expect(heard == [.added(operation), .ready(operation), .started(operation), .finished(operation)])
    #expect(await events.next() == nil)
  }

  @Test("Q14: events that are not consumed are released with their iterator") func released() async throws {
    let queue = OperationQueue()
    weak var held: Operation?
    do {
      let events = queue.events.makeAsyncIterator()
      let operation = BlockOperation {}
      held = operation
      queue.addOperation(operation)
      try await queue.untilAllOperationsAreFinished()
      withExtendedLifetime(events) {}
    }
    while held != nil { await Task.yield() }
  }

  @Test("Q14: a queue with a listener uses batches and the inbox, and the listener receives all events in order")
  func batches() async {
    let queue = OperationQueue(maxConcurrentOperationCount: 1)
    var events = queue.events.makeAsyncIterator()
    let (first, gate) = (BlockOperation(name: "first"), Gate())
    let begun = Gate()
    first.addExecutionBlock {
      begun.open()
      gate.wait()
    }
    queue.addOperation(first)
    await begun.untilOpen()
    #expect(queue.state.withLock { $0.allowsBatches })
    let operations = (0..<500).map { BlockOperation(name: "\($0)") }
    for position in operations.indices where position % 3 == 2 {
      operations[position].addDependency(operations[position - 1])
    }
    for operation in operations { queue.addOperation(operation) }
    gate.open()
    Self.checkOrder(await Self.events(until: 501, &events), of: [first] + operations)
  }

  /// Ends on another thread, while its `main()` may still run.
  private final class FinishingElsewhere: AsynchronousOperation, @unchecked Sendable {
    override func main() { WorkerPool.shared.submit(PoolBlock { self.finish() }, count: 1) }
  }

  /// Delays the steps that follow the end of an operation until the next one is being added.
  private final class Delay: OperationQueueInstrument {
    private let gate = Mutex(Gate())

    func willAdd(_ operation: Operation, to queue: OperationQueue) {
      if operation.name == "second" { gate.withLock { $0 }.open() } else { gate.withLock { $0 = Gate() } }
    }

    func didFinish(_ operation: Operation, in queue: OperationQueue) {
      if operation.name == "first" { gate.withLock { $0 }.wait() }
    }
  }

  @Test(
    "Q14: a finished event precedes the events of operations that are added after the operation was found finished",
    arguments: [false, true])
  func orderAfterPolling(hasInstrument: Bool) async {
    let queue = OperationQueue(maxConcurrentOperationCount: 2)
    queue.failureHandler = { _, _ in }
    if hasInstrument { queue.addInstrument(Delay()) }
    let count = hasInstrument ? 20 : 200
    var events = queue.events.makeAsyncIterator()
    var pairs: [(Operation, Operation)] = []
    for number in 0..<count {
      let first: Operation =
        switch number % 4 {
        case 0: BlockOperation {}
        case 1: BlockOperation { throw Mishap() }
        case 2: TaskOperation { await Task.yield() }
        default: FinishingElsewhere()
        }
      first.name = "first"
      let second = BlockOperation(name: "second")
      queue.addOperation(first)
      await until { first.isFinished }
      second.addDependency(first)
      queue.addOperation(second)
      pairs.append((first, second))
    }
    var positions: [OperationQueueEvent: Int] = [:]
    for (number, event) in (await Self.events(until: 2 * count, &events)).enumerated() { positions[event] = number }
    for (first, second) in pairs {
      #expect(positions[.finished(first)]! < positions[.added(second)]!)
      #expect(positions[.finished(first)]! < positions[.ready(second)]!)
    }
  }

  @Test("Q14: a listener receives the finished event of each operation that was not finished when it began")
  func beginningDuringEnds() async {
    let queue = OperationQueue()
    for _ in 0..<300 {
      let operations = (0..<6).map { _ in BlockOperation {} }
      for operation in operations { queue.addOperation(operation) }
      var events = queue.events.makeAsyncIterator()
      var unfinished = Set<Operation>(operations.filter { !$0.isFinished })
      while !unfinished.isEmpty, let event = await events.next() {
        if case .finished(let operation) = event { unfinished.remove(operation) }
      }
      #expect(unfinished.isEmpty)
    }
  }

  @Test("Q14: an operation is finished when a listener receives its finished event") func finishedWhenReceived() async {
    let queue = OperationQueue()
    var events = queue.events.makeAsyncIterator()
    async let adding: Void = { for _ in 0..<2_000 { queue.addOperation {} } }()
    var ends = 0
    while ends < 2_000, let event = await events.next() {
      guard case .finished(let operation) = event else { continue }
      ends += 1
      #expect(operation.isFinished)
    }
    await adding
  }
}
