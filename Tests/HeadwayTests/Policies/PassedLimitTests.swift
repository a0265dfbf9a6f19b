import HeadwayTestKit
import HeadwayTestSupport
import Synchronization
import Testing

@testable import Headway

/// A clock can pass several deadlines together: while a machine sleeps, or while no thread gets a processor.
@Suite("Limits that have passed", .hangLimit) struct PassedLimitTests {
  private let clock = ManualClock()

  private func expectExceeded(_ operations: [Headway.Operation], _ code: TimeLimitError.Code) {
    for operation in operations {
      guard case .failure(let error as TimeLimitError)? = operation.outcome else {
        Issue.record("\(operation) did not exceed a limit")
        continue
      }
      #expect(error.code == code && error.runDuration == nil)
    }
  }

  @Test("X3: an operation whose total timeout has passed does not start, even if its delay has passed, too")
  func delay() async throws {
    let queue = OperationQueue(on: clock)
    let operations = (0..<200).map { _ in BlockOperation { Issue.record("the operation ran") } }
    for operation in operations {
      operation.policy = OperationPolicy(delay: .seconds(2), totalTimeout: .seconds(1))
      queue.addOperation(operation)
    }
    clock.advance(by: .seconds(5))
    try await queue.untilAllOperationsAreFinished()
    expectExceeded(operations, .totalTimeout)
  }

  @Test("X3, X4: operations whose total timeout has passed do not start when the rate allows it, and do not count")
  func rate() async throws {
    let queue = OperationQueue(on: clock)
    queue.rateLimit = .slidingWindow(5, per: .seconds(1))
    let operations = (0..<30).map { _ in BlockOperation {} }
    for operation in operations {
      operation.policy = OperationPolicy(totalTimeout: .milliseconds(3_500))
      queue.addOperation(operation)
    }
    let later = (0..<5).map { _ in BlockOperation {} }
    for count in [5, 10, 15, 20] {
      await until { operations.count { $0.isFinished } == count }
      if count == 20 { queue.addOperations(later, waitUntilFinished: false) }
      clock.advance(by: .seconds(1))
    }
    try await queue.untilAllOperationsAreFinished()
    #expect(operations.count { $0.outcome.isSuccess } == 20)
    expectExceeded(operations.filter { !$0.outcome.isSuccess }, .totalTimeout)
    #expect(later.allSatisfy { $0.outcome.isSuccess })
  }

  enum Obstacle: CaseIterable, Sendable { case slot, dependency, resource, suspension, key, override }

  @Test(
    "X3: an operation does not start after its total timeout, even if its alarm has not rung",
    arguments: Obstacle.allCases)
  func alarmNotRung(obstacle: Obstacle) async throws {
    let clock = SilentClock()
    let queue = OperationQueue()
    queue.clock = clock
    if obstacle == .key { queue.defaultKeyPolicy = KeyPolicy(maxConcurrentOperationCount: 1) }
    let (started, end) = (Gate(), Gate())
    let first = BlockOperation {
      started.open()
      end.wait()
    }
    let waiting = obstacle == .override ? HeldBack() : BlockOperation { Issue.record("the operation ran") }
    var policy = OperationPolicy(totalTimeout: .seconds(1))
    switch obstacle {
    case .slot: queue.maxConcurrentOperationCount = 1
    case .dependency: waiting.addDependency(first)
    case .resource:
      first.policy = OperationPolicy(exclusiveResources: ["passed limit"])
      policy.exclusiveResources = ["passed limit"]
    case .key:
      first.policy = OperationPolicy(key: "a")
      policy.key = "a"
    case .suspension, .override: break
    }
    waiting.policy = policy
    queue.addOperation(first)
    await started.untilOpen()
    if obstacle == .suspension { queue.isSuspended = true }
    queue.addOperation(waiting)
    clock.advance(by: .seconds(2))
    end.open()
    try await first.untilFinished()
    queue.isSuspended = false
    if let waiting = waiting as? HeldBack { waiting.release() }
    for _ in 0..<3 { try await queue.addTask {}.value }
    #expect(!waiting.isFinished)
    clock.ring()
    try await waiting.untilFinished()
    expectExceeded([waiting], .totalTimeout)
  }

  private final class HeldBack: Operation, @unchecked Sendable {
    private let mayStart = Atomic<Bool>(false)
    override var isReady: Bool { super.isReady && mayStart.load(ordering: .acquiring) }
    override func main() { Issue.record("the operation ran") }

    func release() {
      willChangeValue(forKey: "isReady")
      mayStart.store(true, ordering: .releasing)
      didChangeValue(forKey: "isReady")
    }
  }

  @Test("X2, X3: no attempt begins after the total timeout or the maximum elapsed time", arguments: [true, false])
  func attempts(keepsSlot: Bool) async throws {
    for limitsTotal in [true, false] {
      let (clock, queue) = (ManualClock(), OperationQueue())
      queue.clock = clock
      var retry = RetryPolicy.constant(maxAttemptCount: 5, delay: .seconds(2))
      retry.keepsSlot = keepsSlot
      if !limitsTotal { retry.maxElapsedTime = .seconds(3) }
      let policy = OperationPolicy(totalTimeout: limitsTotal ? .seconds(3) : nil)
      let operation = queue.addTask(.policy(policy), .retry(retry)) { attempt in throw Mishap(name: "\(attempt)") }
      await clock.waitForSleepers(count: 1)
      await until { operation.timedGate?.pause.isActive == true }
      clock.advance(by: .seconds(10))
      try await operation.untilFinished()
      #expect(operation.attempt == 1)
      guard case .failure(let error)? = operation.outcome else {
        Issue.record("\(operation) has not failed")
        continue
      }
      #expect(limitsTotal ? (error as? TimeLimitError)?.code == .totalTimeout : error as? Mishap == Mishap(name: "1"))
    }
  }

  @Test("X2: an attempt that could continue only after the maximum elapsed time does not begin")
  func waitForSlot() async throws {
    let queue = OperationQueue(on: clock, limit: 1)
    var retry = RetryPolicy.constant(maxAttemptCount: 5, delay: .seconds(2))
    retry.maxElapsedTime = .seconds(3)
    let operation = queue.addTask(.retry(retry)) { attempt in throw Mishap(name: "\(attempt)") }
    await until { operation.timedGate?.pause.isActive == true }
    let end = queue.occupy()
    await clock.waitForSleepers(count: 1)
    clock.advance(by: .seconds(2))
    clock.advance(by: .seconds(2))
    end.open()
    try await operation.untilFinished()
    #expect(operation.attempt == 1 && operation.error as? Mishap == Mishap(name: "1"))
  }
}

/// A clock whose sleepers wake only when the test wakes them, regardless of the time.
private final class SilentClock: Clock, Sendable {
  typealias Instant = ManualClock.Instant

  private let time = ManualClock()
  private let alarms = ManualClock()

  var now: Instant { time.now }
  var minimumResolution: Duration { .nanoseconds(1) }

  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    try await alarms.sleep(until: deadline, tolerance: tolerance)
  }

  func advance(by duration: Duration) { time.advance(by: duration) }

  /// Wakes the sleepers whose deadline has passed.
  func ring() { alarms.advance(by: alarms.now.duration(to: time.now)) }
}
