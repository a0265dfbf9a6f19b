import HeadwayTestKit
import HeadwayTestSupport
import Testing

@testable import Headway

/// Operations that need resources, in batches: their threads acquire the resources without a queue's lock.
@Suite("Exclusive resources in batches", .hangLimit) struct ResourceBatchTests {
  private func operation(
    _ exclusive: Set<String>, shared: Set<String> = [], _ block: @escaping @Sendable () throws -> Void = {}
  ) -> BlockOperation {
    let operation = BlockOperation(block: block)
    operation.policy = OperationPolicy(exclusiveResources: exclusive, sharedResources: shared)
    return operation
  }

  /// A queue whose operations run only when a test runs a batch, and its executor.
  private func makeQueue() -> (OperationQueue, VisitExecutor) {
    let (queue, executor) = (OperationQueue(), VisitExecutor())
    queue.executor = executor
    return (queue, executor)
  }

  @Test("X1: each operation of a batch holds its resources while it runs, and releases them before the next one begins")
  func holds() {
    let (queue, executor) = makeQueue()
    let names = ["holds 1", "holds 2"]
    let policy = OperationPolicy(exclusiveResources: ["holds 2"], sharedResources: ["holds 3"])
    let resources = Resource.enterList(names)
    let uses = EventRecorder<[Bool]>()
    for _ in 0..<3 { queue.addOperation(operation(["holds 1"]) { uses.record(resources.map { !$0.isUnused }) }) }
    let last = BlockOperation { uses.record(resources.map { !$0.isUnused }) }
    last.policy = policy
    queue.addOperation(last)
    executor.runBatch(of: queue)
    #expect(uses.events == [[true, false], [true, false], [true, false], [false, true]])
    #expect(queue.operationCount == 0 && resources.allSatisfy { $0.isUnused })
    Resource.leaveList(resources)
  }

  @Test("X1: an operation of a batch waits for a resource that is in use, and the batch's other operations run")
  func inUse() async throws {
    let (queue, executor) = makeQueue()
    let (busy, started, go, order) = (OperationQueue(), Gate(), Gate(), EventRecorder<String>())
    let holder = operation(["in use"]) {
      started.open()
      go.wait()
    }
    busy.addOperation(holder)
    await started.untilOpen()
    let waiting = operation(["in use"]) { order.record("waiting") }
    queue.addOperation { order.record("first") }
    queue.addOperation(waiting)
    queue.addOperation { order.record("last") }
    executor.runBatch(of: queue)
    #expect(order.events == ["first"])
    #expect(waiting.diagnosis.contains("waits for the resource “in use”, which is used by"))
    executor.runSteps()
    #expect(order.events == ["first", "last"])
    go.open()
    try await holder.untilFinished()
    await until { executor.waitingCount > 0 }
    executor.runSteps()
    #expect(order.events == ["first", "last", "waiting"])
  }

  @Test("X1: when an operation of a batch ends, an operation of another queue gets its resource", arguments: [1, 2])
  func offers(nameCount: Int) async throws {
    let (queue, executor) = makeQueue()
    let (other, names) = (OperationQueue(), Set((0..<nameCount).map { "offers \(nameCount) \($0)" }))
    let waiting = operation(names)
    queue.addOperation(
      operation(names) {
        other.addOperation(waiting)
        while other.state.withLock({ _ in waiting.admission.place }) != .gated { yieldThread() }
      })
    let isOver = Gate()
    // The batch's thread has not taken the lock of its queue since the first operation ended.
    queue.addOperation {
      waiting.waitUntilFinished()
      isOver.open()
    }
    executor.runBatch(of: queue)
    #expect(isOver.isOpen)
  }

  /// The event before an operation of a batch begins.
  enum Change: CaseIterable { case cancelled, observed, dependencyAdded }

  @Test(
    "X1, C1, D1, K2: an operation that changes before its batch begins it keeps no resource",
    arguments: Change.allCases)
  func changed(change: Change) {
    let (queue, executor) = makeQueue()
    let (name, dependency, starts) = ("changed \(change)", BlockOperation {}, Counter())
    let resources = Resource.enterList([name])
    let victim = operation([name]) { starts.increment() }
    queue.addOperation {}
    queue.addOperation(victim)
    var token: KeyValueObservation?
    executor.runBatch(of: queue) {
      switch change {
      case .cancelled: victim.cancel()
      case .observed: token = victim.observe(\.isExecuting) { _, _ in }
      case .dependencyAdded: victim.addDependency(dependency)
      }
    }
    #expect(resources[0].isUnused)
    queue.addOperation(dependency)
    executor.runSteps()
    #expect(victim.isFinished && queue.operationCount == 0 && resources[0].isUnused)
    #expect(starts.value == (change == .cancelled ? 0 : 1))
    token?.invalidate()
    Resource.leaveList(resources)
  }

  @Test("X1, O7: an operation of a batch releases its resources if it fails or has a completion block")
  func failing() {
    let (queue, executor) = makeQueue()
    queue.failureHandler = nil
    let resources = Resource.enterList(["failing in a batch"])
    let operations = (0..<3).map { number in
      operation(["failing in a batch"]) { if number == 1 { throw Mishap() } }
    }
    operations[2].completionBlock = {}
    queue.addOperations(operations, waitUntilFinished: false)
    executor.runBatch(of: queue)
    executor.runSteps()
    #expect(operations.allSatisfy { $0.isFinished } && operations[1].error is Mishap && resources[0].isUnused)
    Resource.leaveList(resources)
  }

  @Test("X1: at random, on several threads and in several queues, no resource is used twice and none remains in use")
  func random() async throws {
    let first = environmentNumber("HEADWAY_STRESS_SEED") ?? 1
    for seed in first..<first + (environmentNumber("HEADWAY_STRESS_ROUNDS") ?? 20) {
      noteProgress(of: "Resources in batches", "HEADWAY_STRESS_SEED=\(seed)")
      try await randomRound(seed: seed)
    }
  }

  private func randomRound(seed: Int) async throws {
    let queues = [1, 2, -1].map { OperationQueue(limit: $0) }
    let names = (0..<3).map { "random \(seed) \($0)" }
    let resources = Resource.enterList(names)
    let (users, sharers) = (names.map { _ in Crowd() }, names.map { _ in Crowd() })
    let (complaints, runs) = (EventRecorder<String>(), Counter())
    let all = (0..<3).map { part -> [BlockOperation] in
      var random = SeededGenerator(seed: UInt64(seed * 3 + part))
      return (0..<150).map { number in
        let numbers = Array(names.indices.shuffled(using: &random).prefix(number % 4 == 0 ? 2 : 1))
        let sharesLast = Int.random(in: 0..<3, using: &random) == 0
        let (exclusive, shared) = (sharesLast ? Array(numbers.dropLast()) : numbers, sharesLast ? [numbers.last!] : [])
        let operation = operation(Set(exclusive.map { names[$0] }), shared: Set(shared.map { names[$0] })) {
          for number in exclusive { users[number].enter() }
          for number in shared { sharers[number].enter() }
          if exclusive.contains(where: { sharers[$0].now > 0 }) || shared.contains(where: { users[$0].now > 0 }) {
            complaints.record("a sharer and an exclusive user")
          }
          if number % 10 == 0 { yieldThread() }
          for number in exclusive { users[number].leave() }
          for number in shared { sharers[number].leave() }
          runs.increment()
        }
        if number % 20 == 0 { operation.queuePriority = .high }
        return operation
      }
    }
    await withTaskGroup(of: Void.self) { group in
      for operations in all {
        group.addTask {
          for (number, operation) in operations.enumerated() { queues[number % 3].addOperation(operation) }
        }
      }
    }
    for queue in queues { try await queue.untilAllOperationsAreFinished() }
    #expect(complaints.events == [] && runs.value == 450 && users.allSatisfy { $0.most == 1 }, "seed \(seed)")
    #expect(resources.allSatisfy { $0.isUnused }, "seed \(seed)")
    Resource.leaveList(resources)
  }
}
