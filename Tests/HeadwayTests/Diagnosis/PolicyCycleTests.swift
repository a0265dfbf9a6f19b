import HeadwayTestKit
import HeadwayTestSupport
import Synchronization
import Testing

@testable import Headway

/// Waits for operations that wait for something that the waiting operation uses.
@Suite("Waits in a cycle because of policies", .hangLimit) struct PolicyCycleTests {
  /// Adds operations that wait for each other, each after the previous one has started.
  ///
  /// - Returns: The event that reports the cycle. The cycle is then resolved by cancelling an operation.
  private func cycle(
    in queue: OperationQueue, cancelling operation: Headway.Operation, adding operations: [Headway.Operation]
  ) async throws -> String {
    let (reported, gate) = (EventRecorder<String>(), Gate())
    let token = queue.listen { event in
      guard case .deadlocked = event else { return }
      reported.record("\(event)")
      gate.open()
    }
    for added in operations {
      queue.addOperation(added)
      await until { added.isExecuting || added === operations.last }
    }
    await gate.untilOpen()
    #expect(operation.diagnosis.contains("cycle"))
    operation.cancel()
    try await queue.untilAllOperationsAreFinished()
    token.invalidate()
    return reported.events.first ?? ""
  }

  private func operation(
    _ name: String, _ policy: OperationPolicy = OperationPolicy(), _ body: @escaping @Sendable () -> Void = {}
  ) -> BlockOperation {
    let operation = BlockOperation(name: name, block: body)
    operation.policy = policy
    return operation
  }

  private func task(
    _ name: String, _ policy: OperationPolicy = OperationPolicy(),
    _ body: @escaping @Sendable () async throws -> Void
  ) -> TaskOperation<Void> {
    let operation = TaskOperation { try await body() }
    (operation.name, operation.policy) = (name, policy)
    return operation
  }

  enum Use: CaseIterable, Sendable {
    case exclusive, sharedByHolder, sharedByOther, key

    var holder: OperationPolicy {
      switch self {
      case .exclusive, .sharedByOther: OperationPolicy(exclusiveResources: ["cycle \(self)"])
      case .sharedByHolder: OperationPolicy(sharedResources: ["cycle \(self)"])
      case .key: OperationPolicy(key: "key")
      }
    }

    var other: OperationPolicy {
      switch self {
      case .exclusive, .sharedByHolder: OperationPolicy(exclusiveResources: ["cycle \(self)"])
      case .sharedByOther: OperationPolicy(sharedResources: ["cycle \(self)"])
      case .key: OperationPolicy(key: "key")
      }
    }
  }

  private func makeQueue() -> OperationQueue {
    let queue = OperationQueue()
    queue.setKeyPolicy(KeyPolicy(maxConcurrentOperationCount: 1), forKey: "key")
    return queue
  }

  @Test(
    "W7, X1, X7: an operation that blocks on an operation that needs its resource or key is reported",
    arguments: Use.allCases)
  func blocked(on use: Use) async throws {
    let queue = makeQueue()
    let inner = operation("inner", use.other)
    let outer = operation("outer", use.holder) {
      queue.addOperation(inner)
      inner.waitUntilFinished()
    }
    let event = try await cycle(in: queue, cancelling: inner, adding: [outer])
    #expect(event == "waits in a cycle: “outer” waits for “inner” waits for “outer”")
  }

  enum Wait: CaseIterable, Sendable { case finished, succeeded, value, all, first, run, queue, scope, shared }

  @Test(
    "W7, X1: an operation that awaits an operation that needs its resource is reported, however it awaits",
    arguments: Wait.allCases)
  func awaited(by wait: Wait) async throws {
    let (queue, other) = (OperationQueue(), OperationQueue())
    let policy = OperationPolicy(exclusiveResources: ["awaited \(wait)"])
    let (reported, gate) = (EventRecorder<String>(), Gate())
    let inners = Mutex<[Headway.Operation]>([])
    let tokens = Mutex<[KeyValueObservation]>([])
    let listen: @Sendable (OperationQueueEvent) -> Void = { event in
      guard case .deadlocked = event else { return }
      reported.record("\(event)")
      gate.open()
    }
    tokens.withLock { $0 = [queue, other].map { $0.listen(listen) } }
    let outer = task("outer", policy) {
      let inner = TaskOperation {}
      (inner.name, inner.policy) = ("inner", policy)
      inners.withLock { $0.append(inner) }
      if wait != .run, wait != .scope, wait != .shared { other.addOperation(inner) }
      switch wait {
      case .finished: try await inner.untilFinished()
      case .succeeded: try await inner.untilSucceeded()
      case .value: try await inner.value
      case .all: try await Headway.Operation.untilAllFinished([inner])
      case .first: _ = try await Headway.Operation.untilFirstFinished([inner])
      case .run: try await other.run(inner)
      case .queue: try await other.untilAllOperationsAreFinished()
      case .scope:
        try await withOperationQueue { scope in
          tokens.withLock { $0.append(scope.listen(listen)) }
          scope.addOperation(inner)
        }
      case .shared:
        let share = other.addTask(coalescing: "key", "inner", .policy(policy)) {}
        inners.withLock { $0 = other.operations }
        try await share.value
      }
    }
    queue.addOperation(outer)
    await gate.untilOpen()
    #expect(reported.events.first == "waits in a cycle: “outer” waits for “inner” waits for “outer”")
    #expect(outer.diagnosis.contains("in a cycle: “outer” waits for “inner”"))
    for inner in inners.withLock({ $0 }) { inner.cancel() }
    try await outer.untilFinished()
    tokens.withLock { $0 = [] }
  }

  @Test("W7: the cycle can lead through dependencies, other waits, and requests that are granted first")
  func indirect() async throws {
    let (queue, policy) = (OperationQueue(), OperationPolicy(exclusiveResources: ["indirect"]))
    let needing = operation("needing", policy)
    let dependent = operation("dependent")
    dependent.addDependency(needing)
    let waiting = task("waiting") { try await dependent.untilFinished() }
    let outer = task("outer", policy) {
      for operation in [needing, dependent, waiting] { queue.addOperation(operation) }
      try await waiting.value
    }
    let event = try await cycle(in: queue, cancelling: needing, adding: [outer])
    let names = ["outer", "waiting", "dependent", "needing", "outer"]
    #expect(event == "waits in a cycle: \(names.map { "“\($0)”" }.joined(separator: " waits for "))")
  }

  @Test("W7, X1: a cycle through a request that is behind another request is reported")
  func behindRequest() async throws {
    let queue = OperationQueue()
    let both = operation("both", OperationPolicy(exclusiveResources: ["behind left", "behind right"]))
    let right = operation("right", OperationPolicy(exclusiveResources: ["behind right"]))
    let outer = operation("outer", OperationPolicy(exclusiveResources: ["behind left"])) {
      for waiting in [both, right] {
        queue.addOperation(waiting)
        #expect(eventually { ResourceTable.shared.withLock { $0.obstacle(of: waiting.resourceGate!) } != nil })
      }
      #expect(right.diagnosis.contains("“right” waits for the resource “behind right” behind “both”"))
      #expect(both.diagnosis.hasSuffix("waits for the resource “behind left”, which is used by “outer”"))
      right.waitUntilFinished()
    }
    let event = try await cycle(in: queue, cancelling: right, adding: [outer])
    #expect(event == "waits in a cycle: “outer” waits for “right” waits for “both” waits for “outer”")
  }

  @Test(
    "W7, D6, B4: a group that uses a resource that one of its operations needs is reported", arguments: [false, true])
  func group(isIndirect: Bool) async throws {
    let (queue, policy) = (OperationQueue(), OperationPolicy(exclusiveResources: ["group"]))
    let (inner, outside) = (operation("inner"), operation("outside", policy))
    if isIndirect { inner.addDependency(outside) } else { inner.policy = policy }
    let group = GroupOperation(name: "group", operations: [inner])
    group.policy = policy
    let operations = isIndirect ? [group, outside] : [group]
    let event = try await cycle(in: queue, cancelling: isIndirect ? outside : inner, adding: operations)
    #expect(event.contains("“group” waits for “inner”"))
    #expect(event.contains(isIndirect ? "“outside” waits for “group”" : "“inner” waits for “group”"))
  }

  @Test("W7, X7: a task at the limit of its key that awaits an operation with the same key is reported")
  func keyOfTask() async throws {
    let queue = makeQueue()
    let inner = operation("inner", OperationPolicy(key: "key"))
    let outer = task("outer", OperationPolicy(key: "key")) {
      queue.addOperation(inner)
      #expect(inner.diagnosis.hasSuffix("runs 1 of at most 1: “outer”"))
      try await inner.untilFinished()
    }
    let event = try await cycle(in: queue, cancelling: inner, adding: [outer])
    #expect(event == "waits in a cycle: “outer” waits for “inner” waits for “outer”")
  }

  @Test(
    "W7, Q3: tasks at the limit of their queue that await an operation of the queue are reported", arguments: [1, 2])
  func slots(limit: Int) async throws {
    let queue = OperationQueue(maxConcurrentOperationCount: limit)
    let inner = operation("inner")
    let tasks = (0..<limit).map { number in task("task \(number)") { try await inner.untilFinished() } }
    let event = try await cycle(in: queue, cancelling: inner, adding: tasks + [inner])
    #expect(event.contains("“inner” waits for “task"))
  }

  @Test("W7, X2: a cycle through an operation that pauses between attempts is reported") func pause() async throws {
    struct Problem: Error {}
    let (queue, policy) = (OperationQueue(), OperationPolicy(exclusiveResources: ["pause"]))
    let awaited = Mutex<Headway.Operation?>(nil)
    let outer = operation("outer", policy) { awaited.withLock { $0 }?.waitUntilFinished() }
    let retry = RetryPolicy.constant(maxAttemptCount: 2, delay: .milliseconds(1))
    let retried = TaskOperation("retried", .policy(policy), .retry(retry)) { attempt in
      guard attempt == 1 else { return }
      queue.addOperation(outer)
      await until { ResourceTable.shared.withLock { $0.obstacle(of: outer.resourceGate!) } != nil }
      throw Problem()
    }
    awaited.withLock { $0 = retried }
    let event = try await cycle(in: queue, cancelling: retried, adding: [retried])
    #expect(event == "waits in a cycle: “outer” waits for “retried” waits for “outer”")
    awaited.withLock { $0 = nil }
  }
}
