import Dispatch
import HeadwayTestKit
import HeadwayTestSupport
import Testing

@testable import Headway

@Suite("Group operation: failures and cancellation", .hangLimit) struct GroupCancellationTests {
  @Test("B4: the first failure becomes the group's error, and cancels all other operations, even later ones")
  func failure() async throws {
    let queue = OperationQueue()
    let failed = EventRecorder<String>()
    queue.failureHandler = { operation, _ in failed.record(operation.name ?? "") }
    let begun = Gate()
    let endless = TaskOperation {
      begun.open()
      try await Task.sleep(for: .seconds(3_600))
    }
    let late = BlockOperation { Issue.record("runs") }
    let group = GroupOperation(name: "failing", operations: [endless])
    group.operationQueue.addTask {
      await begun.untilOpen()
      throw Mishap()
    }
    await #expect(throws: Mishap.self) { try await queue.run(group) }
    #expect(endless.isCancelled && endless.isFinished && group.error is Mishap && !group.isCancelled)
    group.addOperation(late)
    #expect(late.isCancelled)
    #expect(failed.events == ["failing"])
    // An operation that was cancelled separately is not a failure.
    let cancelled = BlockOperation {}
    let other = GroupOperation(operations: [cancelled, BlockOperation {}])
    cancelled.cancel()
    try await queue.run(other)
  }

  @Test("B4, C7: cancelling a group in any state cancels its operations, and it finishes after them")
  func cancelled() async throws {
    final class OwnState: Operation, @unchecked Sendable {
      private let ended = Gate()
      override var isFinished: Bool { ended.isOpen }
      override func start() {
        willChangeValue(forKey: "isFinished")
        ended.open()
        didChangeValue(forKey: "isFinished")
      }
    }
    func members() -> [Operation] {
      let operations = [
        BlockOperation { Issue.record("runs") }, TaskOperation { Issue.record("runs") }, OwnState(),
        AsynchronousOperation(),
      ]
      operations[1].addDependency(operations[0])
      return operations
    }
    // In no queue; in a suspended one; waiting for a dependency.
    for state in 0..<3 {
      for _ in 0..<50 {
        let operations = members()
        let group = GroupOperation(operations: operations)
        let queue = OperationQueue()
        if state > 0 {
          queue.isSuspended = state == 1
          if state == 2 { group.addDependency(BlockOperation {}) }
          queue.addOperation(group)
        }
        group.cancel()
        try await group.untilFinished()
        #expect(operations.allSatisfy { $0.isFinished && $0.isCancelled } && group.isCancelled)
        #expect(group.operationQueue.operationCount == 0)
      }
    }
    // While it runs.
    let begun = Gate()
    let endless = TaskOperation {
      begun.open()
      try await Task.sleep(for: .seconds(3_600))
    }
    let group = GroupOperation(operations: [endless])
    OperationQueue().addOperation(group)
    await begun.untilOpen()
    group.cancel()
    await #expect(throws: CancellationError.self) { try await group.untilSucceeded() }
    #expect(endless.isCancelled && endless.isFinished)
  }

  @Test("B4, K2: observers and handlers can wait for a cancelled group, or for the operations of a failed group")
  func observersWait() async throws {
    let (begun, waited, handled) = (Gate(), Gate(), Gate())
    let endless = AsynchronousOperation()
    endless.onCancel { endless.finish() }
    let group = GroupOperation(operations: [endless, BlockOperation { begun.open() }])
    let token = group.observe(\.isCancelled) { group, _ in
      group.waitUntilFinished()
      waited.open()
    }
    group.onCancel {
      group.waitUntilFinished()
      handled.open()
    }
    OperationQueue().addOperation(group)
    await begun.untilOpen()
    await until { endless.isExecuting }
    OperationQueue().addOperation { group.cancel() }
    await waited.untilOpen()
    await handled.untilOpen()

    let (other, started, seen) = (AsynchronousOperation(), Gate(), Gate())
    other.onCancel { other.finish() }
    let failing = GroupOperation(
      operations: [
        other,
        BlockOperation {
          started.wait()
          throw Mishap()
        },
      ])
    let ofCount = failing.operationQueue.observe(\.operationCount, options: [.new]) { _, change in
      guard change.newValue == 1 else { return }
      other.waitUntilFinished()
      seen.open()
    }
    OperationQueue().addOperation(failing)
    await until { other.isExecuting }
    started.open()
    await seen.untilOpen()
    await #expect(throws: Mishap.self) { try await failing.untilSucceeded() }
    withExtendedLifetime((token, ofCount)) {}
  }

  @Test("B4, K2: observers of the last operation are notified even if observers of the group block")
  func lastObservers() async {
    let (goOn, told) = (Gate(), Gate())
    let member = BlockOperation {}
    let ofMember = member.observe(\.isFinished) { _, _ in told.open() }
    let group = GroupOperation(operations: [member])
    let ofGroup = group.observe(\.isFinished) { _, _ in goOn.wait() }
    OperationQueue().addOperation(group)
    await told.untilOpen()
    goOn.open()
    withExtendedLifetime((ofMember, ofGroup)) {}
  }

  @Test("B4: operations added to a group that has failed are cancelled, even by an observer of its end")
  func addedLate() async {
    let late = BlockOperation { Issue.record("runs") }
    let added = Gate()
    let group = GroupOperation(operations: [BlockOperation { throw Mishap() }])
    let token = group.observe(\.isFinished) { group, _ in
      group.addOperation(late)
      added.open()
    }
    OperationQueue().addOperation(group)
    await added.untilOpen()
    #expect(late.isCancelled)
    withExtendedLifetime(token) {}
  }

  @Test("B4, C5, Q9: a group's cancelled operations with cancellation code run where the group would run")
  func cancelledElsewhere() async throws {
    final class OwnStart: Operation, @unchecked Sendable {
      let wasHere = Gate()
      let key: DispatchSpecificKey<Int>
      init(_ key: DispatchSpecificKey<Int>) { self.key = key }
      override func start() {
        if DispatchQueue.getSpecific(key: key) == 1 { wasHere.open() }
        super.start()
      }
    }
    let (key, dispatchQueue, queue) = (DispatchSpecificKey<Int>(), DispatchQueue(label: "test"), OperationQueue())
    dispatchQueue.setSpecific(key: key, value: 1)
    queue.underlyingQueue = dispatchQueue
    queue.maxConcurrentOperationCount = 1
    let gate = Gate()
    queue.addOperation { gate.wait() }
    let member = OwnStart(key)
    let group = GroupOperation(operations: [member])
    queue.addOperation(group)
    group.cancel()
    gate.open()
    try await group.untilFinished()
    #expect(member.wasHere.isOpen && member.isFinished)
  }
}
