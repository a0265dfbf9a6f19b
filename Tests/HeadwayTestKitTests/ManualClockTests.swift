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
