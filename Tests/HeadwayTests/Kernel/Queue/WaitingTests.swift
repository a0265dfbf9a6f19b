import HeadwayTestKit
import Synchronization
import Testing

@testable import Headway

@Suite("Waiting", .hangLimit, .serialized) struct WaitingTests {
  @Test(
    "W1: the completion block runs exactly once, on a pool thread, and is released",
    arguments: ["queue", "by hand", "failed", "cancelled in a queue", "cancelled in none", "cancelled while it runs"])
  func completionBlock(kind: String) {
    let queue = OperationQueue()
    let operation = SelfAware { operation in
      if kind == "failed" { throw Mishap() }
      if kind == "cancelled while it runs" { operation.cancel() }
    }
    let (completed, calls, captured) = (Gate(), EventRecorder<String>(), Crowd())
    do {
      let capture = Captured(captured)
      let caller = ThreadIdentity()
      operation.completionBlock = {
        _ = capture
        calls.record("pool \(Worker.current != nil), caller \(caller.isCurrent), finished \(operation.isFinished)")
        completed.open()
      }
    }
    switch kind {
    case "by hand": operation.start()
    case "cancelled in none": operation.cancel()
    case "cancelled in a queue":
      queue.isSuspended = true
      queue.addOperation(operation)
      operation.cancel()
    default: queue.addOperation(operation)
    }
    completed.wait()
    operation.waitUntilFinished()
    operation.cancel()
    operation.start()
    #expect(operation.completionBlock == nil)
    #expect(captured.eventuallyEmpty())
    #expect(calls.events == ["pool true, caller false, finished true"])
  }

  @Test("W1: an operation can set its own completion block, and can replace it before it ends") func setFromInside() {
    let calls = EventRecorder<Int>()
    let completed = Gate()
    let operation = SelfAware { operation in
      operation.completionBlock = {
        calls.record(2)
        completed.open()
      }
    }
    operation.completionBlock = { calls.record(1) }
    OperationQueue().addOperation(operation)
    completed.wait()
    #expect(calls.events == [2])
  }

  @Test(
    "W1: a queue counts the completion blocks of operations that have left it, until they have returned",
    arguments: [1, -1], ["plain", "observed", "failed", "cancelled"])
  func dueCompletions(limit: Int, kind: String) {
    let queue = OperationQueue(maxConcurrentOperationCount: limit)
    let (mayReturn, called) = (Gate(), EventRecorder<Int>())
    let operations = (0..<10).map { _ in SelfAware { _ in if kind == "failed" { throw Mishap() } } }
    var tokens: [KeyValueObservation] = []
    queue.isSuspended = true
    for (number, operation) in operations.enumerated() {
      if kind == "observed" { tokens.append(operation.observe(\.isFinished) { _, _ in }) }
      // Others have details without a completion block.
      if number.isMultiple(of: 2) {
        operation.completionBlock = {
          mayReturn.wait()
          called.record(number)
        }
      } else {
        operation.name = "\(number)"
      }
      queue.addOperation(operation)
      if kind == "cancelled" { operation.cancel() }
    }
    queue.isSuspended = false
    // It gives them a moment and does not depend on them.
    queue.waitUntilAllOperationsAreFinished()
    #expect(eventually { queue.dueCompletions.load(ordering: .acquiring) == 5 })
    mayReturn.open()
    #expect(eventually { queue.dueCompletions.load(ordering: .acquiring) == 0 })
    #expect(called.events.sorted() == [0, 2, 4, 6, 8])
    withExtendedLifetime(tokens) {}
  }

  @Test(
    "W1: a completion block that is set after the operation has finished is released immediately",
    arguments: [true, false])
  func setAfterEnd(isQueued: Bool) {
    let operation = BlockOperation {}
    if isQueued { OperationQueue().addOperations([operation], waitUntilFinished: true) } else { operation.start() }
    let captured = Crowd()
    do {
      let capture = Captured(captured)
      operation.completionBlock = {
        _ = capture
        Issue.record("called after the end")
      }
    }
    #expect(operation.completionBlock == nil && captured.now == 0)
  }

  @Test("W2: when waitUntilFinished() returns, the queue has been left and dependents are ready") func wait() {
    let queue = OperationQueue()
    queue.progress.totalUnitCount = 1
    let end = Gate()
    let operation = BlockOperation { end.wait() }
    let dependent = BlockOperation {}
    dependent.addDependency(operation)
    queue.addOperation(operation)
    let woken = EventRecorder<Int>()
    let waiters = OperationQueue()
    let meeting = Meeting(of: 9)
    for number in 0..<8 {
      waiters.addOperation {
        meeting.attend()
        operation.waitUntilFinished()
        #expect(queue.operationCount == 0 && dependent.isReady && queue.progress.isFinished)
        woken.record(number)
      }
    }
    meeting.attend()
    #expect(woken.count == 0)
    end.open()
    waiters.waitUntilAllOperationsAreFinished()
    #expect(woken.count == 8)
    operation.waitUntilFinished()
  }

  @Test("W2: addOperations(_:waitUntilFinished: true) waits for all of them") func waitForBatch() {
    let queue = OperationQueue()
    let done = EventRecorder<Int>()
    let operations = (0..<100).map { number in BlockOperation { done.record(number) } }
    queue.addOperations(operations, waitUntilFinished: true)
    #expect(done.count == 100 && operations.allSatisfy { $0.isFinished })
  }

  @Test("W3: untilFinished() suspends the task until the operation has finished, and returns immediately afterwards")
  func await() async throws {
    let end = Gate()
    let operation = BlockOperation { end.wait() }
    OperationQueue().addOperation(operation)
    let task = Task {
      try await operation.untilFinished()
      return operation.isFinished
    }
    while !operation.state.current.hasWaiters { await Task.yield() }
    #expect(!operation.isFinished)
    end.open()
    #expect(try await task.value)
    try await operation.untilFinished()
  }

  @Test("W3: cancelling the task stops the wait, and the operation continues") func cancelledTask() async throws {
    let end = Gate()
    let operation = BlockOperation { end.wait() }
    let queue = OperationQueue()
    queue.addOperation(operation)
    for isWaiting in [true, false] {
      let task = Task { try await operation.untilFinished() }
      while isWaiting && !operation.state.current.hasWaiters { await Task.yield() }
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
    }
    let ofQueue = Task { try await queue.untilAllOperationsAreFinished() }
    ofQueue.cancel()
    await #expect(throws: CancellationError.self) { try await ofQueue.value }
    #expect(!operation.isFinished && !operation.isCancelled)
    end.open()
    try await operation.untilFinished()
    #expect(!operation.isCancelled)
  }

  @Test("W4: an operation that waits for itself is reported", arguments: ["queue", "by hand", "block", "nested"])
  func waitsForItself(kind: String) async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [kind] in
      let operation = Located()
      operation.name = "narcissus"
      let meeting = Meeting(of: kind == "block" ? 2 : 1)
      for _ in 0..<(kind == "block" ? 2 : 1) {
        operation.addExecutionBlock {
          meeting.attend()
          switch kind {
          case "nested": BlockOperation { operation.waitUntilFinished() }.start()
          case "block": if !operation.isOnItsThread { operation.waitUntilFinished() }
          default: operation.waitUntilFinished()
          }
        }
      }
      if kind == "by hand" { return operation.start() }
      OperationQueue().addOperations([operation], waitUntilFinished: true)
    }
    #expect(result.message.contains("waitUntilFinished() on “narcissus” (executing) from inside its main()"))
  }

  @Test("W4: an operation that waits for all operations of its queue is reported") func waitsForItsQueue() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let queue = OperationQueue()
      queue.name = "loop"
      queue.addOperations([BlockOperation { queue.waitUntilAllOperationsAreFinished() }], waitUntilFinished: true)
    }
    #expect(
      result.message.contains(
        "waitUntilAllOperationsAreFinished() on queue “loop” from inside one of its operations"))
  }

  @Test("W4: waiting for another queue from inside an operation is allowed") func waitsForAnotherQueue() {
    let (outer, inner) = (OperationQueue(limit: 1), OperationQueue(limit: 1))
    let record = EventRecorder<Int>()
    outer.addOperation {
      inner.addOperation { record.record(1) }
      inner.waitUntilAllOperationsAreFinished()
      record.record(2)
    }
    outer.waitUntilAllOperationsAreFinished()
    #expect(record.events == [1, 2])
  }

  @Test("W5: 200 operations that each wait for a nested operation do not starve the pool", arguments: [1, 2, 3])
  func nest(queueCount: Int) {
    let queues = (0..<queueCount).map { _ in OperationQueue() }
    let record = EventRecorder<Int>()
    Nest(queues: queues, record: record).descend(from: 200)
    #expect(record.events == Array(0...200))
    for queue in queues { queue.waitUntilAllOperationsAreFinished() }
  }

  /// Each level adds the next level to a queue and waits for it.
  private struct Nest: Sendable {
    let queues: [OperationQueue]
    let record: EventRecorder<Int>

    func descend(from level: Int) {
      if level > 0 {
        let inner = BlockOperation { descend(from: level - 1) }
        queues[level % queues.count].addOperation(inner)
        inner.waitUntilFinished()
      }
      record.record(level)
    }
  }

  @Test("W5: a tree in which every operation waits for two nested operations does not starve the pool") func tree() {
    let queue = OperationQueue()
    let leaves = Atomic<Int>(0)
    @Sendable func grow(_ level: Int) {
      if level == 0 {
        leaves.add(1, ordering: .relaxed)
        return
      }
      let branches = (0..<2).map { _ in BlockOperation { grow(level - 1) } }
      queue.addOperations(branches, waitUntilFinished: true)
    }
    grow(7)
    #expect(leaves.load(ordering: .relaxed) == 128)
  }

  @Test(
    "W1: a completion block can read its operation's dependencies, which are released afterwards",
    arguments: [false, true])
  func dependenciesInCompletionBlock(isCancelled: Bool) {
    let queue = OperationQueue()
    let dependency = BlockOperation {}
    let operation = BlockOperation {}
    operation.addDependency(dependency)
    let found = EventRecorder<[Headway.Operation]>()
    operation.completionBlock = { [unowned operation] in found.record(operation.dependencies) }
    queue.addOperation(operation)
    if isCancelled { operation.cancel() } else { queue.addOperation(dependency) }
    #expect(eventually { found.events == [[dependency]] && operation.dependencies.isEmpty })
    dependency.start()
  }
}

/// Records the thread that runs `main()`, as opposed to blocks that other threads help with.
private final class Located: BlockOperation, @unchecked Sendable {
  private let thread = Mutex<ThreadIdentity?>(nil)

  var isOnItsThread: Bool { thread.withLock { $0 }?.isCurrent == true }

  override func main() {
    thread.withLock { $0 = ThreadIdentity() }
    super.main()
  }
}

/// An object that a block captures; the crowd counts these objects.
final class Captured: Sendable {
  private let census: Crowd

  init(_ census: Crowd) {
    self.census = census
    census.enter()
  }

  deinit { census.leave() }
}
