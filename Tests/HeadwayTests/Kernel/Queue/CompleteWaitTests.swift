import Dispatch
import HeadwayTestKit
import Synchronization
import Testing

@testable import Headway

/// When an asynchronous wait returns, all reports of the end are complete; blocking waits do not require work that
/// might need their thread.
@Suite("Complete waits", .hangLimit) struct CompleteWaitTests {
  /// How a task waits.
  enum Wait: String, CaseIterable {
    case queue, operation, value, success, run
  }

  private func wait(_ wait: Wait, for operation: TaskOperation<Int>, of queue: OperationQueue) async throws {
    switch wait {
    case .queue: try await queue.untilAllOperationsAreFinished()
    case .operation: try await operation.untilFinished()
    case .value: _ = try? await operation.value
    case .success: try? await operation.untilSucceeded()
    case .run: break
    }
  }

  @Test("W3, Q6: an asynchronous wait includes the failure handler", arguments: Wait.allCases, [false, true])
  func failure(kind: Wait, isObserved: Bool) async throws {
    for _ in 0..<20 {
      let (queue, told) = (OperationQueue(), Counter())
      let (begun, go) = (Gate(), Gate())
      queue.failureHandler = { _, _ in
        begun.open()
        go.wait()
        told.increment()
      }
      let operation = TaskOperation<Int> { throw Mishap() }
      let token = isObserved ? operation.observe(\.isFinished) { _, _ in } : nil
      if kind != .run { queue.addOperation(operation) }
      let seen = Task {
        if kind == .run {
          _ = try? await queue.run(operation)
        } else {
          try await wait(kind, for: operation, of: queue)
        }
        return told.value
      }
      await begun.untilOpen()
      go.open()
      #expect(try await seen.value == 1)
      withExtendedLifetime(token) {}
    }
  }

  @Test("W2, Q6: a blocking wait does not include the failure handler, which might need the blocked thread")
  func blocking() {
    let (queue, returned, done) = (OperationQueue(), Gate(), Gate())
    queue.failureHandler = { _, _ in
      returned.wait()
      done.open()
    }
    let operation = BlockOperation { throw Mishap() }
    queue.addOperations([operation], waitUntilFinished: true)
    operation.waitUntilFinished()
    queue.waitUntilAllOperationsAreFinished()
    returned.open()
    done.wait()
    queue.failureHandler = nil
  }

  @Test("W3, Q6: a failure handler can wait for a task that waits for the failed operation", arguments: Wait.allCases)
  func inside(kind: Wait) async throws {
    let (queue, done) = (OperationQueue(), Gate())
    let operation = TaskOperation<Int> { throw Mishap() }
    queue.failureHandler = { _, _ in
      let waited = Gate()
      Task {
        try await wait(kind, for: operation, of: queue)
        waited.open()
      }
      waited.wait()
      done.open()
    }
    queue.addOperation(operation)
    await done.untilOpen()
    try await queue.untilAllOperationsAreFinished()
    queue.failureHandler = nil
  }

  @Test("W3: a failure handler can wait for code that reads the value of the failed operation") func dependent() {
    let (queue, done, returned) = (OperationQueue(), Gate(), Gate())
    let operation = TaskOperation<Int> { throw Mishap() }
    let dependent = TaskOperation { _ = try? await operation.value }
    dependent.addDependency(operation)
    queue.failureHandler = { failed, _ in
      guard failed === operation else { return }
      done.wait()
      returned.open()
    }
    dependent.completionBlock = { done.open() }
    queue.addOperations([operation, dependent], waitUntilFinished: false)
    returned.wait()
    queue.waitUntilAllOperationsAreFinished()
    queue.failureHandler = nil
  }

  /// How the task of an operation waits for the code that reports call and that waits for the operation.
  enum InnerWait: CaseIterable { case queue, queueWithObserver, scope, startedByHand }

  @Test(
    "W3, Q6: a wait inside an operation does not include calls that might wait for it", arguments: InnerWait.allCases)
  func insideOperation(kind: InnerWait) async throws {
    let (queue, other) = (OperationQueue(), OperationQueue())
    let waiting = Mutex<TaskOperation<Void>?>(nil)
    let report: @Sendable () -> Void = { waiting.withLock { $0 }?.waitUntilFinished() }
    let operation = TaskOperation<Void> {
      guard kind == .scope else { return try await other.untilAllOperationsAreFinished() }
      try? await withOperationQueue { queue in
        queue.failureHandler = { _, _ in report() }
        queue.addOperation { throw Mishap() }
      }
    }
    waiting.withLock { $0 = operation }
    if kind != .queueWithObserver { other.failureHandler = { _, _ in report() } }
    let token = other.observe(\.operationCount) { other, _ in
      if kind == .queueWithObserver, other.operationCount == 0 { report() }
    }
    // Otherwise, this thread could call the observer: it would wait for an operation that it has not started.
    other.isSuspended = true
    other.addOperation { throw Mishap() }
    if kind == .startedByHand { operation.start() } else { queue.addOperation(operation) }
    other.isSuspended = false
    try await operation.untilFinished()
    try await other.untilAllOperationsAreFinished()
    waiting.withLock { $0 = nil }
    other.failureHandler = nil
    token.invalidate()
  }

  @Test("W3, C7: a task that waits for failure handlers stops waiting when it is cancelled")
  func cancelled() async throws {
    let (queue, begun, go) = (OperationQueue(), Gate(), Gate())
    queue.failureHandler = { _, _ in
      begun.open()
      go.wait()
    }
    let operation = BlockOperation { throw Mishap() }
    queue.addOperation(operation)
    await begun.untilOpen()
    let waits = [
      Task { try await queue.untilAllOperationsAreFinished() }, Task { try await operation.untilFinished() },
    ]
    for wait in waits {
      wait.cancel()
      await #expect(throws: CancellationError.self) { try await wait.value }
    }
    go.open()
    try await queue.untilAllOperationsAreFinished()
    try await operation.untilFinished()
  }

  @Test("Q6, Q14: after the asynchronous wait for a queue, its observers have been notified of everything")
  func recorder() async throws {
    for _ in 0..<100 {
      let queue = OperationQueue()
      let recorder = EventRecorder(observing: queue)
      let counts = EventRecorder(observing: queue, at: \.operationCount)
      let (first, second) = (BlockOperation {}, BlockOperation {})
      second.addDependency(first)
      queue.addOperations([first, second], waitUntilFinished: false)
      try await queue.untilAllOperationsAreFinished()
      #expect(recorder.events.last == .finished(second) && counts.events.last == 0)
    }
  }

  @Test("K2: a recorder and a token wait for their pending notifications") func untilDelivered() async {
    for _ in 0..<100 {
      let queue = OperationQueue()
      let recorder = EventRecorder(observing: queue)
      let count = Mutex(-1)
      let token = queue.observe(\.operationCount) { queue, _ in count.withLock { $0 = queue.operationCount } }
      let operation = BlockOperation {}
      queue.addOperation(operation)
      try? await operation.untilFinished()
      await recorder.untilDelivered()
      await token.untilDelivered()
      #expect(recorder.events.last == .finished(operation) && count.withLock { $0 } == 0)
      token.invalidate()
      await token.untilDelivered()
    }
  }

  @Test("K2: a token waits for the calls at the end of an operation") func tokenOfOperation() async {
    for _ in 0..<200 {
      let (queue, ended) = (OperationQueue(), Gate())
      let operation = BlockOperation {}
      let token = operation.observe(\.isFinished) { _, _ in ended.open() }
      queue.addOperation(operation)
      try? await queue.untilAllOperationsAreFinished()
      await token.untilDelivered()
      #expect(ended.isOpen)
    }
  }

  @Test("K2: a token whose operation was freed has nothing to wait for") func tokenOfFreedOperation() async throws {
    for _ in 0..<5 {
      let queue = OperationQueue()
      let tokens = (0..<1000).map { _ in
        let operation = BlockOperation {}
        defer { queue.addOperation(operation) }
        return operation.observe(\.isFinished) { _, _ in }
      }
      try await queue.untilAllOperationsAreFinished()
      // Overwrites the memory of the operations.
      let others = (0..<8000).map { [UInt](repeating: .max, count: 10 + $0 % 20) }
      for token in tokens { await token.untilDelivered() }
      withExtendedLifetime(others) {}
    }
  }

  @Test("K2: a token of a progress waits for pending calls of its observer") func tokenOfProgress() async throws {
    for _ in 0..<200 {
      let (queue, last) = (OperationQueue(), EventRecorder<Double>())
      queue.progress.totalUnitCount = 3
      let token = queue.progress.onChange { last.record($0.fractionCompleted) }
      for _ in 1...3 { queue.addOperation {} }
      try await queue.untilAllOperationsAreFinished()
      await token.untilDelivered()
      #expect(last.events.last == 1)
    }
  }

  @Test("K2: the wait of a recorder ends after the call in progress") func underWay() {
    let queue = OperationQueue()
    let (begun, go, order) = (Gate(), Gate(), EventRecorder<String>())
    let token = queue.observe(\.operationCount) { queue, _ in
      guard queue.operationCount == 0 else { return }
      begun.open()
      go.wait()
      order.record("called")
    }
    // The operation ends after it was added, so the call that waits is on the operation's thread, not on this one.
    let isAdded = Gate()
    queue.addOperation { isAdded.wait() }
    isAdded.open()
    begun.wait()
    onThreads(2) { number in
      if number == 0 {
        token.waitUntilDelivered()
        order.record("delivered")
      } else {
        go.open()
      }
    }
    #expect(order.events == ["called", "delivered"])
    token.invalidate()
  }

  @Test("Q6: an observer of a queue can wait for a task that waits for the queue") func insideObserver() async {
    let (queue, done) = (OperationQueue(), Gate())
    let token = queue.observe(\.operationCount) { queue, _ in
      guard queue.operationCount == 0 else { return }
      let waited = Gate()
      Task {
        try await queue.untilAllOperationsAreFinished()
        waited.open()
      }
      waited.wait()
      done.open()
    }
    // The operation ends after it was added, so the observer blocks the operation's thread, not this task's.
    let isAdded = Gate()
    queue.addOperation { isAdded.wait() }
    isAdded.open()
    await done.untilOpen()
    token.invalidate()
  }
}
