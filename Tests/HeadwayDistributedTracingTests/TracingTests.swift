#if Observability
import Headway
import HeadwayDistributedTracing
import HeadwayTestKit
import HeadwayTestSupport
import InMemoryTracing
import Synchronization
import Testing
import Tracing

private struct TestError: Error {}

@Suite("Distributed tracing", .hangLimit) struct TracingTests {
  private let queue = OperationQueue(name: "work")
  private let tracer = InMemoryTracer()

  /// The spans of an operation and its attempts, when all have ended.
  private func spans(
    of name: String, attempts count: Int
  ) async throws -> (FinishedInMemorySpan, [FinishedInMemorySpan]) {
    await until { tracer.finishedSpans.contains { $0.operationName == name } }
    let operation = try #require(tracer.finishedSpans.first { $0.operationName == name })
    let attempts = tracer.finishedSpans.filter { $0.operationName == "attempt" && $0.parentSpanID == operation.spanID }
    #expect(attempts.count == count)
    return (operation, attempts)
  }

  @Test("V5: the span of an operation is a child of the caller's span and the parent of its attempt's span")
  func parents() async throws {
    queue.recordSpans(with: tracer)
    let request = tracer.startSpan("request")
    ServiceContext.withValue(request.context) {
      let operation = BlockOperation {}
      operation.name = "decode"
      queue.addOperation(operation)
    }
    let (operation, attempts) = try await spans(of: "decode", attempts: 1)
    request.end()
    #expect(operation.parentSpanID == request.spanID && operation.traceID == request.traceID)
    #expect(operation.attributes.get("headway.queue.name") == .string("work"))
    #expect(operation.attributes.get("headway.operation.type") == .string("BlockOperation"))
    #expect(operation.attributes.get("headway.operation.status") == .string("succeeded"))
    #expect(attempts[0].attributes.get("headway.operation.attempt") == .int64(1))
    #expect(operation.errors.isEmpty && operation.status == nil)
  }

  @Test("V5: the span of an operation begins a trace if the code that adds it has no span")
  func withoutParent() async throws {
    queue.recordSpans(with: tracer)
    queue.addTask("first") {}
    queue.addTask("second") {}
    let (first, _) = try await spans(of: "first", attempts: 1)
    let (second, _) = try await spans(of: "second", attempts: 1)
    #expect(first.parentSpanID == nil && second.parentSpanID == nil)
    #expect(first.traceID != second.traceID)
  }

  @Test("V10: after the recording has ended, operations have no spans") func removal() async throws {
    let registration = queue.recordSpans(with: tracer)
    queue.addTask("first") {}
    _ = try await spans(of: "first", attempts: 1)
    registration.invalidate()
    try await queue.addTask("second") {}.value
    try await queue.untilAllOperationsAreFinished()
    #expect(!tracer.finishedSpans.contains { $0.operationName == "second" })
  }

  @Test("V5: each attempt has a span, and the span of a failed attempt contains the error")
  func attempts() async throws {
    queue.recordSpans(with: tracer)
    queue.failureHandler = { _, _ in }
    let again = queue.addTask("again", .retry(.constant(maxAttemptCount: 3, delay: .zero))) { attempt in
      if attempt < 3 { throw TestError() }
    }
    try await again.value
    let (operation, attempts) = try await spans(of: "again", attempts: 3)
    #expect(attempts.map { $0.attributes.get("headway.operation.attempt") } == [.int64(1), .int64(2), .int64(3)])
    #expect(attempts.map(\.errors.count) == [1, 1, 0])
    #expect(attempts.map { $0.status?.code } == [.error, .error, nil])
    #expect(operation.status == nil)
  }

  @Test("V5: the spans of a failed operation contain its error, and a cancelled operation's span has its status")
  func ends() async throws {
    queue.recordSpans(with: tracer)
    queue.failureHandler = { _, _ in }
    queue.addTask("fails") { throw TestError() }
    let (failed, attempts) = try await spans(of: "fails", attempts: 1)
    #expect(failed.errors.count == 1 && attempts[0].errors.count == 1)
    #expect(failed.errors.first?.error is TestError)
    #expect(failed.status?.code == .error && attempts[0].status?.code == .error)
    #expect(failed.attributes.get("headway.operation.status") == .string("failed"))
    queue.isSuspended = true
    queue.addTask("waits") {}.cancel()
    let (cancelled, _) = try await spans(of: "waits", attempts: 0)
    #expect(cancelled.status == nil && cancelled.errors.isEmpty)
    #expect(cancelled.attributes.get("headway.operation.status") == .string("cancelled"))
  }

  @Test("V6: spans that the work starts are children of the attempt's span, on all threads and in tasks")
  func contextInWork() async throws {
    queue.recordSpans(with: tracer)
    let tracer = tracer
    @Sendable func work(_ name: String) { tracer.startSpan(name).end() }
    let block = BlockOperation { work("in block") }
    block.name = "block"
    let subclass = Subclass { work("in main") }
    subclass.name = "subclass"
    let asynchronous = AsynchronousSubclass { work("in task") }
    asynchronous.name = "asynchronous"
    queue.addOperations([block, subclass, asynchronous], waitUntilFinished: false)
    queue.addTask("task") {
      await Task.yield()
      async let child: Void = work("in child")
      await child
    }
    queue.addTask("again", .retry(.constant(maxAttemptCount: 2, delay: .zero))) { attempt in
      work("in attempt \(attempt)")
      if attempt == 1 { throw TestError() }
    }
    try await queue.untilAllOperationsAreFinished()
    let pairs = [
      ("block", "in block"), ("subclass", "in main"), ("asynchronous", "in task"), ("task", "in child"),
      ("again", "in attempt 1"), ("again", "in attempt 2"),
    ]
    for (operation, inside) in pairs {
      let (_, attempts) = try await spans(of: operation, attempts: operation == "again" ? 2 : 1)
      let span = try #require(tracer.finishedSpans.first { $0.operationName == inside })
      let attempt = inside == "in attempt 2" ? attempts[1] : attempts[0]
      #expect(span.parentSpanID == attempt.spanID, "\(inside)")
    }
  }

  @Test("V6: the span of an operation that another operation adds is a child of that operation's attempt")
  func nestedOperations() async throws {
    queue.recordSpans(with: tracer)
    let queue = queue
    queue.addTask("outer") { _ = queue.addTask("inner") {} }
    let (outer, attempts) = try await spans(of: "outer", attempts: 1)
    let (inner, _) = try await spans(of: "inner", attempts: 1)
    #expect(inner.parentSpanID == attempts[0].spanID && inner.traceID == outer.traceID)
  }

  @Test("V6: a tracer that records nothing propagates the service context")
  func contextWithoutTracer() async throws {
    queue.recordSpans(with: NoOpTracer())
    var context = ServiceContext.topLevel
    context[RequestKey.self] = "7"
    let found = Mutex<String?>(nil)
    let operation = BlockOperation { found.withLock { $0 = ServiceContext.current?[RequestKey.self] } }
    ServiceContext.withValue(context) { queue.addOperation(operation) }
    try await operation.untilFinished()
    #expect(found.withLock { $0 } == "7")
  }

  @Test("V5: each span ends, even if the queue is freed with its operations")
  func freedQueue() async throws {
    do {
      let queue = OperationQueue(name: "freed")
      queue.recordSpans(with: tracer)
      queue.isSuspended = true
      queue.addTask("never") {}.cancel()
      for number in 0..<10 { queue.addTask("\(number)") {} }
      queue.cancelAllOperations()
    }
    await until { tracer.activeSpans.isEmpty }
    #expect(tracer.finishedSpans.count == 11)
  }

  @Test("V5: the spans of many operations end, even if several threads add and cancel", arguments: [1, 2] as [UInt64])
  func manyOperations(seed: UInt64) async throws {
    queue.recordSpans(with: tracer)
    queue.failureHandler = { _, _ in }
    let queue = queue
    await withTaskGroup(of: Void.self) { group in
      for adder in 0..<4 {
        group.addTask {
          var generator = SeededGenerator(seed: seed &* 10 &+ UInt64(adder))
          for _ in 0..<250 {
            let choice = Int.random(in: 0..<4, using: &generator)
            let operation = TaskOperation(.retry(.constant(maxAttemptCount: 2, delay: .zero))) { attempt in
              if choice == 0 && attempt == 1 { throw TestError() }
            }
            operation.name = "many"
            queue.addOperation(operation)
            if choice == 1 { operation.cancel() }
          }
        }
      }
    }
    try await queue.untilAllOperationsAreFinished()
    await until { tracer.activeSpans.isEmpty }
    #expect(tracer.finishedSpans.count { $0.operationName == "many" } == 1_000)
  }

  @Test("V7: spans retain neither the queue nor its operations")
  func keepsNothing() async throws {
    weak var freedQueue: OperationQueue?
    weak var freedOperation: Operation?
    do {
      let queue = OperationQueue(name: "short")
      queue.recordSpans(with: tracer)
      let operation = BlockOperation {}
      queue.addOperation(operation)
      try await operation.untilFinished()
      (freedQueue, freedOperation) = (queue, operation)
    }
    await until { freedQueue == nil && freedOperation == nil }
  }
}

private enum RequestKey: ServiceContextKey {
  typealias Value = String
}

private final class Subclass: Operation, @unchecked Sendable {
  let work: () -> Void
  init(work: @escaping () -> Void) { self.work = work }
  override func main() { work() }
}

private final class AsynchronousSubclass: AsynchronousOperation, @unchecked Sendable {
  let work: @Sendable () -> Void
  init(work: @escaping @Sendable () -> Void) { self.work = work }
  override func main() {
    Task {
      work()
      finish()
    }
  }
}
#endif
