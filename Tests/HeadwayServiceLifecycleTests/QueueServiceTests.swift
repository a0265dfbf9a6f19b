#if Observability
import Headway
import HeadwayServiceLifecycle
import HeadwayTestKit
import HeadwayTestSupport
import InMemoryLogging
import Logging
import ServiceLifecycle
import ServiceLifecycleTestKit
import Synchronization
import Testing

@Suite("Queue service", .hangLimit) struct QueueServiceTests {
  private typealias Result = (drained: DrainReport, left: [String])

  private let queue = OperationQueue(name: "work", maxConcurrentOperationCount: 1)
  private let clock = ManualClock()
  private let handler = InMemoryLogHandler()

  private var logger: Logger {
    var logger = Logger(label: "test") { _ in handler }
    logger.logLevel = .debug
    return logger
  }

  @Test("V8: in a graceful shutdown, the queue finishes running and waiting operations, and accepts no others")
  func drainsGracefully() async throws {
    let (began, gate) = (Gate(), Gate())
    let running = queue.addTask("running") {
      began.open()
      await gate.untilOpen()
      return 1
    }
    let waiting = queue.addTask("waiting") { 2 }
    await began.untilOpen()
    let result = Mutex<Result?>(nil)
    let service = QueueService(
      queue, gracePeriod: .seconds(20), logger: logger, clock: clock, onDrain: { result.set(($0, $1)) })
    try await testGracefulShutdown { trigger in
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await service.run() }
        trigger.triggerGracefulShutdown()
        await until { queue.isClosed }
        let late = BlockOperation {}
        queue.addOperation(late)
        #expect(late.error is QueueClosedError)
        gate.open()
        try await group.waitForAll()
      }
    }
    #expect(try await running.value == 1)
    #expect(try await waiting.value == 2)
    let (drained, left) = try #require(result.withLock { $0 })
    #expect(drained.isComplete && drained.finishedCount == 2)
    #expect(left.isEmpty)
    #expect(handler.entries.map(\.level) == [.debug, .debug])
    #expect(handler.entries.last?.metadata["finished"] == "2")
  }

  @Test("V8: after the grace period, the service cancels, waits for the cancelled operations, and reports the rest")
  func cancelsAfterGracePeriod() async throws {
    let (began, gate) = (Gate(), Gate())
    let stuck = queue.addTask("stuck") {
      began.open()
      await gate.untilOpen()
    }
    let waiting = queue.addTask("waiting") {}
    await began.untilOpen()
    let result = Mutex<Result?>(nil)
    let service = QueueService(
      queue, gracePeriod: .seconds(20), cancellationPeriod: .seconds(2), logger: logger, clock: clock,
      onDrain: { result.set(($0, $1)) })
    try await testGracefulShutdown { trigger in
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await service.run() }
        trigger.triggerGracefulShutdown()
        await clock.waitForSleepers(count: 1)
        #expect(!stuck.isCancelled)
        clock.advance(by: .seconds(20))
        await clock.waitForSleepers(count: 1)
        #expect(stuck.isCancelled && waiting.isCancelled)
        #expect(result.withLock { $0 == nil })
        clock.advance(by: .seconds(2))
        try await group.waitForAll()
      }
    }
    let (drained, left) = try #require(result.withLock { $0 })
    #expect(drained.finishedCount == 0 && drained.cancelledCount == 2)
    #expect(left.count == 1 && left[0].contains("stuck"))
    let warning = try #require(handler.entries.last)
    #expect(warning.level == .warning)
    #expect(warning.metadata["queue"] == "work" && warning.metadata["cancelled"] == "2")
    gate.open()
    try await queue.untilAllOperationsAreFinished()
  }

  @Test("V8: a cancelled operation that ends in the cancellation period is not reported as left")
  func waitsForCancelledOperations() async throws {
    let began = Gate()
    queue.addTask("cooperative") {
      began.open()
      try await clock.sleep(for: .seconds(1_000))
    }
    await began.untilOpen()
    let result = Mutex<Result?>(nil)
    let service = QueueService(queue, gracePeriod: .zero, clock: clock, onDrain: { result.set(($0, $1)) })
    try await testGracefulShutdown { trigger in
      trigger.triggerGracefulShutdown()
      try await service.run()
    }
    let (drained, left) = try #require(result.withLock { $0 })
    #expect(drained.cancelledCount == 1)
    #expect(left.isEmpty)
  }

  @Test("V8: if the service is cancelled, both periods end immediately, and the service does not fail")
  func cancelledService() async throws {
    let (began, gate) = (Gate(), Gate())
    queue.addTask("stuck") {
      began.open()
      await gate.untilOpen()
    }
    await began.untilOpen()
    let result = Mutex<Result?>(nil)
    let service = QueueService(queue, gracePeriod: .seconds(20), clock: clock, onDrain: { result.set(($0, $1)) })
    let task = Task { try await service.run() }
    task.cancel()
    try await task.value
    #expect(clock.now.offset == .zero)
    #expect(result.withLock { $0?.drained.cancelledCount } == 1)
    gate.open()
    try await queue.untilAllOperationsAreFinished()
  }

  @Test("V8: in a service group, the queue is drained after the services that follow it have ended")
  func orderInGroup() async throws {
    let events = Mutex<[String]>([])
    let queue = queue
    let service = QueueService(queue, clock: clock, onDrain: { _, _ in events.withLock { $0.append("queue") } })
    let server = LateService(queue: queue) { event in events.withLock { $0.append(event) } }
    let group = ServiceGroup(services: [service, server], logger: logger)
    let running = Task { try await group.run() }
    await server.started.untilOpen()
    await group.triggerGracefulShutdown()
    try await running.value
    #expect(events.withLock { $0 } == ["server", "last request", "queue"])
  }
}

/// A service that adds an operation when it shuts down, like a server that answers its last request.
private struct LateService: Service {
  let queue: OperationQueue
  let record: @Sendable (String) -> Void
  let started = Gate()

  init(queue: OperationQueue, record: @escaping @Sendable (String) -> Void) {
    (self.queue, self.record) = (queue, record)
  }

  func run() async throws {
    started.open()
    try await gracefulShutdown()
    record("server")
    let record = record
    queue.addOperation { record("last request") }
  }
}

extension Mutex where Value: Sendable {
  fileprivate borrowing func set(_ value: Value) { withLock { $0 = value } }
}
#endif
