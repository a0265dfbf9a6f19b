import Headway
import HeadwayTestKit
import Testing

@Suite("ManualClock", .hangLimit) struct ManualClockTests {
  @Test("The clock stands still until it is advanced") func standsStill() {
    let clock = ManualClock()
    let start = clock.now
    #expect(clock.now == start)
    clock.advance(by: .seconds(3))
    #expect(start.duration(to: clock.now) == .seconds(3))
    #expect(start < clock.now)
  }

  @Test("Sleepers wake when their time is reached") func wakes() async throws {
    let clock = ManualClock()
    let woken = EventRecorder<Int>()
    let tasks = (1...3).map { seconds in
      Task {
        try await clock.sleep(for: .seconds(seconds))
        woken.record(seconds)
      }
    }
    await clock.waitForSleepers(count: 3)
    clock.advance(by: .seconds(1))
    try await tasks[0].value
    #expect(woken.events == [1])
    #expect(clock.sleeperCount == 2)
    clock.advance(by: .seconds(2))
    for task in tasks { try await task.value }
    #expect(woken.events.sorted() == [1, 2, 3])
    #expect(clock.sleeperCount == 0)
  }

  @Test("A test can wait for a deadline, even if there are other sleepers") func deadlines() async throws {
    let clock = ManualClock()
    #expect(clock.nextDeadline == nil)
    let late = Task { try await clock.sleep(for: .seconds(60)) }
    await clock.waitForSleepers(count: 1)
    async let waiting: Void = clock.waitForSleeper(for: .seconds(10))
    let early = Task { try await clock.sleep(for: .seconds(10)) }
    await waiting
    #expect(clock.sleeperCount == 2 && clock.nextDeadline == ManualClock.Instant(offset: .seconds(10)))
    clock.advance(to: clock.nextDeadline!)
    try await early.value
    await clock.waitForSleeper(until: ManualClock.Instant(offset: .seconds(60)))
    clock.advance(to: clock.nextDeadline!)
    try await late.value
    #expect(clock.nextDeadline == nil)
  }

  @Test("X2, X3: a test can wait until an operation with a time limit pauses between its attempts", arguments: 1...20)
  func pauses(round: Int) async throws {
    struct Busy: Error {}
    let (clock, queue) = (ManualClock(), OperationQueue())
    queue.clock = clock
    let task = queue.addTask(
      .delay(.seconds(3_600)), .timeout(.seconds(60)), .retry(.constant(maxAttemptCount: 3, delay: .seconds(10)))
    ) { attempt in
      if attempt < 3 { throw Busy() }
    }
    await clock.waitForSleeper(for: .seconds(3_600))
    clock.advance(by: .seconds(3_600))
    for _ in 1...2 {
      await clock.waitForSleeper(for: .seconds(10))
      clock.advance(by: .seconds(10))
    }
    try await task.untilSucceeded()
    #expect(task.attempt == 3 && clock.now.offset == .seconds(3_620))
  }

  @Test("A sleep until a time in the past returns immediately") func past() async throws {
    let clock = ManualClock()
    clock.advance(by: .seconds(5))
    try await clock.sleep(until: ManualClock.Instant(offset: .seconds(5)), tolerance: nil)
  }

  @Test("A sleeper whose task is cancelled wakes with CancellationError") func cancelled() async {
    let clock = ManualClock()
    let task = Task { try await clock.sleep(for: .seconds(1)) }
    await clock.waitForSleepers(count: 1)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(clock.sleeperCount == 0)
    let late = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await clock.sleep(for: .seconds(1))
    }
    await #expect(throws: CancellationError.self) { try await late.value }
    #expect(clock.sleeperCount == 0)
  }
}
