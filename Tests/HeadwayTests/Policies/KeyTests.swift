import HeadwayTestKit
import HeadwayTestSupport
import Testing

@testable import Headway

/// An operation that runs until the test ends it.
private final class OpenEnded: AsynchronousOperation, @unchecked Sendable {
  private let starts: EventRecorder<String>?

  init(_ name: String, key: String?, recordingStartsIn starts: EventRecorder<String>? = nil) {
    self.starts = starts
    super.init()
    self.name = name
    policy = OperationPolicy(key: key)
  }

  override func main() { starts?.record(name ?? "") }
}

@Suite("Keys", HangLimit()) struct KeyTests {
  private struct Failure: Error {}
  private struct WrongRequest: RetryableError {
    var isRetryable: Bool { false }
  }

  private let clock = ManualClock()
  private let order = EventRecorder<String>()

  @discardableResult
  private func add(
    _ name: String, key: String?, to queue: OperationQueue, priority: QueuePriority = .normal,
    resource: String? = nil
  ) -> BlockOperation {
    let operation = BlockOperation { [order] in order.record(name) }
    operation.queuePriority = priority
    operation.policy = OperationPolicy(exclusiveResources: resource.map { [$0] } ?? [], key: key)
    queue.addOperation(operation)
    return operation
  }

  private func suspended(limit: Int = 1) -> OperationQueue {
    let queue = OperationQueue(on: clock, limit: limit)
    queue.isSuspended = true
    return queue
  }

  private func run(_ queue: OperationQueue) async throws -> [String] {
    queue.isSuspended = false
    try await queue.untilAllOperationsAreFinished()
    return order.events
  }

  // MARK: Turns

  @Test("X6: a key with many operations delays another key by one round")
  func turns() async throws {
    let queue = suspended()
    for _ in 0..<10_000 { add("a", key: "a", to: queue) }
    for key in ["b", "c"] { for _ in 0..<3 { add(key, key: key, to: queue) } }
    let events = try await run(queue)
    #expect(events.count == 10_006)
    #expect(Array(events[..<9]) == ["a", "b", "c", "a", "b", "c", "a", "b", "c"])
  }

  @Test("X6: in each of its turns, a key starts as many operations as its weight")
  func weights() async throws {
    let queue = suspended()
    queue.setKeyPolicy(KeyPolicy(weight: 3), forKey: "a")
    queue.defaultKeyPolicy = KeyPolicy(weight: 2)
    #expect(queue.keyPolicy(forKey: "a").weight == 3 && queue.keyPolicy(forKey: "b").weight == 2)
    for key in ["a", "b", "c"] { for _ in 0..<6 { add(key, key: key, to: queue) } }
    queue.setKeyPolicy(KeyPolicy(weight: 1), forKey: "c")
    // A new weight also applies to the current turn.
    #expect(try await run(queue).joined() == "aaabbcaaabbcbbcccc")
  }

  @Test("X6, P5: a change of its priority or its quality of service does not cost a key its turn")
  func urgency() async throws {
    let queue = suspended()
    let first = add("a", key: "a", to: queue)
    for key in ["b", "c"] { add(key, key: key, to: queue) }
    first.queuePriority = .high
    first.queuePriority = .normal
    first.qualityOfService = .userInitiated
    #expect(try await run(queue) == ["a", "b", "c"])
  }

  @Test("X6, Q5: the operations of a key start in insertion order, regardless of the classes of threads that run them")
  func orderOfClasses() async throws {
    let queue = suspended()
    for (name, quality) in [("1", QualityOfService.utility), ("2", .default), ("3", .background), ("4", .default)] {
      let operation = BlockOperation { [order] in order.record(name) }
      (operation.qualityOfService, operation.policy) = (quality, OperationPolicy(key: "a"))
      queue.addOperation(operation)
    }
    #expect(try await run(queue) == ["1", "2", "3", "4"])
  }

  @Test("X6: a higher priority takes precedence, even among the operations of a key")
  func priorities() async throws {
    let queue = suspended()
    add("a1", key: "a", to: queue)
    add("b1", key: "b", to: queue)
    add("a2", key: "a", to: queue, priority: .high)
    add("a3", key: "a", to: queue, priority: .low)
    add("b2", key: "b", to: queue).queuePriority = .veryHigh
    add("c1", key: "c", to: queue, priority: .low)
    #expect(try await run(queue) == ["b2", "a2", "b1", "a1", "c1", "a3"])
  }

  @Test("X6: an operation without a key is treated as if it had a unique key")
  func withoutKey() async throws {
    let queue = suspended()
    add("1", key: nil, to: queue)
    for _ in 0..<3 { add("a", key: "a", to: queue) }
    add("2", key: nil, to: queue)
    add("b", key: "b", to: queue)
    add("3", key: nil, to: queue)
    #expect(try await run(queue) == ["1", "a", "2", "b", "3", "a", "a"])
  }

  @Test("X6, Q8: keys of operations behind a barrier are served in turn when the barrier has finished")
  func barriers() async throws {
    let queue = suspended()
    for name in ["a1", "a2"] { add(name, key: "a", to: queue) }
    add("b1", key: "b", to: queue)
    queue.addBarrierBlock { [order] in order.record("barrier") }
    for name in ["a3", "a4"] { add(name, key: "a", to: queue) }
    add("b2", key: "b", to: queue)
    add("1", key: nil, to: queue)
    #expect(try await run(queue) == ["a1", "b1", "a2", "barrier", "a3", "b2", "1", "a4"])
  }

  @Test("X6, Q8: keys that only operations behind a barrier have are served in turn as well")
  func onlyBehindBarrier() async throws {
    let queue = suspended()
    queue.addBarrierBlock {}
    for name in ["a1", "a2"] { add(name, key: "a", to: queue) }
    add("1", key: nil, to: queue)
    #expect(try await run(queue) == ["a1", "1", "a2"])
  }

  @Test("X6, Q12: keys do not change the order of a queue that starts its operations in insertion order")
  func firstInFirstOut() async throws {
    let queue = OperationQueue(name: "fifo", order: .fifo)
    queue.isSuspended = true
    queue.defaultKeyPolicy = KeyPolicy(maxConcurrentOperationCount: 1)
    for name in ["a1", "a2"] { add(name, key: "a", to: queue) }
    add("b1", key: "b", to: queue)
    #expect(try await run(queue) == ["a1", "a2", "b1"])
  }

  @Test("X6, C5: cancelled operations of a key leave, and the remaining operations keep their turns")
  func cancelled() async throws {
    let queue = suspended()
    let first = add("a1", key: "a", to: queue)
    add("b1", key: "b", to: queue)
    let middle = add("a2", key: "a", to: queue)
    add("a3", key: "a", to: queue)
    first.cancel()
    middle.cancel()
    try await middle.untilFinished()
    #expect(try await run(queue) == ["a3", "b1"])
    #expect(first.isFinished && first.isCancelled)
  }

  @Test("X6, Q5: operations of a key keep their classes of threads when the quality of the queue changes")
  func classes() async throws {
    let queue = suspended(limit: 4)
    for quality in [QualityOfService.background, .utility, .userInitiated] {
      for key in ["a", "b"] {
        let operation = BlockOperation { [order] in order.record("\(quality)") }
        (operation.qualityOfService, operation.policy) = (quality, OperationPolicy(key: key))
        queue.addOperation(operation)
      }
    }
    queue.qualityOfService = .background
    queue.qualityOfService = .utility
    #expect(try await run(queue).count == 6)
  }

  @Test("X1, X6: an operation that waits for a resource does not hold up its key")
  func withResources() async throws {
    let (queue, other) = (suspended(limit: 2), OperationQueue())
    let holder = OpenEnded("holder", key: nil)
    holder.policy = OperationPolicy(exclusiveResources: ["keys"])
    other.addOperation(holder)
    await until { holder.isExecuting }
    add("a1", key: "a", to: queue, resource: "keys")
    add("a2", key: "a", to: queue)
    queue.isSuspended = false
    await until { order.count == 1 }
    holder.finish()
    #expect(try await run(queue) == ["a2", "a1"])
  }

  // MARK: Limits

  @Test("X7: a key's running operations do not exceed its limit, and operations of other keys run")
  func bulkhead() async throws {
    let queue = OperationQueue()
    queue.setKeyPolicy(KeyPolicy(maxConcurrentOperationCount: 2), forKey: "a")
    let operations = (0..<4).map { OpenEnded("a\($0)", key: "a", recordingStartsIn: order) }
    queue.addOperations(operations, waitUntilFinished: false)
    await until { order.count == 2 }
    let other = OpenEnded("b", key: "b", recordingStartsIn: order)
    queue.addOperation(other)
    await until { order.count == 3 }
    #expect(order.events == ["a0", "a1", "b"] || order.events == ["a1", "a0", "b"])
    #expect(
      operations[2].diagnosis.hasPrefix(
        "“a2” waits for another operation with the key “a” in \(queue.label), which runs 2 of at most 2: “a"))
    operations[0].finish()
    await until { order.count == 4 }
    #expect(!operations[3].isExecuting)
    // A change takes effect immediately.
    queue.setKeyPolicy(nil, forKey: "a")
    await until { operations[3].isExecuting }
    (operations[1...] + [other]).forEach { $0.finish() }
    try await queue.untilAllOperationsAreFinished()
  }

  @Test("X7, X1: an operation that gets its resources counts toward the limit of its key from then on")
  func grants() async throws {
    let queue = OperationQueue()
    queue.defaultKeyPolicy = KeyPolicy(maxConcurrentOperationCount: 1)
    let crowd = Crowd()
    for number in 0..<300 {
      let operation = BlockOperation {
        crowd.enter()
        yieldThread()
        crowd.leave()
      }
      operation.policy = OperationPolicy(exclusiveResources: ["grants \(number % 3)"], key: "a")
      queue.addOperation(operation)
    }
    try await queue.untilAllOperationsAreFinished()
    #expect(crowd.most == 1)
  }

  @Test("X7, X4: each key has its own rate, on the clock of the queue")
  func rates() async throws {
    let queue = OperationQueue(on: clock)
    queue.defaultKeyPolicy = KeyPolicy(rateLimit: RateLimit(1, per: .seconds(1)))
    let operations = (0..<3).map { add("a\($0)", key: "a", to: queue) }
    add("b0", key: "b", to: queue)
    await until { order.count == 2 }
    #expect(Set(order.events) == ["a0", "b0"])
    await clock.waitForSleepers(count: 1)
    #expect(
      operations[1].diagnosis
        == "BlockOperation waits for the rate limit of the key “a” in \(queue.label), for another 1.0 seconds")
    for count in 3...4 {
      clock.advance(by: .milliseconds(999))
      #expect(order.count == count - 1)
      clock.advance(by: .milliseconds(1))
      await until { order.count == count }
      if count == 3 { await clock.waitForSleepers(count: 1) }
    }
    try await queue.untilAllOperationsAreFinished()
    #expect(queue.state.withLock { $0.policyClock }.alarmCount == 0)
  }

  @Test("X7: a circuit breaker opens after failures, lets a probe start, and closes when the probe succeeds")
  func breaker() async throws {
    let queue = OperationQueue(on: clock, limit: 1)
    queue.failureHandler = nil
    let breaker = CircuitBreaker(maxFailureCount: 2, openDuration: .seconds(10))
    queue.setKeyPolicy(KeyPolicy(circuitBreaker: breaker), forKey: "a")
    func task(_ error: (any Error)?) -> TaskOperation<Void> {
      queue.addTask(.key("a")) {
        if error is CancellationError { withUnsafeCurrentTask { $0?.cancel() } }
        if let error { throw error }
      }
    }
    // Neither a success in between nor a wrong request opens it.
    for error in [Failure(), nil, Failure(), WrongRequest()] as [(any Error)?] { try await task(error).untilFinished() }
    #expect(queue.circuitBreakerState(forKey: "a") == .closed)
    try await task(Failure()).untilFinished()
    #expect(queue.circuitBreakerState(forKey: "a") == .open)
    let probes = ([Failure(), CancellationError(), nil] as [(any Error)?]).map(task)
    add("b", key: "b", to: queue)
    await until { order.count == 1 }
    #expect(
      probes[0].diagnosis
        == "TaskOperation<()> waits for the circuit breaker of the key “a” in \(queue.label), for another 10.0 seconds")
    await clock.waitForSleepers(count: 1)
    clock.advance(by: .seconds(10))
    // The probe fails.
    try await probes[0].untilFinished()
    #expect(queue.circuitBreakerState(forKey: "a") == .open && !probes[1].isFinished)
    await clock.waitForSleepers(count: 1)
    clock.advance(by: .seconds(10))
    // The second probe is cancelled, so the third operation is a probe, and succeeds.
    try await probes[2].untilFinished()
    #expect(probes[1].isFinished && queue.circuitBreakerState(forKey: "a") == .closed)
  }

  @Test("X7: while a circuit breaker is half open, one operation starts, and results of earlier operations don't count")
  func probe() async throws {
    let queue = OperationQueue(on: clock)
    let breaker = CircuitBreaker(maxFailureCount: 1, openDuration: .seconds(1))
    queue.defaultKeyPolicy = KeyPolicy(circuitBreaker: breaker)
    let early = (0..<3).map { OpenEnded("early \($0)", key: "a", recordingStartsIn: order) }
    queue.addOperations(early, waitUntilFinished: false)
    await until { order.count == 3 }
    early[0].finish(throwing: Failure())
    try await early[0].untilFinished()
    let late = (0..<3).map { OpenEnded("late \($0)", key: "a", recordingStartsIn: order) }
    queue.addOperations(late, waitUntilFinished: false)
    early[1].finish()
    try await early[1].untilFinished()
    #expect(queue.circuitBreakerState(forKey: "a") == .open)
    await clock.waitForSleepers(count: 1)
    clock.advance(by: .seconds(1))
    await until { order.count == 4 }
    #expect(queue.circuitBreakerState(forKey: "a") == .halfOpen)
    early[2].finish(throwing: Failure())
    try await early[2].untilFinished()
    #expect(queue.circuitBreakerState(forKey: "a") == .halfOpen && order.count == 4)
    late[0].finish()
    await until { order.count == 6 }
    #expect(queue.circuitBreakerState(forKey: "a") == .closed)
    late[1...].forEach { $0.finish() }
    try await queue.untilAllOperationsAreFinished()
  }

  /// Runs an operation that exceeds a limit of one second.
  private func exceed(_ policy: OperationPolicy, in queue: OperationQueue, _ code: TimeLimitError.Code) async throws {
    let (operation, count) = (OpenEnded("late", key: nil, recordingStartsIn: order), order.count)
    operation.policy = policy
    operation.onCancel { operation.finish() }
    queue.addOperation(operation)
    await until { order.count > count }
    await clock.waitForSleepers(count: 1)
    clock.advance(by: .seconds(1))
    try await operation.untilFinished()
    #expect((operation.error as? TimeLimitError)?.code == code)
  }

  @Test("X7: cancelled operations do not open a circuit breaker, but operations that exceed a time limit do")
  func cancelledFailures() async throws {
    let queue = OperationQueue(on: clock)
    queue.defaultKeyPolicy = KeyPolicy(circuitBreaker: CircuitBreaker(maxFailureCount: 1, openDuration: .seconds(9)))
    let operation = OpenEnded("cancelled", key: "a", recordingStartsIn: order)
    queue.addOperation(operation)
    await until { order.count == 1 }
    operation.cancel()
    operation.finish(throwing: Failure())
    try await operation.untilFinished()
    #expect(operation.outcome.map { "\($0)" } == "cancelled" && queue.circuitBreakerState(forKey: "a") == .closed)
    try await exceed(OperationPolicy(timeout: .seconds(1), key: "a"), in: queue, .timeout)
    #expect(queue.circuitBreakerState(forKey: "a") == .open)
  }

  @Test("X7, X3: an operation that exceeds its total timeout does not open a circuit breaker")
  func totalTimeout() async throws {
    let queue = OperationQueue(on: clock)
    queue.defaultKeyPolicy = KeyPolicy(circuitBreaker: CircuitBreaker(maxFailureCount: 1, openDuration: .seconds(9)))
    try await exceed(OperationPolicy(totalTimeout: .seconds(1), key: "a"), in: queue, .totalTimeout)
    #expect(queue.circuitBreakerState(forKey: "a") == .closed)
  }

  @Test("X7: operations that started before a circuit breaker was set do not count for it")
  func newBreaker() async throws {
    let queue = OperationQueue(on: clock)
    let operations = (0..<2).map { OpenEnded("\($0)", key: "a", recordingStartsIn: order) }
    queue.addOperations(operations, waitUntilFinished: false)
    await until { order.count == 2 }
    queue.setKeyPolicy(KeyPolicy(circuitBreaker: CircuitBreaker(maxFailureCount: 1)), forKey: "a")
    operations.forEach { $0.finish(throwing: Failure()) }
    try await queue.untilAllOperationsAreFinished()
    #expect(queue.circuitBreakerState(forKey: "a") == .closed)
  }

  @Test("X7: failures that are far apart do not open a circuit breaker, and a breaker that nothing probes closes")
  func forgottenFailures() {
    var breaker = BreakerState(CircuitBreaker(maxFailureCount: 2, openDuration: .nanoseconds(10)))
    for time in [ClockTime(0), 10, 25] {
      _ = breaker.noteStart(at: time)
      breaker.noteEnd(.failure, isProbe: false, at: time)
      #expect(breaker.state(at: time) == .closed)
    }
    breaker.noteEnd(.failure, isProbe: false, at: 34)
    #expect(breaker.state(at: 43) == .open && breaker.state(at: 44) == .halfOpen && breaker.state(at: 54) == .closed)
    // An operation that had its resources when the breaker opened isn't a probe.
    let isEarlyProbe = breaker.noteStart(at: 43)
    #expect(!isEarlyProbe && breaker.state(at: 43) == .open && breaker.isForgettable(at: 54))
    let isProbe = breaker.noteStart(at: 44)
    #expect(isProbe && breaker.state(at: 100) == .halfOpen)
  }

  @Test("X7, X2: each failed attempt counts for the circuit breaker, and a pause frees the slot of the key")
  func attempts() async throws {
    let queue = OperationQueue(on: clock)
    let breaker = CircuitBreaker(maxFailureCount: 2, openDuration: .seconds(60))
    queue.defaultKeyPolicy = KeyPolicy(maxConcurrentOperationCount: 1, circuitBreaker: breaker)
    let upload = queue.addTask(.key("a"), .retry(.constant(maxAttemptCount: 3, delay: .seconds(1)))) { attempt in
      if attempt < 3 { throw Failure() }
    }
    await clock.waitForSleepers(count: 1)
    // The pause holds no slot.
    try await add("a", key: "a", to: queue).untilSucceeded()
    clock.advance(by: .seconds(1))
    // The success in between has closed the breaker.
    await until { upload.attempt == 2 }
    await clock.waitForSleepers(count: 1)
    #expect(queue.circuitBreakerState(forKey: "a") == .closed)
    queue.setKeyPolicy(
      KeyPolicy(circuitBreaker: CircuitBreaker(maxFailureCount: 1, openDuration: .seconds(60))), forKey: "a")
    let failing = queue.addTask(.key("a")) { () async throws -> Void in throw Failure() }
    try await failing.untilFinished()
    #expect(queue.circuitBreakerState(forKey: "a") == .open)
    // The pause has passed, but the breaker is open.
    clock.advance(by: .seconds(1))
    await until { upload.policyGate?.isClosed == false }
    #expect(upload.attempt == 2)
    await clock.waitForSleepers(count: 1)
    clock.advance(by: .seconds(60))
    try await upload.untilSucceeded()
    #expect(upload.attempt == 3)
  }

  @Test("X7, X2: the failed attempts of an operation that keeps its slot count for the circuit breaker")
  func attemptsInSlot() async throws {
    let queue = OperationQueue(on: clock)
    queue.defaultKeyPolicy = KeyPolicy(circuitBreaker: CircuitBreaker(maxFailureCount: 2, openDuration: .seconds(60)))
    let retry = RetryPolicy(
      maxAttemptCount: 3, backoff: .constant(.zero), jitter: .none, maxElapsedTime: nil, keepsSlot: true)
    let upload = queue.addTask(.key("a"), .retry(retry)) { attempt in
      if attempt < 3 { throw Failure() }
    }
    try await upload.untilSucceeded()
    #expect(queue.circuitBreakerState(forKey: "a") == .open)
  }

  // MARK: Settings

  @Test("X7: a new limit begins as if no operation had started before, and ends waits for the old limit")
  func changes() async throws {
    let queue = OperationQueue(on: clock)
    queue.defaultKeyPolicy = KeyPolicy(rateLimit: RateLimit(1, per: .seconds(1_000)))
    for number in 0..<3 { add("\(number)", key: "a", to: queue) }
    await until { order.count == 1 }
    queue.setKeyPolicy(KeyPolicy(rateLimit: RateLimit(1, per: .seconds(1))), forKey: "a")
    await until { order.count == 2 }
    queue.setKeyPolicy(KeyPolicy(), forKey: "a")
    await until { order.count == 3 }
    try await queue.untilAllOperationsAreFinished()
    #expect(queue.state.withLock { $0.policyClock }.alarmCount == 0)
  }

  @Test("X7: a queue forgets the keys that have no operations, except while their limits count earlier starts")
  func memory() async throws {
    let queue = OperationQueue(on: clock)
    for number in 0..<200 { add("", key: "\(number)", to: queue) }
    try await queue.untilAllOperationsAreFinished()
    #expect(queue.state.withLock { $0.admission.policies?.lanes?.lanes.count } == 0)
    queue.defaultKeyPolicy = KeyPolicy(rateLimit: RateLimit(1, per: .seconds(1)))
    for number in 0..<100 { add("", key: "\(number)", to: queue) }
    try await queue.untilAllOperationsAreFinished()
    #expect(queue.state.withLock { $0.admission.policies?.lanes?.lanes.count } == 100)
    clock.advance(by: .seconds(1))
    // One after the other, because the queue knows only the times of starts.
    for number in 100..<300 { try await add("", key: "\(number)", to: queue).untilFinished() }
    #expect((150..<300).contains(queue.state.withLock { $0.admission.policies?.lanes?.lanes.count ?? 0 }))
  }

  @Test("X7: a queue with limits of keys that was released runs its operations, and is freed")
  func released() async throws {
    weak var freed: OperationQueue?
    do {
      let queue = OperationQueue(on: clock)
      freed = queue
      queue.defaultKeyPolicy = KeyPolicy(rateLimit: RateLimit(1, per: .seconds(1)))
      for _ in 0..<2 { add("a", key: "a", to: queue) }
    }
    await clock.waitForSleepers(count: 1)
    clock.advance(by: .seconds(1))
    await until { order.count == 2 && freed == nil }
  }

  @Test("X7: a queue can be freed while an alarm of a key is set")
  func freedWithAlarm() async throws {
    weak var freed: OperationQueue?
    do {
      let queue = OperationQueue(on: clock)
      freed = queue
      queue.defaultKeyPolicy = KeyPolicy(rateLimit: RateLimit(1, per: .seconds(1)))
      let operations = (0..<2).map { _ in add("a", key: "a", to: queue) }
      await clock.waitForSleepers(count: 1)
      operations[1].cancel()
      try await queue.untilAllOperationsAreFinished()
    }
    await until { freed == nil }
    clock.advance(by: .seconds(1))
  }

  @Test("X6, X7: a clock that is set again resets the limits of keys")
  func clockChange() async throws {
    let queue = OperationQueue(on: clock)
    queue.defaultKeyPolicy = KeyPolicy(rateLimit: RateLimit(1, per: .seconds(1_000)))
    try await add("1", key: "a", to: queue).untilFinished()
    try await queue.untilAllOperationsAreFinished()
    queue.clock = ManualClock()
    try await add("2", key: "a", to: queue).untilSucceeded()
  }
}
