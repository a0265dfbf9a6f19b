import HeadwayTestKit
import HeadwayTestSupport
import Synchronization
import Testing

@testable import Headway

@Suite("Instruments of a queue", .hangLimit) struct InstrumentTests {
  @TaskLocal private static var request = "none"

  /// Records its calls and binds a task-local value around the work.
  private final class Witness: OperationQueueInstrument {
    let calls = EventRecorder<String>()
    private let prefix: String

    init(_ prefix: String = "") { self.prefix = prefix }

    private func record(_ call: String, _ operation: Operation) {
      calls.record("\(prefix)\(call) \(operation.name ?? "unnamed")")
    }

    func willAdd(_ operation: Operation, to queue: OperationQueue) {
      record("add in \(request)", operation)
      #expect(!operation.isFinished && !operation.isExecuting)
    }

    func start(_ operation: Operation, in queue: OperationQueue, by body: () -> Void) {
      record("start", operation)
      InstrumentTests.$request.withValue("run of \(operation.name ?? "unnamed")", operation: body)
      record("returned", operation)
    }

    func run(_ attempt: OperationAttempt) async throws {
      record("attempt \(attempt.number)", attempt.operation)
      try await InstrumentTests.$request.withValue("attempt \(attempt.number)") { try await attempt.run() }
    }

    func willRetry(
      _ operation: Operation, afterAttempt attempt: Int, error: any Error, delay: Duration, in queue: OperationQueue
    ) { record("retry after \(attempt) \(error) \(delay)", operation) }

    func didFinish(_ operation: Operation, in queue: OperationQueue) {
      #expect(operation.isFinished)
      let result = operation.error != nil ? "failed" : operation.isCancelled ? "cancelled" : "succeeded"
      record(result, operation)
    }
  }

  @Test("Q20: an instrument is called when an operation is added (in the caller's context), starts, and finishes")
  func calls() async throws {
    let (queue, witness) = (OperationQueue(), Witness())
    queue.failureHandler = { _, _ in }
    queue.addInstrument(witness)
    let seen = EventRecorder<String>()
    Self.$request.withValue("request 7") {
      queue.addOperation(BlockOperation(name: "block") { seen.record(Self.request) })
    }
    await until { witness.calls.count == 4 }
    #expect(witness.calls.events == ["add in request 7 block", "start block", "succeeded block", "returned block"])
    #expect(seen.events == ["run of block"])

    witness.calls.removeAll()
    queue.addOperation(BlockOperation(name: "failing") { throw Mishap(name: "reason") })
    await until { witness.calls.count == 4 }
    #expect(witness.calls.events == ["add in none failing", "start failing", "failed failing", "returned failing"])
  }

  @Test("Q20: an instrument runs each attempt of an asynchronous function, and is notified of each retry")
  func attempts() async throws {
    let clock = ManualClock()
    let (queue, witness) = (OperationQueue(on: clock), Witness())
    queue.addInstrument(witness)
    let seen = EventRecorder<String>()
    let task = queue.addTask("task", .retry(.constant(maxAttemptCount: 3, delay: .seconds(2)))) { attempt in
      seen.record(Self.request)
      await Task.yield()
      if attempt < 3 { throw Mishap(name: "\(attempt)") }
      return attempt
    }
    for _ in 1...2 {
      await clock.waitForSleepers(count: 1)
      clock.advance(by: .seconds(2))
    }
    #expect(try await task.value == 3)
    try await queue.untilAllOperationsAreFinished()
    #expect(seen.events == ["attempt 1", "attempt 2", "attempt 3"])
    #expect(
      witness.calls.events.filter { !$0.hasPrefix("returned") } == [
        "add in none task", "start task", "attempt 1 task", "retry after 1 Mishap(name: \"1\") 2.0 seconds task",
        "attempt 2 task", "retry after 2 Mishap(name: \"2\") 2.0 seconds task", "attempt 3 task", "succeeded task",
      ])
  }

  @Test("Q20: each added operation is reported as finished exactly once, no matter how it ends")
  func conservation() async throws {
    for seed in 0..<20 {
      var generator = SeededGenerator(seed: UInt64(seed))
      let (queue, witness) = (OperationQueue(maxConcurrentOperationCount: 2), Witness())
      queue.failureHandler = { _, _ in }
      queue.addInstrument(witness)
      var operations: [Operation] = []
      for number in 0..<100 {
        let operation: Operation
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: operation = BlockOperation {}
        case 1: operation = BlockOperation { throw Mishap(name: "\(number)") }
        case 2: operation = TaskOperation { await Task.yield() }
        default: operation = FinishingLater()
        }
        operation.name = "\(number)"
        if number > 0, Bool.random(using: &generator) { operation.addDependency(operations[number - 1]) }
        operations.append(operation)
      }
      if seed % 4 == 0 { queue.isSuspended = true }
      for (number, operation) in operations.enumerated() {
        if Int.random(in: 0..<8, using: &generator) == 0 { operation.cancel() }
        if seed % 5 == 4, number == 80 { queue.close() }
        queue.addOperation(operation)
        if Int.random(in: 0..<8, using: &generator) == 0 { operation.cancel() }
      }
      queue.isSuspended = false
      try await queue.untilAllOperationsAreFinished()
      for operation in operations { try await operation.untilFinished() }
      let calls = witness.calls.events
      let added = calls.filter { $0.hasPrefix("add") }.map { $0.split(separator: " ").last! }
      let ended = calls.filter { call in ["succeeded", "failed", "cancelled"].contains { call.hasPrefix($0) } }
        .map { $0.split(separator: " ").last! }
      // An operation that was cancelled before can have finished without being in the queue.
      let absent = operations.filter { !added.contains(Substring($0.name ?? "")) }
      #expect(Set(added).count == added.count && absent.allSatisfy { $0.isCancelled }, "seed \(seed)")
      #expect(ended.sorted() == added.sorted(), "seed \(seed)")
    }
  }

  /// Ends on another thread.
  private final class FinishingLater: AsynchronousOperation, @unchecked Sendable {
    override func main() { WorkerPool.shared.submit(PoolBlock { self.finish() }, count: 1) }
  }

  @Test("Q20: several instruments are nested, and jobs of tasks are not reported") func nesting() async throws {
    let queue = OperationQueue()
    let calls = EventRecorder<String>()
    final class Nested: OperationQueueInstrument {
      let (name, calls): (String, EventRecorder<String>)
      init(_ name: String, _ calls: EventRecorder<String>) { (self.name, self.calls) = (name, calls) }
      func start(_ operation: Operation, in queue: OperationQueue, by body: () -> Void) {
        calls.record("\(name) begins")
        body()
        calls.record("\(name) ends")
      }
      func didFinish(_ operation: Operation, in queue: OperationQueue) { calls.record("\(name) finished") }
    }
    queue.addInstrument(Nested("outer", calls))
    queue.addInstrument(Nested("inner", calls))
    await Task(executorPreference: queue) { await Task.yield() }.value
    try await queue.untilAllOperationsAreFinished()
    #expect(calls.events == [])
    queue.addOperation { calls.record("block") }
    try await queue.untilAllOperationsAreFinished()
    await until { calls.count == 7 }
    #expect(
      calls.events == [
        "outer begins", "inner begins", "block", "inner finished", "outer finished", "inner ends", "outer ends",
      ])
  }

  @Test("Q20: an instrument that is added while operations run follows only operations that are added later")
  func late() async throws {
    let (queue, witness, gate) = (OperationQueue(maxConcurrentOperationCount: 1), Witness(), Gate())
    let first = BlockOperation(name: "first") { gate.wait() }
    queue.addOperation(first)
    queue.addInstrument(witness)
    let second = BlockOperation(name: "second") {}
    second.addDependency(first)
    queue.addOperation(second)
    gate.open()
    try await queue.untilAllOperationsAreFinished()
    await until { witness.calls.events.contains("returned second") }
    #expect(
      witness.calls.events.filter { $0.hasSuffix("second") } == [
        "add in none second", "start second", "succeeded second", "returned second",
      ])
  }

  @Test("Q20: an operation that was added earlier than the instrument is not followed") func early() async throws {
    let (queue, witness, gate) = (OperationQueue(maxConcurrentOperationCount: 1), Witness(), Gate())
    queue.addOperation(BlockOperation(name: "first") { gate.wait() })
    queue.addOperation(BlockOperation(name: "second") {})
    queue.addInstrument(witness)
    queue.addOperation(BlockOperation(name: "third") {})
    gate.open()
    try await queue.untilAllOperationsAreFinished()
    #expect(witness.calls.events.allSatisfy { $0.hasSuffix("third") })
    #expect(witness.calls.events.contains("succeeded third"))
  }

  /// An operation that calls a function before its queue accepts it.
  private final class Calling: Operation, @unchecked Sendable {
    private let body: Mutex<(() -> Void)?>
    init(_ body: @escaping @Sendable () -> Void) { self.body = Mutex(body) }
    override var isReady: Bool {
      let body = body.withLock { body in
        defer { body = nil }
        return body
      }
      body?()
      return super.isReady
    }
  }

  @Test("Q20: an instrument that is added while an operation is being added does not follow the operation")
  func whileAdding() async throws {
    let (queue, first, second) = (OperationQueue(), Witness(), Witness())
    let operation = Calling { queue.addInstrument(first) }
    operation.name = "first"
    queue.addOperation(operation)
    let followed = Calling { queue.addInstrument(second) }
    followed.name = "second"
    queue.addOperation(followed)
    queue.addOperation(BlockOperation(name: "third") {})
    try await queue.untilAllOperationsAreFinished()
    // The last function returns inside the instruments after the queue may already be empty.
    await until { first.calls.count >= 8 && second.calls.count >= 4 }
    let names = [first, second].map { witness in Set(witness.calls.events.map { $0.split(separator: " ").last! }) }
    #expect(names == [["second", "third"], ["third"]])
    #expect(first.calls.count == 8 && second.calls.count == 4)
  }

  @Test("Q20: a removed instrument follows no new operations, but follows its current ones until they finish")
  func removal() async throws {
    let (queue, first, second) = (OperationQueue(), Witness(), Witness())
    queue.isSuspended = true
    queue.addOperation(BlockOperation(name: "before") {})
    let registration = queue.addInstrument(first)
    let added = Witness()
    let addedRegistration = queue.addInstrument(added)
    queue.addOperation(BlockOperation(name: "both") {})
    registration.invalidate()
    registration.invalidate()
    queue.addOperation(BlockOperation(name: "added") {})
    queue.addInstrument(second)
    queue.addOperation(BlockOperation(name: "second") {})
    addedRegistration.invalidate()
    queue.addOperation(BlockOperation(name: "last") {})
    queue.isSuspended = false
    try await queue.untilAllOperationsAreFinished()
    await until { second.calls.count == 8 && added.calls.count == 12 && first.calls.count == 4 }
    let names = [first, added, second].map { Set($0.calls.events.map { $0.split(separator: " ").last! }) }
    #expect(names == [["both"], ["both", "added", "second"], ["second", "last"]])
  }

  @Test("Q20: an instrument that was added twice is removed once by each registration") func removalOfOneOfTwo()
    async throws
  {
    let (queue, witness) = (OperationQueue(), Witness())
    let registrations = [queue.addInstrument(witness), queue.addInstrument(witness)]
    registrations[0].invalidate()
    registrations[0].invalidate()
    try await queue.run(BlockOperation(name: "once") {})
    await until { witness.calls.count == 4 }
    registrations[1].invalidate()
    try await queue.run(BlockOperation(name: "never") {})
    #expect(witness.calls.count == 4)
  }

  @Test("Q20: a registration does not retain its queue") func registrationOfFreedQueue() {
    weak var freed: OperationQueue?
    let registration: InstrumentRegistration
    do {
      let queue = OperationQueue()
      freed = queue
      registration = queue.addInstrument(Witness())
    }
    #expect(freed == nil)
    registration.invalidate()
  }

  /// Continues after `start()` has returned, even if it is cancelled.
  private final class Stubborn: Operation, @unchecked Sendable {
    let end = Gate()
    private let finished = Mutex(false)
    override var isAsynchronous: Bool { true }
    override var isFinished: Bool { finished.withLock { $0 } }
    override func start() {
      let end = end
      WorkerPool.shared.submit(
        PoolBlock {
          end.wait()
          self.willChangeValue(forKey: "isFinished")
          self.finished.withLock { $0 = true }
          self.didChangeValue(forKey: "isFinished")
        }, count: 1)
    }
  }

  @Test("Q20, Q17: an operation that a closed queue has rejected is reported when it has finished, and not earlier")
  func rejected() async throws {
    let (queue, witness) = (OperationQueue(), Witness())
    queue.failureHandler = { _, _ in }
    queue.addInstrument(witness)
    queue.close()
    let operation = Stubborn()
    operation.name = "stubborn"
    queue.addOperation(operation)
    #expect(witness.calls.events == ["add in none stubborn"])
    operation.end.open()
    await until { witness.calls.count == 2 }
    #expect(witness.calls.events.last == "failed stubborn")
  }
}
