import Dispatch
import HeadwayTestKit
import HeadwayTestSupport
import Synchronization
import Testing

@testable import Headway

@Suite("Group operation", .hangLimit) struct GroupOperationTests {
  @Test("B4: a group begins when it starts, and finishes when all of its operations have finished")
  func whole() async throws {
    let queue = OperationQueue()
    let events = EventRecorder<String>()
    let first = BlockOperation { events.record("first") }
    let second = BlockOperation { events.record("second") }
    second.addDependency(first)
    let before = BlockOperation { events.record("before") }
    let group = GroupOperation(name: "pair", operations: [second, first])
    group.addDependency(before)
    let after = BlockOperation { events.record("after") }
    after.addDependency(group)
    #expect(group.isAsynchronous && group.operationQueue.name == "pair" && group.operationQueue.operationCount == 2)
    queue.addOperations([after, group, before], waitUntilFinished: false)
    try await group.untilSucceeded()
    #expect(first.isFinished && second.isFinished && group.operationQueue.operationCount == 0)
    try await after.untilFinished()
    #expect(events.events == ["before", "first", "second", "after"])
  }

  @Test("B4: a group without operations finishes, and so does a group that is started manually")
  func edges() async throws {
    let queue = OperationQueue()
    let empty = GroupOperation()
    try await queue.run(empty)
    #expect(empty.error == nil && !empty.isCancelled)
    let byHand = GroupOperation(operations: [BlockOperation {}])
    byHand.start()
    try await byHand.untilSucceeded()
  }

  @Test("B4: a group keeps its slot in the limit, has its own limit, and occupies no thread")
  func place() async throws {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 2
    let (groups, members) = (Crowd(), Crowd())
    let all = (0..<40).map { _ in
      let entrance = BlockOperation { groups.enter() }
      let group = GroupOperation(maxConcurrentOperationCount: 3, operations: [entrance])
      let exit = BlockOperation { groups.leave() }
      for _ in 0..<20 {
        let member = BlockOperation {
          members.enter()
          yieldThread()
          members.leave()
        }
        member.addDependency(entrance)
        exit.addDependency(member)
        group.addOperation(member)
      }
      group.addOperation(exit)
      return group
    }
    queue.addOperations(all, waitUntilFinished: false)
    try await queue.untilAllOperationsAreFinished()
    #expect(groups.most <= 2 && members.most <= 6)

    let (gate, many) = (Gate(), OperationQueue())
    let waiting = (0..<1_000).map { _ in GroupOperation(operations: [TaskOperation { await gate.untilOpen() }]) }
    many.addOperations(waiting, waitUntilFinished: false)
    await until { waiting.allSatisfy { $0.isExecuting } }
    gate.open()
    try await many.untilAllOperationsAreFinished()
  }

  @Test("B4: operations can be added to a running group from anywhere, and the group never ends before them")
  func grows() async throws {
    let count = Counter()
    @Sendable func spread(_ depth: Int) {
      count.increment()
      guard depth > 0, let queue = OperationQueue.current else { return }
      queue.addOperation { spread(depth - 1) }
      queue.addOperations([BlockOperation { spread(depth - 1) }], waitUntilFinished: false)
    }
    let group = GroupOperation { $0.addOperation { spread(9) } }
    try await OperationQueue().run(group)
    #expect(count.value == 1_023)

    for round in 0..<200 {
      let (queue, added) = (OperationQueue(), Counter())
      let group = GroupOperation { $0.addOperation {} }
      let others = BlockOperation {
        // While it is a member, the group can't end.
        DispatchQueue.concurrentPerform(iterations: 2) { _ in
          for _ in 0..<round % 10 { group.operationQueue.addOperation { added.increment() } }
        }
      }
      group.addOperation(others)
      try await queue.run(group)
      #expect(added.value == 2 * (round % 10))
    }
  }

  @Test("B4: a subclass adds operations in main(); an error that it throws fails the group")
  func subclass() async throws {
    final class Plan: GroupOperation, @unchecked Sendable {
      let count = Counter()
      let fails: Bool
      init(fails: Bool) {
        self.fails = fails
        super.init()
      }

      override func main() throws {
        for _ in 0..<10 { operationQueue.addOperation { self.count.increment() } }
        operationQueue.waitUntilAllOperationsAreFinished()
        guard fails else { return }
        operationQueue.addTask { try await Task.sleep(for: .seconds(3_600)) }
        throw Mishap()
      }
    }
    let plan = Plan(fails: false)
    try await OperationQueue().run(plan)
    #expect(plan.count.value == 10)
    let failing = Plan(fails: true)
    await #expect(throws: Mishap.self) { try await OperationQueue().run(failing) }
    #expect(failing.operationQueue.operationCount == 0)
  }

  @Test("B4, O7: the description of a failed group names the operation that failed first") func failedDescription() {
    let group = GroupOperation(name: "import", operations: [BlockOperation(name: "parse") { throw Mishap() }])
    let outer = GroupOperation(name: "all", operations: [group])
    OperationQueue().addOperations([outer], waitUntilFinished: true)
    #expect(outer.description == "“all” (failed in “parse”: \(Mishap()))")
    #expect(group.description == "“import” (failed in “parse”: \(Mishap()))")
    #expect(group.diagnosis == "“import” has failed in “parse”: \(Mishap())")
  }

  @Test("B4, Q10: the progress of a group counts its operations, including their fractions, and grows with them")
  func progress() async throws {
    let (reached, gate) = (Gate(), Gate())
    let half = BlockOperation {}
    let group = GroupOperation(maxConcurrentOperationCount: 1, operations: [half])
    let second = TaskOperation {
      reached.open()
      await gate.untilOpen()
    }
    second.addDependency(half)
    group.addOperation(second)
    #expect(group.progress.totalUnitCount == 2 && group.progress.fractionCompleted == 0)
    let queue = OperationQueue()
    queue.progress.totalUnitCount = 2
    queue.addOperation(group)
    await reached.untilOpen()
    #expect(group.progress.fractionCompleted == 0.5 && queue.progress.fractionCompleted == 0.25)
    group.operationQueue.addOperation {}
    group.operationQueue.addOperation {}
    #expect(group.progress.totalUnitCount == 4)
    gate.open()
    try await group.untilFinished()
    #expect(group.progress.fractionCompleted == 1 && queue.progress.fractionCompleted == 0.5)
    // Cancelling the progress cancels the group.
    let other = GroupOperation { $0.addTask { try await Task.sleep(for: .seconds(3_600)) } }
    queue.addOperation(other)
    other.progress.cancel()
    try await other.untilFinished()
    #expect(other.isCancelled)
  }

  @Test("B4, P3, P5: a group's operations run at the group's quality of service, and are raised with the group")
  func quality() async throws {
    let queue = OperationQueue()
    let (reached, gate) = (Gate(), Gate())
    let group = GroupOperation { queue in
      queue.addTask {
        reached.open()
        await gate.untilOpen()
      }
    }
    group.qualityOfService = .utility
    queue.addOperation(group)
    await reached.untilOpen()
    #expect(group.operationQueue.qualityOfService == .utility)
    let urgent = BlockOperation {}
    urgent.qualityOfService = .userInteractive
    urgent.addDependency(group)
    #expect(group.operationQueue.qualityOfService == .userInteractive)
    gate.open()
    try await queue.run(urgent)
  }

  @Test("B4, Q9: a group's operations run on the same threads or dispatch queue as its queue's operations")
  func executor() async {
    let queue = OperationQueue()
    let executor = StepExecutor()
    executor.control(queue)
    let count = Counter()
    let group = GroupOperation { queue in
      for _ in 0..<5 { queue.addOperation { count.increment() } }
    }
    queue.addOperation(group)
    #expect(count.value == 0)
    executor.runSteps()
    #expect(count.value == 5 && group.isFinished)
    // Released without having run, like its operations.
    let released = WeakReference<BlockOperation>()
    do {
      let operation = BlockOperation {}
      released.object = operation
      _ = GroupOperation(operations: [operation])
    }
    await until { released.object == nil }
  }

  @Test("B4, W4: an operation that depends on its own group is part of a cycle, which a diagnosis names")
  func cycle() async throws {
    let queue = OperationQueue()
    let group = GroupOperation(name: "ring")
    let member = BlockOperation(name: "member")
    member.addDependency(group)
    group.addOperation(member)
    queue.addOperation(group)
    await until { member.firstDependencyCycle().map { Set($0) } == [group, member] }
    #expect(group.diagnosis.hasPrefix("“ring” is executing: it waits for all operations of queue “ring”, in a"))
    member.cancel()
    try await group.untilSucceeded()
  }

  @Test("B4, Q13: a task that waits to add an operation to a group keeps the group from ending")
  func producer() async throws {
    for _ in 0..<100 {
      let (gate, ran) = (Gate(), Counter())
      let group = GroupOperation { queue in queue.addTask { await gate.untilOpen() } }
      group.operationQueue.maxOperationCount = 1
      OperationQueue().addOperation(group)
      let producer = Task { try await group.operationQueue.addOperationWhenBelowLimit { ran.increment() } }
      await until { group.operationQueue.state.withLock { $0.producers.areWaiting } }
      gate.open()
      try await producer.value
      try await group.untilSucceeded()
      #expect(ran.value == 1)
    }
  }

  @Test("B4, O3: group subclasses that manage their own state finish with their operations")
  func ownStates() async throws {
    final class Own: GroupOperation, @unchecked Sendable {
      let ended = Gate()
      override var isFinished: Bool { ended.isOpen }
      override func main() throws { throw Mishap() }
    }
    final class Early: GroupOperation, @unchecked Sendable {
      private let ended = Gate()
      override var isFinished: Bool { ended.isOpen }
      override func start() {
        willChangeValue(forKey: "isFinished")
        ended.open()
        didChangeValue(forKey: "isFinished")
      }
    }
    let queue = OperationQueue()
    let own = Own()
    queue.addOperation(own)
    await #expect(throws: Mishap.self) { try await own.untilSucceeded() }
    let released = WeakReference<BlockOperation>()
    do {
      let member = BlockOperation { Issue.record("runs") }
      released.object = member
      queue.addOperation(Early(operations: [member]))
    }
    try await queue.untilAllOperationsAreFinished()
    await until { released.object == nil }
  }

  @Test("B4, Q10: the progress of a group is complete when the group has finished, and not before")
  func wholeProgress() async throws {
    let cancelled = BlockOperation {}
    cancelled.cancel()
    let group = GroupOperation(operations: [cancelled, BlockOperation {}])
    try await OperationQueue().run(group)
    #expect(group.progress.totalUnitCount == 1 && group.progress.isFinished)

    final class Growing: GroupOperation, @unchecked Sendable {
      let (reached, goOn) = (Gate(), Gate())
      override func main() {
        addOperation(BlockOperation {})
        operationQueue.waitUntilAllOperationsAreFinished()
        reached.open()
        goOn.wait()
        addOperation(BlockOperation {})
      }
    }
    let queue = OperationQueue()
    queue.progress.totalUnitCount = 1
    let growing = Growing()
    queue.addOperation(growing)
    await growing.reached.untilOpen()
    #expect(!growing.progress.isFinished && !queue.progress.isFinished && queue.progress.completedUnitCount == 0)
    growing.goOn.open()
    try await queue.untilAllOperationsAreFinished()
    #expect(growing.progress.isFinished && queue.progress.isFinished)
    // A user's handler stays.
    let handled = Gate()
    let other = GroupOperation()
    other.operationQueue.progress.cancellationHandler = { handled.open() }
    other.progress.cancel()
    #expect(handled.isOpen)
  }
}
