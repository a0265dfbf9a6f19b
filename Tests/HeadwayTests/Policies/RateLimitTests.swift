import HeadwayTestKit
import HeadwayTestSupport
import Testing

@testable import Headway

@Suite("Rate limit", HangLimit()) struct RateLimitTests {
  @Test(
    "X4: no more operations start in a period than a limit allows, and none waits longer than it must",
    arguments: 0..<200)
  func limiter(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let (count, period) = (Int.random(in: 1...20, using: &random), Int64.random(in: 1...1_000_000_000, using: &random))
    let burst = Int.random(in: 1...10, using: &random)
    let isWindow = Bool.random(using: &random)
    let limit: RateLimit =
      isWindow
      ? .slidingWindow(count, per: .nanoseconds(period)) : RateLimit(count, per: .nanoseconds(period), burst: burst)
    var (limiter, starts, now) = (RateLimiter(limit), [ClockTime](), ClockTime(0))
    for _ in 0..<300 {
      if limiter.available(at: now) > 0 {
        limiter.noteStart(at: now)
        starts.append(now)
      } else {
        // Not a nanosecond before the next start.
        let next = limiter.nextStart(after: now)
        var (before, then) = (limiter, limiter)
        let (early, available) = (before.available(at: next - 1), then.available(at: next))
        #expect(next > now && early == 0 && available > 0)
        now = Bool.random(using: &random) ? next : now + 1
      }
      if Int.random(in: 0..<8, using: &random) == 0 { now += ClockTime.random(in: 0...3 * period, using: &random) }
    }
    for (first, start) in starts.enumerated() {
      for last in first..<min(starts.count, first + 60) {
        let (number, time) = (Int64(last - first + 1), starts[last] - start)
        if isWindow {
          if number > Int64(count) { #expect(time >= period) }
        } else {
          // At most the burst, one start for each full interval, and the starts in the millisecond for late threads.
          #expect((number - Int64(burst)) * period <= (time + 1_000_000) * Int64(count))
        }
      }
    }
  }

  @Test("X4: a million starts at an uneven rate don't drift, even if threads wake late", arguments: [0, 60_000])
  func drift(lateness: Int64) {
    var (limiter, now, random) = (
      RateLimiter(RateLimit(3, per: .milliseconds(1))), ClockTime(0), SeededGenerator(seed: 1)
    )
    for _ in 0..<1_000_000 {
      now = limiter.nextStart(after: now) + Int64.random(in: 0...lateness, using: &random)
      limiter.noteStart(at: now)
    }
    // The first start and the last one are late by no more than their own lateness.
    let exact: Int64 = (999_999 * 1_000_000 + 2) / 3
    #expect((exact...exact + 2 * lateness).contains(now))
  }

  @Test("X4: operations of a queue start when its rate allows it, in queue order")
  func queue() async throws {
    let (queue, clock, starts) = (OperationQueue(), ManualClock(), EventRecorder<Int>())
    queue.clock = clock
    queue.rateLimit = RateLimit(1, per: .seconds(1), burst: 2)
    for number in 0..<5 {
      let operation = BlockOperation { starts.record(number) }
      operation.queuePriority = number == 4 ? .high : .normal
      queue.addOperation(operation)
    }
    await until { starts.count == 2 }
    for count in 3...5 {
      await clock.waitForSleepers(count: 1)
      clock.advance(by: .milliseconds(999))
      #expect(starts.count == count - 1)
      clock.advance(by: .milliseconds(1))
      await until { starts.count == count }
    }
    try await queue.untilAllOperationsAreFinished()
    // The one of high priority was added after the first two might have started.
    #expect(Set(starts.events) == Set(0..<5) && starts.events.last != 4)
  }

  @Test("X4, C5: a cancelled operation leaves without counting, and without the limit, the rest start immediately")
  func cancelled() async throws {
    let (queue, clock) = (OperationQueue(), ManualClock())
    queue.clock = clock
    queue.rateLimit = RateLimit(1, per: .seconds(1))
    let operations = (0..<4).map { _ in BlockOperation {} }
    queue.addOperations(operations, waitUntilFinished: false)
    try await operations[0].untilFinished()
    operations[1].cancel()
    try await operations[1].untilFinished()
    await clock.waitForSleepers(count: 1)
    clock.advance(by: .seconds(1))
    try await operations[2].untilFinished()
    #expect(!operations[3].isFinished)
    queue.rateLimit = nil
    try await operations[3].untilSucceeded()
    #expect(queue.state.withLock { $0.policyClock }.alarmCount == 0)
  }

  @Test("X4, Q3, Q4: a limit of operations and a suspension hold with a rate limit")
  func limitAndSuspension() async throws {
    let (queue, crowd) = (OperationQueue(maxConcurrentOperationCount: 2), Crowd())
    queue.rateLimit = RateLimit(1_000, per: .milliseconds(1), burst: 50)
    queue.isSuspended = true
    for _ in 0..<200 {
      queue.addOperation {
        crowd.enter()
        crowd.leave()
      }
    }
    #expect(queue.operationCount == 200)
    queue.isSuspended = false
    try await queue.untilAllOperationsAreFinished()
    #expect(crowd.most <= 2)
  }

  @Test("X4: a queue with a rate limit that was released runs its operations, and is freed")
  func released() async throws {
    weak var freed: OperationQueue?
    let (clock, done) = (ManualClock(), Counter())
    do {
      let queue = OperationQueue()
      freed = queue
      queue.clock = clock
      queue.rateLimit = RateLimit(1, per: .seconds(1))
      for _ in 0..<2 { queue.addOperation { done.increment() } }
    }
    await clock.waitForSleepers(count: 1)
    clock.advance(by: .seconds(1))
    await until { done.value == 2 && freed == nil }
  }

  @Test("X4: no time of an earlier clock reaches a limit, from an alarm or a thread that is about to start operations")
  func earlierClock() async throws {
    let (queue, clock) = (OperationQueue(), ManualClock())
    queue.rateLimit = RateLimit(1, per: .seconds(1))
    let gate = try #require(queue.state.withLock { $0.admission.policies?.rate })
    let time = try #require(queue.startTime)
    queue.clock = clock
    // The alarm was about to ring.
    #expect(gate.retainTarget())
    gate.ring(at: .max / 2)
    queue.isSuspended = true
    queue.addOperations([BlockOperation {}, BlockOperation {}], waitUntilFinished: false)
    let visit = Visit(of: queue, by: .pool(.normal))
    let request = Visit.Request(mostCount: 1, maySpin: false, hadTicket: false, wasSpinning: false)
    var released = ReleasedOperations()
    let isAgain = queue.update { state in
      if case .again = visit.choose(from: &state, request, at: time, &released) { return true } else { return false }
    }
    released.release(from: queue)
    #expect(isAgain)
    queue.isSuspended = false
    await until { queue.operationCount == 1 }
    await clock.waitForSleepers(count: 1)
    clock.advance(by: .seconds(1))
    try await queue.untilAllOperationsAreFinished()
  }

  @Test("X4: a monthly quota is not exceeded") func quota() {
    var limiter = RateLimiter(RateLimit(4_000, per: .seconds(30 * 86_400), burst: 4_000))
    for _ in 0..<4_000 {
      #expect(limiter.limit.count == 4_000)
      limiter.noteStart(at: 0)
    }
    let available = limiter.available(at: 0)
    #expect(available == 0)
    var slow = RateLimiter(RateLimit(3, per: .seconds(Int64.max)))
    slow.noteStart(at: 0)
    let next = slow.nextStart(after: 0)
    #expect(next > 1_000_000_000)
  }

  @Test("X4, X1: operations that get a shared resource at the same time start within the rate") func sharedResources()
    async throws
  {
    let (queue, other, clock, go, count) = (OperationQueue(), OperationQueue(), ManualClock(), Gate(), Counter())
    queue.clock = clock
    queue.rateLimit = RateLimit(1, per: .seconds(60), burst: 2)
    let holder = BlockOperation { go.wait() }
    holder.policy = OperationPolicy(exclusiveResources: ["shared rate"])
    other.addOperation(holder)
    await until { holder.isExecuting }
    let operations = (0..<20).map { _ in BlockOperation { count.increment() } }
    for operation in operations { operation.policy = OperationPolicy(sharedResources: ["shared rate"]) }
    queue.addOperations(operations, waitUntilFinished: false)
    await until {
      ResourceTable.shared.withLock { table in
        operations.allSatisfy { table.obstacle(of: $0.resourceGate!) != nil }
      }
    }
    go.open()
    await until { count.value == 2 }
    await clock.waitForSleepers(count: 1)
    #expect(count.value == 2 && queue.operationCount == 18)
    queue.cancelAllOperations()
    try await queue.untilAllOperationsAreFinished()
  }

  @Test("X4: a clock that is set after a limit starts the limit again, without the alarm of the old clock")
  func newClock() async throws {
    let (queue, clock) = (OperationQueue(), ManualClock())
    queue.rateLimit = RateLimit(1, per: .seconds(3_600))
    try await queue.run(BlockOperation {})
    let waiting = BlockOperation {}
    queue.addOperation(waiting)
    waiting.cancel()
    try await queue.untilAllOperationsAreFinished()
    queue.clock = clock
    try await queue.run(BlockOperation {})
    queue.rateLimit = nil
    try await queue.run(BlockOperation {})
  }

  @Test("X4, C5: a cancelled operation with its own start() leaves without waiting for the rate, and without counting")
  func cancelledWithCode() async throws {
    final class Custom: Operation, @unchecked Sendable {
      override func start() { super.start() }
    }
    let (queue, clock) = (OperationQueue(), ManualClock())
    queue.clock = clock
    queue.rateLimit = RateLimit(1, per: .seconds(3_600))
    let cancelled = Custom()
    cancelled.cancel()
    queue.addOperation(cancelled)
    try await cancelled.untilFinished()
    try await queue.run(BlockOperation {})
    let second = Custom()
    queue.addOperation(second)
    second.cancel()
    try await second.untilFinished()
  }

  @Test("X4: a limit of no starts, or without a period, is a programming error") func misuse() async throws {
    await #expect(processExitsWith: .failure) { _ = RateLimit(0, per: .seconds(1)) }
    await #expect(processExitsWith: .failure) { _ = RateLimit(1, per: .zero) }
    await #expect(processExitsWith: .failure) { _ = RateLimit(1, per: .seconds(1), burst: 0) }
  }
}
