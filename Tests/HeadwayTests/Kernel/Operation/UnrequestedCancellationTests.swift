import HeadwayTestKit
import HeadwayTestSupport
import Synchronization
import Testing

@testable import Headway

/// Code can throw a `CancellationError` without a request, for example in a child task with its own time limit.
@Suite("Cancellation errors without a request", .hangLimit) struct UnrequestedCancellationTests {
  private func expectFailure(_ operation: Headway.Operation) {
    guard case .failure(let error)? = operation.outcome else {
      Issue.record("\(operation) has not failed")
      return
    }
    #expect(error is CancellationError && operation.error is CancellationError && !operation.isCancelled)
  }

  /// Throws the error of a child task that was cancelled, as a time limit does.
  private static func childWithTimeLimit() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await Gate().untilOpenOrCancelled() }
      group.cancelAll()
      try await group.waitForAll()
    }
  }

  @Test("B5: an operation of each kind fails with the error, and the failure handler is called") func kinds()
    async throws
  {
    let (queue, reports) = (OperationQueue(), Counter())
    queue.failureHandler = { _, error in if error is CancellationError { reports.increment() } }
    let asynchronous = AsynchronousOperation()
    let value = AsynchronousValueOperation<Int>()
    let recording = AsynchronousOperation()
    let target = Target()
    let operations: [Headway.Operation] = [
      BlockOperation { throw CancellationError() },
      Throwing(),
      TaskOperation { throw CancellationError() },
      TaskOperation { try await Self.childWithTimeLimit() },
      TaskOperation(.retry(.never)) { throw CancellationError() },
      InvocationOperation(target: target, method: Target.fail),
      GroupOperation(operations: [BlockOperation { throw CancellationError() }]),
      GroupOperation(operations: [TaskOperation { try await Self.childWithTimeLimit() }]),
      asynchronous, value, recording,
    ]
    for operation in operations { queue.addOperation(operation) }
    queue.addOperation { throw CancellationError() }
    await until { asynchronous.isExecuting && value.isExecuting && recording.isExecuting }
    asynchronous.finish(throwing: CancellationError())
    value.finish(throwing: CancellationError())
    recording.recordError(CancellationError())
    recording.finish()
    try await queue.untilAllOperationsAreFinished()
    for operation in operations { expectFailure(operation) }
    #expect(reports.value == operations.count + 1)
  }

  private final class Target: Sendable {
    func fail() throws { throw CancellationError() }
  }

  private final class Throwing: Operation, @unchecked Sendable {
    override func main() throws { throw CancellationError() }
  }

  @Test("B5: if the cancellation was requested, the operation is cancelled") func requested() async throws {
    let queue = OperationQueue()
    let byOperation = queue.addTask { try await Gate().untilOpenOrCancelled() }
    let byItself = queue.addTask {
      withUnsafeCurrentTask { $0?.cancel() }
      try Task.checkCancellation()
    }
    let byAttempts = [nil, Duration.seconds(60)].map { timeout in
      let policy = OperationPolicy(timeout: timeout)
      return queue.addTask(.policy(policy), .retry(.constant(maxAttemptCount: 3, delay: .zero))) {
        withUnsafeCurrentTask { $0?.cancel() }
        try Task.checkCancellation()
      }
    }
    await until { byOperation.isExecuting }
    byOperation.cancel()
    for operation in [byOperation, byItself] + byAttempts {
      try await operation.untilFinished()
      #expect(operation.outcome.isCancelled)
    }
    #expect(byAttempts.allSatisfy { $0.attempt == 1 })
  }

  @Test("X2: an attempt that fails with the error is repeated, unless a cancellation was requested")
  func retried() async throws {
    let (queue, clock) = (OperationQueue(), ManualClock())
    queue.clock = clock
    let operation = queue.addTask(.timeout(.seconds(60)), .retry(.constant(maxAttemptCount: 3, delay: .zero))) {
      attempt in
      if attempt < 3 { try await Self.childWithTimeLimit() }
      return attempt
    }
    #expect(try await operation.value == 3)
    #expect(operation.attemptErrors.count == 2 && operation.attemptErrors.allSatisfy { $0 is CancellationError })
    let failing = queue.addTask(.retry(.constant(maxAttemptCount: 3, delay: .zero))) { throw CancellationError() }
    try await failing.untilFinished()
    expectFailure(failing)
    #expect(failing.attempt == 3)
  }

  @Test("X7: an attempt that fails with the error counts as a failure for a circuit breaker") func breaker()
    async throws
  {
    let queue = OperationQueue(on: ManualClock())
    queue.defaultKeyPolicy = KeyPolicy(circuitBreaker: CircuitBreaker(maxFailureCount: 2))
    for _ in 0..<2 {
      let operation = queue.addTask(.key("a")) { throw CancellationError() }
      try await operation.untilFinished()
    }
    #expect(queue.circuitBreakerState(forKey: "a") == .open)
  }

  @Test("D3: a dependent that requires success is cancelled because of a failure") func dependent() async throws {
    let queue = OperationQueue()
    let failing = queue.addTask { throw CancellationError() }
    let dependent = queue.addTask(.dependingOn(failing)) {}
    try await dependent.untilFinished()
    guard case .failure(let error as DependencyError)? = dependent.outcome else {
      Issue.record("\(dependent) has not failed")
      return
    }
    #expect(error.failedDependency === failing && error.underlyingError is CancellationError)
  }

  @Test("X5: all callers of a coalesced operation receive the error, and no share is cancelled")
  func coalesced() async throws {
    let (queue, gate) = (OperationQueue(limit: 1), Gate())
    let shares = (0..<3).map { _ in
      queue.addTask(coalescing: "page") {
        await gate.untilOpen()
        throw CancellationError()
      }
    }
    gate.open()
    for share in shares {
      await #expect(throws: CancellationError.self) { try await share.value }
      #expect(!share.isCancelled)
      expectFailure(share.operation)
    }
  }

  @Test("B4, B5: a scope, a map and results throw the error, and the operation that uses them fails")
  func scopes() async throws {
    let queue = OperationQueue()
    let scope = queue.addTask {
      try await withOperationQueue { queue in _ = queue.addTask { try await Self.childWithTimeLimit() } }
    }
    let bodyOfScope = queue.addTask {
      try await withOperationQueue { queue in
        let failing = queue.addTask { throw CancellationError() }
        try await failing.value
      }
    }
    let map = queue.addTask {
      _ = try await OperationQueue().concurrentMap(0..<4) { number in if number == 2 { throw CancellationError() } }
    }
    let results = queue.addTask {
      let results = OperationQueue().results(of: 0..<4) { number in if number == 2 { throw CancellationError() } }
      for try await _ in results {}
    }
    for user in [scope, bodyOfScope, map, results] {
      try await user.untilFinished()
      expectFailure(user)
    }
  }

  @Test("B5: a node of a graph that throws the error makes the graph fail") func graph() async throws {
    let graph = try OperationGraph { graph in
      graph.addNode("node") { throw CancellationError() }
    }
    let operation = graph.makeOperation()
    OperationQueue().addOperation(operation)
    try await operation.untilFinished()
    guard case .failure(let error as OperationGraphError)? = operation.outcome else {
      Issue.record("\(operation) has not failed")
      return
    }
    #expect(error.underlyingError is CancellationError)
  }
}

extension Gate {
  /// Waits until the task is cancelled.
  fileprivate func untilOpenOrCancelled() async throws {
    while !Task.isCancelled { await Task.yield() }
    try Task.checkCancellation()
  }
}
