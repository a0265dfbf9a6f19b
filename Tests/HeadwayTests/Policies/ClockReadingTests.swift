import HeadwayTestKit
import HeadwayTestSupport
import Synchronization
import Testing

@testable import Headway

@Suite("Clocks that go back", .hangLimit) struct ClockReadingTests {
  private typealias Instant = ManualClock.Instant

  @Test("X9: times continue after a clock has gone back") func goesBack() {
    var reading = ClockReading(Instant(offset: .seconds(100)))
    func read(_ seconds: Int) -> (time: ClockTime, wentBack: Bool)? {
      reading.note(Instant(offset: .seconds(seconds)), since: reading.version)
    }
    let second: ClockTime = 1_000_000_000
    #expect(read(103)! == (3 * second, false))
    #expect(read(50)! == (3 * second, true))
    #expect(read(52)! == (5 * second, false))
    #expect(reading.instant(of: 6 * second) == Instant(offset: .seconds(53)))
    #expect(read(40)! == (5 * second, true) && read(41)! == (6 * second, false))
  }

  @Test("X9: threads can note the instants that they have read in any order without affecting the time")
  func order() {
    var reading = ClockReading(Instant(offset: .zero))
    let version = reading.version
    #expect(reading.note(Instant(offset: .nanoseconds(5)), since: version)! == (5, false))
    #expect(reading.note(Instant(offset: .nanoseconds(3)), since: version)! == (5, false))
    // The clock goes back before another thread notes the instant that it has read.
    let earlier = reading.version
    #expect(reading.note(Instant(offset: .nanoseconds(1)), since: reading.version)! == (5, true))
    #expect(reading.note(Instant(offset: .nanoseconds(9)), since: earlier) == nil)
    #expect(reading.note(Instant(offset: .nanoseconds(2)), since: reading.version)! == (6, false))
  }

  /// A clock that a test can set back, which makes its sleepers sleep longer.
  private final class MovableClock: Clock {
    let manual = ManualClock()
    private let offset = Mutex<Duration>(.zero)

    func move(by duration: Duration) { offset.withLock { $0 += duration } }

    var now: ManualClock.Instant { manual.now.advanced(by: offset.withLock { $0 }) }
    var minimumResolution: Duration { manual.minimumResolution }

    func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
      while now < deadline { try await manual.sleep(for: now.duration(to: deadline)) }
    }
  }

  enum Wait: CaseIterable, Sendable { case rate, rateOfKey, window, delay, pause, timeout, breaker }

  @Test("X9: all policies continue soon after a clock has gone back by an hour", arguments: Wait.allCases)
  func policies(_ wait: Wait) async throws {
    let (queue, clock) = (OperationQueue(), MovableClock())
    queue.clock = clock
    let policy = OperationPolicy(key: "key")
    func add(_ policy: OperationPolicy) -> BlockOperation {
      let operation = BlockOperation {}
      operation.policy = policy
      queue.addOperation(operation)
      return operation
    }
    let operation: Headway.Operation
    switch wait {
    case .rate, .window:
      queue.rateLimit = wait == .rate ? RateLimit(1, per: .seconds(1)) : .slidingWindow(1, per: .seconds(1))
      try await add(OperationPolicy()).untilFinished()
      operation = add(OperationPolicy())
    case .rateOfKey:
      queue.setKeyPolicy(KeyPolicy(rateLimit: RateLimit(1, per: .seconds(1))), forKey: "key")
      try await add(policy).untilFinished()
      operation = add(policy)
    case .breaker:
      let breaker = CircuitBreaker(maxFailureCount: 1, openDuration: .seconds(1))
      queue.setKeyPolicy(KeyPolicy(circuitBreaker: breaker), forKey: "key")
      let failing = BlockOperation { throw Mishap() }
      failing.policy = policy
      queue.addOperation(failing)
      try await failing.untilFinished()
      operation = add(policy)
    case .delay: operation = add(OperationPolicy(delay: .seconds(1)))
    case .pause:
      operation = queue.addTask(.retry(.constant(maxAttemptCount: 2, delay: .seconds(1)))) { attempt in
        if attempt == 1 { throw Mishap() }
      }
    case .timeout:
      let task = TaskOperation { try await Gate().untilCancelled() }
      task.policy = OperationPolicy(timeout: .seconds(1))
      queue.addOperation(task)
      operation = task
    }
    await clock.manual.waitForSleepers(count: 1)
    clock.move(by: .seconds(-3_600))
    await until {
      clock.manual.advance(by: .milliseconds(20))
      return operation.isFinished
    }
    #expect(clock.manual.now.offset < .seconds(3_000))
  }
}

extension Gate {
  /// Waits until the task is cancelled.
  fileprivate func untilCancelled() async throws {
    await withTaskCancellationHandler {
      await untilOpen()
    } onCancel: {
      open()
    }
    try Task.checkCancellation()
  }
}
