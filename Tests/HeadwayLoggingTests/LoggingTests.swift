#if Observability
import Headway
import HeadwayLogging
import HeadwayTestKit
import HeadwayTestSupport
import InMemoryLogging
import Logging
import Synchronization
import Testing

private struct TestError: Error, CustomStringConvertible {
  var description: String { "no connection" }
}

@Suite("Logging", .hangLimit) struct LoggingTests {
  private let queue = OperationQueue(name: "work", maxConcurrentOperationCount: 1)
  private let handler = InMemoryLogHandler()

  private func logger(_ level: Logger.Level = .info, provider: Logger.MetadataProvider? = nil) -> Logger {
    var logger = Logger(label: "test") { [handler] _ in
      var handler = handler
      handler.metadataProvider = provider
      return handler
    }
    logger.logLevel = level
    return logger
  }

  private func lines(of operation: String) -> [InMemoryLogHandler.Entry] {
    handler.entries.filter { $0.metadata["operation"] == .string(operation) }
  }

  @Test("V1: a queue whose operations succeed, are cancelled or are retried logs nothing at the level info")
  func healthyQueueIsQuiet() async throws {
    queue.addLogger(logger())
    let attempts = queue.addTask("again", .retry(.constant(maxAttemptCount: 3, delay: .zero))) { attempt in
      if attempt < 3 { throw TestError() }
    }
    try await attempts.value
    queue.isSuspended = true
    let cancelled = queue.addTask("cancelled") {}
    cancelled.cancel()
    queue.isSuspended = false
    try await queue.untilAllOperationsAreFinished()
    #expect(handler.entries.isEmpty)
  }

  @Test("V10: a removed logger logs nothing about later operations, and nothing about the queue") func removal()
    async throws
  {
    let registration = queue.addLogger(logger(.trace))
    try await queue.addTask("first") {}.value
    registration.invalidate()
    try await queue.addTask("second") {}.value
    try await queue.untilAllOperationsAreFinished()
    await until { !lines(of: "first").isEmpty }
    #expect(lines(of: "second").isEmpty)
  }

  @Test("V1: a failure is one line with the queue, the operation, the error and the attempt")
  func failure() async throws {
    queue.addLogger(logger())
    queue.failureHandler = { _, _ in }
    let failed = queue.addTask("upload") { throw TestError() }
    let again = queue.addTask("again", .retry(.constant(maxAttemptCount: 2, delay: .zero))) { throw TestError() }
    try? await failed.value
    try? await again.value
    try await queue.untilAllOperationsAreFinished()
    let line = try #require(lines(of: "upload").first)
    #expect(lines(of: "upload").count == 1)
    #expect(line.level == .info && line.message == "Operation failed")
    #expect(line.metadata == ["queue": "work", "operation": "upload", "error": "no connection"])
    #expect(lines(of: "again").map { $0.metadata["attempt"] } == ["2"])
  }

  @Test("V1: each attempt that fails is a line at the level debug, with its number and its error")
  func retries() async throws {
    queue.addLogger(logger(.debug))
    let task = queue.addTask("again", .retry(.constant(maxAttemptCount: 3, delay: .zero))) { attempt in
      if attempt < 3 { throw TestError() }
    }
    try await task.value
    try await queue.untilAllOperationsAreFinished()
    let lines = lines(of: "again")
    #expect(lines.map(\.level) == [.debug, .debug])
    #expect(lines.map { $0.metadata["attempt"] } == ["1", "2"])
    #expect(lines.allSatisfy { $0.metadata["error"] == "no connection" })
  }

  @Test("V1: an operation that exceeds its time limit has its own message")
  func timeLimit() async throws {
    let clock = ManualClock()
    queue.clock = clock
    queue.failureHandler = { _, _ in }
    queue.addLogger(logger())
    let began = Gate()
    let task = queue.addTask("slow", .timeout(.seconds(1))) {
      began.open()
      try await clock.sleep(for: .seconds(100))
    }
    await began.untilOpen()
    await clock.waitForSleepers(count: 2)
    clock.advance(by: .seconds(1))
    try? await task.value
    try await queue.untilAllOperationsAreFinished()
    #expect(lines(of: "slow").map(\.message) == ["Operation exceeded its time limit"])
  }

  @Test("V1: operations that a failed dependency cancels are not logged as failures")
  func failedDependency() async throws {
    queue.addLogger(logger())
    queue.failureHandler = { _, _ in }
    queue.isSuspended = true
    let first = queue.addTask("first") { throw TestError() }
    for number in 0..<10 {
      let next = BlockOperation {}
      next.name = "next \(number)"
      next.addDependency(first, requiring: .success)
      queue.addOperation(next)
    }
    queue.isSuspended = false
    try await queue.untilAllOperationsAreFinished()
    #expect(handler.entries.map { $0.metadata["operation"] } == ["first"])
  }

  @Test("V1: the levels can be chosen, and nil disables a kind of line")
  func chosenLevels() async throws {
    var levels = OperationLogLevels()
    levels.failed = .critical
    levels.started = nil
    queue.addLogger(logger(.trace), levels: levels)
    queue.failureHandler = { _, _ in }
    try? await queue.addTask("upload") { throw TestError() }.value
    try await queue.addTask("fine") {}.value
    try await queue.untilAllOperationsAreFinished()
    #expect(handler.entries.map(\.level) == [.critical, .trace])
    #expect(handler.entries.map(\.message) == ["Operation failed", "Operation succeeded"])
  }

  @Test("V1: a stalled queue is a warning that names the operations of the cycle")
  func stall() async throws {
    queue.addLogger(logger())
    let (first, second) = (BlockOperation {}, BlockOperation {})
    (first.name, second.name) = ("first", "second")
    first.addDependency(second)
    second.addDependency(first)
    queue.addOperations([first, second], waitUntilFinished: false)
    await until { !handler.entries.isEmpty }
    let line = try #require(handler.entries.first)
    #expect(line.level == .warning)
    #expect(line.metadata["queue"] == "work")
    let orders: [Logger.MetadataValue] = [["first", "second"], ["second", "first"]]
    #expect(orders.contains { $0 == line.metadata["operations"] })
    first.cancel()
    try await queue.untilAllOperationsAreFinished()
  }

  @Test("V2: a line has the metadata that the provider returned for the code that added the operation")
  func metadataOfAddingCode() async throws {
    enum Request { @TaskLocal static var id: String? }
    let provider = Logger.MetadataProvider { Request.id.map { ["request": .string($0)] } ?? [:] }
    queue.addLogger(logger(provider: provider))
    queue.failureHandler = { _, _ in }
    queue.isSuspended = true
    for id in ["7", "8"] {
      Request.$id.withValue(id) {
        let operation = FailingOperation()
        operation.name = "upload \(id)"
        queue.addOperation(operation)
      }
    }
    queue.isSuspended = false
    try await queue.untilAllOperationsAreFinished()
    #expect(handler.entries.map { $0.metadata["operation"] } == ["upload 7", "upload 8"])
    #expect(handler.entries.map { $0.metadata["request"] } == ["7", "8"])
  }

  @Test("V7: a logger retains neither the queue nor its operations")
  func keepsNothing() async throws {
    weak var freedQueue: OperationQueue?
    weak var freedOperation: Operation?
    do {
      let queue = OperationQueue(name: "short")
      queue.addLogger(logger(.trace, provider: Logger.MetadataProvider { ["request": "7"] }))
      let operation = BlockOperation {}
      queue.addOperation(operation)
      try await operation.untilFinished()
      (freedQueue, freedOperation) = (queue, operation)
    }
    await until { freedQueue == nil && freedOperation == nil }
  }
}

private final class FailingOperation: Operation, @unchecked Sendable {
  override func main() throws { throw TestError() }
}
#endif
