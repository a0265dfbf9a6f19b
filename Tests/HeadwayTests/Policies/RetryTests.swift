import HeadwayTestKit
import HeadwayTestSupport
import Testing

@testable import Headway

@Suite("Retries", HangLimit()) struct RetryTests {
  private let clock = ManualClock()

  private func advance(_ duration: Duration) async {
    await clock.waitForSleepers(count: 1)
    clock.advance(by: duration)
  }

  @Test("X2: a failed function runs again after the pauses of the policy, as one operation")
  func retries() async throws {
    let (queue, attempts) = (OperationQueue(on: clock), EventRecorder<Int>())
    let events = EventRecorder(observing: queue)
    let operation = TaskOperation(
      .retry(RetryPolicy(maxAttemptCount: 4, backoff: .custom([.seconds(1), .seconds(5)]), jitter: .none))
    ) { attempt in
      attempts.record(attempt)
      if attempt < 3 { throw Mishap(name: "\(attempt)") }
      return "done"
    }
    #expect(operation.attempt == 0)
    queue.addOperation(operation)
    await advance(.milliseconds(999))
    #expect(attempts.events == [1] && clock.sleeperCount == 1)
    clock.advance(by: .milliseconds(1))
    await until { attempts.count == 2 }
    await advance(.seconds(5))
    #expect(try await operation.value == "done")
    #expect(attempts.events == [1, 2, 3] && operation.attempt == 3)
    #expect(operation.attemptErrors as? [Mishap] == [Mishap(name: "1"), Mishap(name: "2")])
    try await queue.untilAllOperationsAreFinished()
    await events.untilDelivered()
    let about = events.events.map(\.description).map { String($0.prefix { $0 != " " }) }
    #expect(about == ["added", "ready", "started", "retrying", "started", "retrying", "started", "finished"])
    #expect(events.events.contains(.retrying(operation, attempt: 2)))
  }

  @Test("X2: after the last attempt, the operation fails with its error")
  func lastAttempt() async throws {
    let (queue, operation) = (
      OperationQueue(on: clock),
      TaskOperation(.retry(.constant(maxAttemptCount: 2, delay: .seconds(1)))) { attempt -> Int in
        throw Mishap(name: "\(attempt)")
      }
    )
    queue.addOperation(operation)
    await advance(.seconds(1))
    await #expect(throws: Mishap(name: "2")) { try await operation.value }
    #expect(operation.attemptErrors.count == 2)
  }

  @Test("X2: an error that is not worth another attempt finishes the operation, no matter how that is declared")
  func notRetried() async throws {
    struct Denied: RetryableError { var isRetryable: Bool { false } }
    let queue = OperationQueue(on: clock)
    let denied = TaskOperation(.retry(.exponential(maxAttemptCount: 9))) { throw Denied() }
    let refused = TaskOperation(.retry(.exponential(maxAttemptCount: 9), if: { !($0 is Mishap) })) {
      throw Mishap()
    }
    queue.addOperations([denied, refused], waitUntilFinished: false)
    await #expect(throws: Denied.self) { try await denied.value }
    await #expect(throws: Mishap.self) { try await refused.value }
    #expect(denied.attempt == 1 && refused.attempt == 1)
  }

  @Test("X2, X7: an error that reads its queue is evaluated with no lock held")
  func readsQueue() async throws {
    struct Reading: RetryableError {
      let queue: OperationQueue
      var isRetryable: Bool { queue.operationCount > 0 && queue.circuitBreakerState(forKey: "key") == .closed }
    }
    let queue = OperationQueue(on: clock)
    queue.setKeyPolicy(KeyPolicy(circuitBreaker: CircuitBreaker(maxFailureCount: 9)), forKey: "key")
    let operation = TaskOperation(.retry(.constant(maxAttemptCount: 2, delay: .seconds(1)))) { attempt in
      if attempt == 1 { throw Reading(queue: queue) }
    }
    operation.policy.key = "key"
    queue.addOperation(operation)
    await advance(.seconds(1))
    try await operation.value
    #expect(operation.attempt == 2)
  }

  @Test("X2, Q3: an operation that pauses has no slot, unless its policy keeps it", arguments: [false, true])
  func slot(keepsSlot: Bool) async throws {
    let (queue, other) = (OperationQueue(on: clock, limit: 1), BlockOperation {})
    var policy = RetryPolicy.constant(maxAttemptCount: 2, delay: .seconds(1))
    policy.keepsSlot = keepsSlot
    let operation = TaskOperation(.retry(policy)) { attempt in if attempt == 1 { throw Mishap() } }
    queue.addOperation(operation)
    await clock.waitForSleepers(count: 1)
    queue.addOperation(other)
    if keepsSlot {
      #expect(queue.state.withLock { $0.admission.started } == 1)
      clock.advance(by: .seconds(1))
      try await operation.value
      try await other.untilSucceeded()
    } else {
      try await other.untilSucceeded()
      #expect(!operation.isFinished && operation.isExecuting)
      #expect(operation.diagnosis.hasSuffix("waits for its next attempt, for another 1.0 seconds"))
      clock.advance(by: .seconds(1))
      try await operation.value
    }
  }

  enum Obstacle: String, CaseIterable, Sendable {
    case rate = "waits for the rate limit of queue “queue”, for another 59.0 seconds"
    case rateOfKey = "waits for the rate limit of the key “key” in queue “queue”, for another 59.0 seconds"
    case breaker = "waits for the circuit breaker of the key “key” in queue “queue”, for another 59.0 seconds"
    case key = "waits for another operation with the key “key” in queue “queue”, which runs 1 of at most 1: “other”"
    case resource = "waits for the resource “retried”, which is used by “other”"
    case slot = "waits for a concurrency slot in queue “queue”, which runs 1 of at most 1"
    case suspension = "is suspended in queue “queue”"
  }

  @Test("X2, X: after a pause, the diagnosis names what the next attempt waits for", arguments: Obstacle.allCases)
  func obstacle(_ obstacle: Obstacle) async throws {
    let (queue, go) = (OperationQueue(on: clock), Gate())
    queue.name = "queue"
    var (policy, keyPolicy) = (OperationPolicy(), KeyPolicy())
    switch obstacle {
    case .rate: queue.rateLimit = .slidingWindow(1, per: .seconds(60))
    case .rateOfKey: keyPolicy.rateLimit = .slidingWindow(1, per: .seconds(60))
    case .breaker: keyPolicy.circuitBreaker = CircuitBreaker(maxFailureCount: 1, openDuration: .seconds(60))
    case .key: keyPolicy.maxConcurrentOperationCount = 1
    case .resource: policy.exclusiveResources = ["retried"]
    case .slot: queue.maxConcurrentOperationCount = 1
    case .suspension: break
    }
    queue.defaultKeyPolicy = keyPolicy
    policy.key = "key"
    let operation = queue.addTask(.policy(policy), .retry(.constant(maxAttemptCount: 2, delay: .seconds(1)))) {
      attempt in if attempt == 1 { throw Mishap() }
    }
    await clock.waitForSleeper(for: .seconds(1))
    if [.key, .resource, .slot].contains(obstacle) {
      let other = BlockOperation(name: "other") { go.wait() }
      other.policy = policy
      queue.addOperation(other)
      await until { other.isExecuting }
    }
    queue.isSuspended = obstacle == .suspension
    clock.advance(by: .seconds(1))
    await until { operation.policyGate?.remainingDelay == nil }
    await until { operation.diagnosis.hasSuffix("waits for its next attempt: it \(obstacle.rawValue)") }
    go.open()
    queue.isSuspended = false
    clock.advance(by: .seconds(59))
    try await operation.untilSucceeded()
  }

  @Test(
    "X2, C2: cancelling ends a pause immediately, even while the operation waits for its slot",
    arguments: [false, true])
  func cancelled(waitsForSlot: Bool) async throws {
    let (queue, go) = (OperationQueue(on: clock, limit: 1), Gate())
    let operation = TaskOperation(.retry(.constant(maxAttemptCount: 2, delay: .seconds(1)))) { throw Mishap() }
    queue.addOperation(operation)
    await clock.waitForSleepers(count: 1)
    let other = queue.addTask { await go.untilOpen() }
    if waitsForSlot {
      await until { other.isExecuting }
      clock.advance(by: .seconds(1))
      await until { operation.policyGate?.isClosed == false }
    }
    operation.cancel()
    await #expect(throws: CancellationError.self) { try await operation.value }
    #expect(operation.attempt == 1)
    go.open()
    try await queue.untilAllOperationsAreFinished()
    #expect(queue.state.withLock { $0.admission.started } == 0)
  }

  @Test("X2, X1: an operation that pauses releases its resources, and gets them again for the next attempt")
  func resources() async throws {
    let (queue, order) = (OperationQueue(on: clock), EventRecorder<String>())
    let retry = RetryPolicy.constant(maxAttemptCount: 2, delay: .seconds(1))
    let operation = TaskOperation(.retry(retry), .exclusiveResources("retry")) { attempt in
      order.record("attempt \(attempt)")
      if attempt == 1 { throw Mishap() }
    }
    let other = BlockOperation { order.record("other") }
    other.policy = OperationPolicy(exclusiveResources: ["retry"])
    queue.addOperation(operation)
    await clock.waitForSleepers(count: 1)
    queue.addOperation(other)
    try await other.untilSucceeded()
    clock.advance(by: .seconds(1))
    try await operation.value
    #expect(order.events == ["attempt 1", "other", "attempt 2"])
  }

  @Test("X2, X3: the timeout applies to each attempt, and the total timeout to all of them")
  func timeouts() async throws {
    let (queue, begun) = (OperationQueue(on: clock), EventRecorder<Int>())
    let retry = RetryPolicy.constant(maxAttemptCount: 9, delay: .seconds(1))
    let operation = TaskOperation(.retry(retry), .timeout(.seconds(10)), .totalTimeout(.seconds(25))) {
      [clock] attempt in
      begun.record(attempt)
      try await clock.sleep(for: .seconds(1_000))
    }
    queue.addOperation(operation)
    for attempt in 1...2 {
      await until { begun.count == attempt }
      // The limit of the attempt begins, and the function and the alarm sleep.
      let end = Duration.seconds(11 * attempt - 1)
      await until { operation.policyGate?.nextTime == end.nanoseconds }
      await clock.waitForSleepers(count: 2)
      clock.advance(by: .seconds(10))
      await until { operation.attemptErrors.count == attempt }
      #expect((operation.attemptErrors.last as? TimeLimitError)?.code == .timeout)
      await until { operation.policyGate?.isClosed == true }
      await advance(.seconds(1))
    }
    await until { begun.count == 3 }
    await clock.waitForSleepers(count: 2)
    clock.advance(by: .seconds(3))
    let error = await #expect(throws: TimeLimitError.self) { try await operation.value }
    #expect(error?.code == .totalTimeout)
  }

  @Test("X2, X4: each attempt counts in the rate of the queue")
  func rate() async throws {
    let queue = OperationQueue(on: clock)
    queue.rateLimit = RateLimit(1, per: .seconds(10))
    let operation = TaskOperation(.retry(.constant(maxAttemptCount: 2, delay: .seconds(1)))) { attempt in
      if attempt == 1 { throw Mishap() }
    }
    queue.addOperation(operation)
    await advance(.seconds(1))
    await clock.waitForSleepers(count: 1)
    #expect(operation.attempt == 1)
    await advance(.seconds(9))
    try await operation.value
  }

  @Test("X2, Q8: a barrier waits until all attempts before it have ended") func barrier() async throws {
    let (queue, order) = (OperationQueue(on: clock), EventRecorder<String>())
    queue.addOperation(
      TaskOperation(.retry(.constant(maxAttemptCount: 2, delay: .seconds(1)))) { attempt in
        order.record("attempt \(attempt)")
        if attempt == 1 { throw Mishap() }
      })
    queue.addBarrierBlock { order.record("barrier") }
    await advance(.seconds(1))
    try await queue.untilAllOperationsAreFinished()
    #expect(order.events == ["attempt 1", "attempt 2", "barrier"])
  }

  @Test("X2, D3: a retried operation whose dependency has failed does not run") func failedDependency() async throws {
    let queue = OperationQueue(on: clock)
    let failed = queue.addTask { throw Mishap() }
    try await failed.untilFinished()
    let retried = queue.addTask(.retry(.exponential(maxAttemptCount: 3)), .dependingOn(failed)) { $0 }
    await #expect(throws: DependencyError.self) { try await retried.value }
    let limited = queue.addTask(.timeout(.seconds(1)), .dependingOn(failed)) {}
    await #expect(throws: DependencyError.self) { try await limited.value }
  }

  @Test("X2: huge factors and delays do not overflow") func hugeFactor() {
    var random = SeededGenerator(seed: 1)
    for factor in [Double.infinity, 1e300] {
      let policy = RetryPolicy(
        maxAttemptCount: 99, backoff: .exponential(initialDelay: .seconds(1), factor: factor, maxDelay: .seconds(60)),
        jitter: .none)
      #expect(policy.delay(after: Mishap(), attempt: 50, using: &random) == .seconds(60))
    }
    let policy = RetryPolicy(maxAttemptCount: 9, backoff: .constant(.seconds(Int64.max)))
    #expect(policy.delay(after: Mishap(), attempt: 1, using: &random) != nil)
  }

  @Test("X3: the error of the total timeout contains the run time of the attempts") func runningTimeOfAttempts()
    async throws
  {
    let (queue, begun) = (OperationQueue(on: clock), Gate())
    let retry = RetryPolicy.constant(maxAttemptCount: 2, delay: .seconds(1))
    let operation = TaskOperation(.retry(retry), .totalTimeout(.seconds(5))) { [clock] _ in
      begun.open()
      try await clock.sleep(for: .seconds(1_000))
    }
    queue.addOperation(operation)
    await begun.untilOpen()
    await clock.waitForSleepers(count: 2)
    clock.advance(by: .seconds(5))
    let error = await #expect(throws: TimeLimitError.self) { try await operation.value }
    #expect(error?.runDuration == .seconds(5) && error?.waitDuration == .zero)
  }

  @Test("X2: an operation that was cancelled before its start makes no attempt, and releases its function")
  func cancelledBefore() async throws {
    weak var freed: Counter?
    do {
      let counter = Counter()
      freed = counter
      let operation = TaskOperation(.retry(.exponential(maxAttemptCount: 3))) { counter.increment() }
      operation.cancel()
      OperationQueue(on: clock).addOperation(operation)
      try await operation.untilFinished()
      #expect(operation.attempt == 0 && counter.value == 0)
    }
    await until { freed == nil }
  }
}
