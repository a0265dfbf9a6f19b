#if Observability
import Headway
import HeadwayMetrics
import HeadwayTestKit
import HeadwayTestSupport
import Metrics
import MetricsTestKit
import Testing

private struct TestError: Error {}

@Suite("Metrics", .hangLimit) struct MetricsTests {
  private let queue = OperationQueue(name: "work", maxConcurrentOperationCount: 1)
  private let metrics = TestMetrics()
  private let clock = ManualClock()

  private func depth(_ status: String) -> Double? {
    try? metrics.expectMeter("headway.queue.depth", [("queue", "work"), ("status", status)]).lastValue
  }

  private func count(_ status: String) -> Int64? {
    try? metrics.expectCounter("headway.operations", [("queue", "work"), ("status", status)]).totalValue
  }

  private func waitTimes() -> [Int64]? {
    try? metrics.expectTimer("headway.operation.waiting.duration", [("queue", "work")]).values
  }

  private func runTimes(_ status: String) -> [Int64]? {
    try? metrics.expectTimer("headway.operation.duration", [("queue", "work"), ("status", status)]).values
  }

  private func oldestWait() -> Double? {
    try? metrics.expectMeter("headway.queue.oldest.waiting.duration", [("queue", "work")]).lastValue
  }

  private func retries() -> Int64? {
    try? metrics.expectCounter("headway.operation.retries", [("queue", "work")]).totalValue
  }

  @Test("V3: the depth counts waiting and running operations, and returns to zero")
  func depthFollowsOperations() async throws {
    queue.recordMetrics(factory: metrics, clock: clock)
    let (began, gate) = (Gate(), Gate())
    queue.addTask {
      began.open()
      await gate.untilOpen()
    }
    await began.untilOpen()
    let last = queue.addTask {}
    queue.addTask {}.cancel()
    await until { depth("waiting") == 1 }
    #expect(depth("running") == 1)
    gate.open()
    try await last.value
    await until { depth("running") == 0 && depth("waiting") == 0 }
    await until { count("succeeded") == 2 && count("cancelled") == 1 }
  }

  @Test("V3: waiting and run times are measured with the clock, in nanoseconds")
  func times() async throws {
    queue.recordMetrics(factory: metrics, clock: clock)
    queue.isSuspended = true
    let clock = clock
    let task = queue.addTask { clock.advance(by: .seconds(3)) }
    clock.advance(by: .seconds(2))
    queue.isSuspended = false
    try await task.value
    await until { runTimes("succeeded")?.isEmpty == false }
    #expect(waitTimes() == [2_000_000_000])
    #expect(runTimes("succeeded") == [3_000_000_000])
  }

  @Test("V3: outcomes and retries are counted, and a retried operation waits between its attempts")
  func outcomesAndRetries() async throws {
    queue.clock = clock
    queue.failureHandler = { _, _ in }
    queue.recordMetrics(factory: metrics, clock: clock)
    let again = queue.addTask(.retry(.constant(maxAttemptCount: 2, delay: .seconds(5)))) { attempt in
      if attempt < 2 { throw TestError() }
    }
    await until { retries() == 1 && depth("waiting") == 1 }
    #expect(depth("running") == 0)
    // The task that measures, and the pause.
    await clock.waitForSleepers(count: 2)
    clock.advance(by: .seconds(5))
    try await again.value
    try? await queue.addTask { throw TestError() }.value
    await until { count("succeeded") == 1 && count("failed") == 1 }
    #expect(retries() == 1)
    // One operation has one waiting time, regardless of its attempts.
    #expect(waitTimes()?.count == 2)
    // The run time includes the pause.
    #expect(runTimes("succeeded") == [5_000_000_000])
    await until { depth("running") == 0 && depth("waiting") == 0 }
  }

  @Test("V3: the age of the oldest waiting operation grows even if nothing happens in the queue")
  func oldestWaitGrows() async throws {
    queue.recordMetrics(every: .seconds(10), factory: metrics, clock: clock)
    #expect(oldestWait() == 0)
    queue.isSuspended = true
    queue.addOperation {}
    await clock.waitForSleepers(count: 1)
    clock.advance(by: .seconds(10))
    // The task sleeps again when it has measured.
    await clock.waitForSleepers(count: 1)
    #expect(oldestWait() == 10)
    queue.addOperation {}
    clock.advance(by: .seconds(10))
    await clock.waitForSleepers(count: 1)
    #expect(oldestWait() == 20)
    queue.isSuspended = false
    try await queue.untilAllOperationsAreFinished()
    await until { depth("waiting") == 0 }
    clock.advance(by: .seconds(10))
    await clock.waitForSleepers(count: 1)
    #expect(oldestWait() == 0)
  }

  @Test("V10: after the recording has ended, operations change no metrics, and the age of the oldest operation is 0")
  func removal() async throws {
    let registration = queue.recordMetrics(every: .seconds(10), factory: metrics, clock: clock)
    try await queue.addTask {}.value
    await until { count("succeeded") == 1 }
    registration.invalidate()
    queue.isSuspended = true
    let last = queue.addTask {}
    #expect(depth("waiting") == 0 && oldestWait() == 0)
    queue.isSuspended = false
    try await last.value
    try await queue.untilAllOperationsAreFinished()
    #expect(count("succeeded") == 1)
  }

  @Test("V3: no dimension has a value for each operation")
  func fewTimeSeries() async throws {
    queue.recordMetrics(factory: metrics, clock: clock)
    for number in 0..<100 {
      let operation = BlockOperation {}
      operation.name = "operation \(number)"
      queue.addOperation(operation)
    }
    await until { count("succeeded") == 100 }
    #expect(metrics.counters.count == 4)
    #expect(metrics.timers.count == 4)
    #expect(metrics.meters.count == 3)
  }

  @Test("V3: the value of the dimension can be chosen, and a queue without a name also has a value")
  func nameOfDimension() throws {
    queue.recordMetrics(name: "chosen", factory: metrics, clock: clock)
    OperationQueue().recordMetrics(factory: metrics, clock: clock)
    let queues = Set(metrics.counters(label: "headway.operation.retries").map { $0.dimensions[0].1 })
    #expect(queues == ["chosen", "unnamed"])
  }

  @Test(
    "V3: each operation is counted once, no matter how it ends, when several threads add and cancel",
    arguments: [1, 2, 3] as [UInt64])
  func conservation(seed: UInt64) async throws {
    let queue = OperationQueue(name: "work", maxConcurrentOperationCount: 4)
    queue.recordMetrics(factory: metrics, clock: clock)
    queue.failureHandler = { _, _ in }
    let ignoredCount = await withTaskGroup(of: Int.self) { group in
      for adder in 0..<4 {
        group.addTask {
          var ignoredCount = 0
          var generator = SeededGenerator(seed: seed &* 10 &+ UInt64(adder))
          for _ in 0..<250 {
            let (fails, cancels) = (Int.random(in: 0..<5, using: &generator), Int.random(in: 0..<5, using: &generator))
            let operation = TaskOperation(.retry(.constant(maxAttemptCount: 2, delay: .zero))) { attempt in
              if fails == 0 || fails == 1 && attempt == 1 { throw TestError() }
            }
            // A queue ignores an operation that was cancelled before it was added.
            if cancels == 0 {
              operation.cancel()
              ignoredCount += 1
            }
            queue.addOperation(operation)
            if cancels == 1 { operation.cancel() }
          }
          return ignoredCount
        }
      }
      return await group.reduce(0, +)
    }
    try await queue.untilAllOperationsAreFinished()
    let counts = try ["succeeded", "failed", "cancelled"].map { try #require(count($0)) }
    #expect(counts.reduce(0, +) + Int64(ignoredCount) == 1_000)
    #expect(counts[0] > 0 && counts[1] > 0 && counts[2] > 0)
    await until { depth("waiting") == 0 && depth("running") == 0 }
  }

  @Test("V4: the metrics of threads count working, blocked, and sleeping threads until the task is cancelled")
  func threads() async throws {
    func threads(_ status: String) -> Double? {
      try? metrics.expectMeter("headway.threads", [("status", status)]).lastValue
    }
    let (began, gate) = (Gate(), Gate())
    queue.addOperation {
      began.open()
      gate.wait()
    }
    await began.untilOpen()
    let task = OperationQueue.recordThreadMetrics(every: .seconds(10), factory: metrics, clock: clock)
    let counts = try ["working", "blocked", "sleeping"].map { try #require(threads($0)) }
    #expect(counts[0] + counts[1] >= 1)
    await clock.waitForSleepers(count: 1)
    // The pool finds out that the thread is blocked.
    while threads("blocked") == 0 {
      clock.advance(by: .seconds(10))
      await clock.waitForSleepers(count: 1)
    }
    gate.open()
    task.cancel()
    await task.value
    #expect(clock.sleeperCount == 0)
  }

  @Test("V7: metrics retain neither the queue nor its operations, and the depth of a freed queue is zero")
  func keepsNothing() async throws {
    weak var freedQueue: OperationQueue?
    weak var freedOperation: Operation?
    do {
      let queue = OperationQueue(name: "work")
      queue.recordMetrics(factory: metrics, clock: clock)
      let operation = BlockOperation {}
      queue.addOperation(operation)
      try await operation.untilFinished()
      (freedQueue, freedOperation) = (queue, operation)
    }
    await until { freedQueue == nil && freedOperation == nil }
    await until { depth("waiting") == 0 && depth("running") == 0 }
    // The task that measures has ended.
    await until { clock.sleeperCount == 0 }
  }
}
#endif
