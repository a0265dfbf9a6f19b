import HeadwayTestKit
import HeadwayTestSupport
import Synchronization
import Testing

@testable import Headway

/// If operations are cancelled together, none of them starts because another operation ends first.
@Suite("Cancelling together", .hangLimit) struct CancellingTogetherTests {
  /// An operation that ends when it is cancelled.
  ///
  /// It returns from `cancel()` only after a pause that is long enough for another operation to start and finish.
  private final class EndsWhenCancelled: AsynchronousOperation, @unchecked Sendable {
    private let home: OperationQueue

    init(of queue: OperationQueue) { home = queue }

    override func main() {}

    override func cancel() {
      super.cancel()
      finish()
      home.runRound()
    }
  }

  /// An operation that must not run, and whose own `cancel()` must find it not cancelled.
  private class Waiting: Operation, @unchecked Sendable {
    override func main() { Issue.record("a waiting operation ran") }
  }

  private final class WaitingWithOverride: Waiting, @unchecked Sendable {
    let foundUncancelled = Atomic<Bool>(false)

    override func cancel() {
      if !isCancelled { foundUncancelled.store(true, ordering: .relaxed) }
      super.cancel()
    }
  }

  private func waiting(_ count: Int) -> [Headway.Operation] {
    (0..<count).map { number in
      switch number % 4 {
      case 0: Waiting()
      case 1: BlockOperation { Issue.record("a waiting block ran") }
      case 2: WaitingWithOverride()
      default: TaskOperation { Issue.record("a waiting task ran") }
      }
    }
  }

  enum Way: CaseIterable, Sendable { case all, drain, emptyDrain, progress, group }

  @Test("C6, C8, Q17: none of the waiting operations starts, no matter what code cancels them", arguments: Way.allCases)
  func waiting(way: Way) async throws {
    let group = GroupOperation(maxConcurrentOperationCount: 1)
    let queue = way == .group ? group.operationQueue : OperationQueue(limit: 1)
    let (outer, running) = (OperationQueue(), EndsWhenCancelled(of: queue))
    queue.addOperation(running)
    if way == .group { outer.addOperation(group) }
    await until { running.isExecuting }
    let operations = waiting(40)
    for operation in operations { queue.addOperation(operation) }
    for _ in 0..<200 { queue.addOperation { Issue.record("a waiting block ran") } }
    switch way {
    case .all: queue.cancelAllOperations()
    case .drain:
      let clock = ManualClock()
      let report = Task { await queue.drain(within: .seconds(1), clock: clock) }
      await clock.waitForSleepers(count: 1)
      clock.advance(by: .seconds(1))
      #expect(await report.value.cancelledCount == 241)
    case .emptyDrain: #expect(await queue.drain(within: .zero).cancelledCount == 241)
    case .progress: queue.progress.cancel()
    case .group: outer.cancelAllOperations()
    }
    try await queue.untilAllOperationsAreFinished()
    try await outer.untilAllOperationsAreFinished()
    #expect(operations.allSatisfy { $0.outcome.isCancelled })
    let overriding = operations.compactMap { $0 as? WaitingWithOverride }
    #expect(way == .group || overriding.allSatisfy { $0.foundUncancelled.load(ordering: .relaxed) })
  }

  @Test("C8: operations in groups of the queue do not start while earlier operations are cancelled")
  func groups() async throws {
    let queue = OperationQueue()
    let inner = GroupOperation(maxConcurrentOperationCount: 1)
    let outer = GroupOperation(operations: [inner])
    let (hasStarted, end) = (Gate(), Gate())
    inner.addOperation(
      BlockOperation {
        hasStarted.open()
        end.wait()
      })
    for operation in waiting(20) { inner.addOperation(operation) }
    let first = AsynchronousOperation()
    // The running operation of the inner group ends before that group is cancelled.
    let members = inner.operationQueue
    first.onCancel {
      end.open()
      #expect(eventually { members.operations.first?.isExecuting != true })
      members.runRound()
      first.finish()
    }
    queue.addOperations([GroupOperation(operations: [first]), outer], waitUntilFinished: false)
    await hasStarted.untilOpen()
    await until { first.isExecuting }
    queue.cancelAllOperations()
    try await queue.untilAllOperationsAreFinished()
    #expect(outer.outcome.isCancelled && inner.outcome.isCancelled)
  }

  @Test(
    "C8, B4: when an operation of a scope or a group fails, no other operation of the scope or group starts",
    arguments: [true, false])
  func failure(inGroup: Bool) async throws {
    let group = GroupOperation(maxConcurrentOperationCount: 1)
    let scope = ScopedOperationQueue()
    scope.maxConcurrentOperationCount = 1
    let queue = inGroup ? group.operationQueue : scope
    let outer = OperationQueue()
    let (started, failing) = (Gate(), Gate())
    queue.addOperation(
      BlockOperation {
        started.open()
        failing.wait()
        throw Mishap()
      })
    if inGroup { outer.addOperation(group) }
    await started.untilOpen()
    // It is evaluated after the failed operation has left the queue, and before the other operations are cancelled.
    let slow = SlowReadiness { queue.runRound() }
    queue.addOperation(slow)
    let operations = waiting(40)
    for operation in operations { queue.addOperation(operation) }
    slow.isSlow.store(true, ordering: .relaxed)
    failing.open()
    try await queue.untilAllOperationsAreFinished()
    try await outer.untilAllOperationsAreFinished()
    #expect(operations.allSatisfy { $0.outcome.isCancelled })
    #expect(!inGroup || group.error as? Mishap == Mishap())
  }

  private final class SlowReadiness: Operation, @unchecked Sendable {
    let isSlow = Atomic<Bool>(false)
    private let pause: @Sendable () -> Void

    init(_ pause: @escaping @Sendable () -> Void) { self.pause = pause }

    override var isReady: Bool {
      if isSlow.load(ordering: .relaxed) { pause() }
      return false
    }
  }

  /// An operation that ignores requests to cancel it, against the documentation.
  private final class Stubborn: Operation, @unchecked Sendable {
    let ran = Atomic<Bool>(false)
    override func cancel() {}
    override func main() { ran.store(true, ordering: .relaxed) }
  }

  @Test("C8: an operation whose cancel() does not cancel it starts later", arguments: [true, false])
  func stubborn(hasDependency: Bool) async throws {
    let (queue, dependency, stubborn) = (OperationQueue(limit: 1), AsynchronousOperation(), Stubborn())
    let end = queue.occupy()
    if hasDependency { stubborn.addDependency(dependency) }
    queue.addOperation(stubborn)
    queue.cancelAllOperations()
    #expect(!stubborn.isCancelled && queue.operations.contains(stubborn))
    dependency.finish()
    end.open()
    try await stubborn.untilFinished()
    #expect(stubborn.outcome.isSuccess && stubborn.ran.load(ordering: .relaxed))
  }

  @Test("C6: a handler may wait for an operation that is cancelled after it") func handlerWaits() {
    let queue = OperationQueue()
    queue.isSuspended = true
    let (first, second) = (BlockOperation {}, Waiting())
    first.onCancel { second.waitUntilFinished() }
    queue.addOperations([first, second], waitUntilFinished: false)
    queue.cancelAllOperations()
    queue.waitUntilAllOperationsAreFinished()
    #expect(second.outcome.isCancelled)
  }

  @Test("C6, Q13: no operations are created for cancelled blocks, which are freed and leave room for others")
  func blocks() async throws {
    let (queue, census) = (OperationQueue(), Crowd())
    queue.isSuspended = true
    queue.maxOperationCount = 1_000
    for _ in 0..<1_000 {
      let member = CountedMember(census)
      queue.addOperation {
        Issue.record("a cancelled block ran")
        withExtendedLifetime(member) {}
      }
    }
    let task = Task { try await queue.addTaskWhenBelowLimit { 7 } }
    await until { queue.state.withLock { $0.producers.areWaiting } }
    let waitingCount = queue.state.withLock { $0.admission.waitingBlocks.count }
    let stopped = queue.stopAll()
    // In the meantime, a snapshot of all queues by another test can create operations for some blocks.
    #expect(stopped.blockCount == waitingCount || waitingCount < 1_000)
    // Not the whole queue again: the task is added as soon as the blocks have left.
    for operation in stopped.operations { operation.cancel() }
    stopped.finish()
    queue.isSuspended = false
    #expect(try await task.value.value == 7)
    queue.addOperation {}
    try await queue.untilAllOperationsAreFinished()
    #expect(census.eventuallyEmpty())
  }

  @Test("C6, Q14: a listener receives the end of each cancelled block") func events() async {
    let queue = OperationQueue()
    queue.isSuspended = true
    for _ in 0..<10 { queue.addOperation {} }
    var events = queue.events.makeAsyncIterator()
    for _ in 0..<10 { queue.addOperation {} }
    queue.cancelAllOperations()
    var ended = 0
    while ended < 20, let event = await events.next() { if case .finished = event { ended += 1 } }
    #expect(ended == 20)
  }
}

extension OperationQueue {
  /// Gives the queue's workers the opportunity to start its operations and returns when they would have run.
  ///
  /// The workers take an operation of another queue only after they have found nothing to do in this one.
  func runRound() {
    update { _ in }
    for _ in 0..<3 { OperationQueue().addOperations([BlockOperation {}], waitUntilFinished: true) }
  }

  fileprivate func stopAll() -> StoppedOperations {
    var effects = Effects()
    defer { effects.perform() }
    return stop(leaving: &effects)
  }
}
