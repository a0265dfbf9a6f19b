import HeadwayTestKit
import HeadwayTestSupport
import Testing

@testable import Headway

/// Urgent operations that wait for resources, for the limits of a key, or for a rate limit.
@Suite("Raising by policies", .hangLimit) struct RaisedPolicyTests: RaisingSuite {
  /// An operation that runs until the gate opens.
  private final class Holder {
    let operation: BlockOperation
    let (begun, end) = (Gate(), Gate())

    init(_ policy: OperationPolicy, in queue: OperationQueue) {
      operation = BlockOperation { [begun, end] in
        begun.open()
        end.wait()
      }
      operation.policy = policy
      queue.addOperation(operation)
      begun.wait()
    }
  }

  private func operation(
    _ quality: QualityOfService = .default, _ policy: OperationPolicy, _ body: @escaping @Sendable () -> Void = {}
  ) -> BlockOperation {
    let operation = operation(quality, body)
    operation.policy = policy
    return operation
  }

  private func waits(_ operation: BlockOperation) -> Bool {
    ResourceTable.shared.withLock { $0.obstacle(of: operation.resourceGate!) } != nil
  }

  @Test("P6, X1: an operation that uses a resource is raised while an urgent operation in another queue waits for it")
  func holder() {
    let (low, high) = (OperationQueue(qualityOfService: .background), OperationQueue())
    let policy = OperationPolicy(exclusiveResources: ["raised holder"])
    let holder = Holder(policy, in: low)
    let plain = operation(.default, policy)
    high.addOperation(plain)
    #expect(eventually { waits(plain) })
    #expect(!isRaised(holder.operation, in: .background))
    high.addOperation(operation(.userInitiated, policy))
    #expect(eventually { isRaised(holder.operation, in: .background) && isRaised(plain) })
    holder.end.open()
    for queue in [low, high] { queue.waitUntilAllOperationsAreFinished() }
  }

  @Test("P6, X1: operations that share a resource are raised only by urgent operations that can't share it")
  func sharing() {
    let (low, high) = (OperationQueue(qualityOfService: .background), OperationQueue())
    let shared = OperationPolicy(sharedResources: ["raised sharing"])
    let holders = (0..<3).map { _ in Holder(shared, in: low) }
    high.addOperations([operation(.userInitiated, shared)], waitUntilFinished: true)
    #expect(holders.allSatisfy { !isRaised($0.operation, in: .background) })
    high.addOperation(operation(.userInitiated, OperationPolicy(exclusiveResources: ["raised sharing"])))
    #expect(eventually { holders.allSatisfy { isRaised($0.operation, in: .background) } })
    for holder in holders { holder.end.open() }
    for queue in [low, high] { queue.waitUntilAllOperationsAreFinished() }
  }

  @Test("P6, X1: earlier requests, and the operations that they wait for, are raised") func earlierRequests() {
    let low = OperationQueue(qualityOfService: .background)
    let holder = Holder(OperationPolicy(exclusiveResources: ["raised left"]), in: low)
    let both = operation(.default, OperationPolicy(exclusiveResources: ["raised left", "raised right"]))
    let reader = operation(.default, OperationPolicy(sharedResources: ["raised right"]))
    for waiting in [both, reader] {
      low.addOperation(waiting)
      #expect(eventually { waits(waiting) })
    }
    let later = operation(.default, OperationPolicy(sharedResources: ["raised left"]))
    low.addOperation(later)
    #expect(eventually { waits(later) })
    low.addOperation(operation(.userInitiated, OperationPolicy(exclusiveResources: ["raised right"])))
    #expect(eventually { [holder.operation, both, reader].allSatisfy { isRaised($0, in: .background) } })
    #expect(!isRaised(later, in: .background), "no urgent operation waits for it")
    holder.end.open()
    low.waitUntilAllOperationsAreFinished()
  }

  enum Change: CaseIterable, Sendable { case quality, dependent, task, queue, wait }

  @Test(
    "P6: operations are also raised when an operation that waits for their resource becomes urgent",
    arguments: Change.allCases)
  func becomesUrgent(by change: Change) async throws {
    let (low, queue) = (OperationQueue(qualityOfService: .background), OperationQueue(qualityOfService: .background))
    let policy = OperationPolicy(exclusiveResources: ["raised later \(change)"])
    let holder = Holder(policy, in: low)
    let waiting = operation(.default, policy)
    queue.addOperation(waiting)
    #expect(eventually { waits(waiting) })
    #expect(!isRaised(holder.operation, in: .background))
    switch change {
    case .quality: waiting.qualityOfService = .userInitiated
    case .dependent:
      let urgent = operation(.userInitiated)
      urgent.addDependency(waiting)
      queue.addOperation(urgent)
    case .task: Task(priority: .high) { try await waiting.untilFinished() }
    case .queue: queue.qualityOfService = .userInitiated
    case .wait: Task(priority: .high) { try await queue.untilAllOperationsAreFinished() }
    }
    await until { isRaised(holder.operation, in: .background) }
    holder.end.open()
    try await queue.untilAllOperationsAreFinished()
  }

  @Test("P6, X1: a request that waits again is raised if urgent requests wait behind it") func returnedRequest() {
    let prefix = "raised request "
    let operations = [["1"], ["1", "2"], ["2"], ["2"]].map { names in
      operation(.default, OperationPolicy(exclusiveResources: Set(names.map { prefix + $0 })))
    }
    let gates = operations.map { $0.resourceGate! }
    ResourceTable.shared.withLock { table in
      #expect(table.acquire(gates[0]) && !table.acquire(gates[1]))
      #expect(table.withdraw(gates[1]).isEmpty)
      #expect(table.acquire(gates[2]) && !table.acquire(gates[3]))
      #expect(table.obstacles(of: gates[3], raisingTo: 3) == [operations[2]])
      #expect(!table.acquire(gates[1]) && table.levelBehind(gates[1]) == 3)
      #expect(table.obstacles(of: gates[3]) == [operations[1]])
      for gate in [3, 1] { _ = table.withdraw(gates[gate]) }
      for gate in [2, 0] { _ = table.release(gates[gate]) }
    }
  }

  @Test(
    "P6, X7: operations of a key are raised while an urgent operation waits for the limit of the key",
    arguments: [1, 2])
  func key(limit: Int) {
    let queue = OperationQueue(qualityOfService: .background)
    queue.setKeyPolicy(KeyPolicy(maxConcurrentOperationCount: limit), forKey: "key")
    let holders = (0..<limit).map { _ in Holder(OperationPolicy(key: "key"), in: queue) }
    let other = Holder(OperationPolicy(key: "other"), in: queue)
    let waiting = operation(.default, OperationPolicy(key: "key"))
    queue.addOperation(waiting)
    #expect(holders.allSatisfy { !isRaised($0.operation, in: .background) })
    queue.addOperation(operation(.userInitiated, OperationPolicy(key: "key")))
    #expect(holders.allSatisfy { isRaised($0.operation, in: .background) })
    #expect(!isRaised(other.operation, in: .background))
    for holder in holders + [other] { holder.end.open() }
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test("P6, X7: operations of a key are raised when an operation that waits for its limit becomes urgent")
  func keyLater() {
    let queue = OperationQueue(qualityOfService: .background)
    queue.setKeyPolicy(KeyPolicy(maxConcurrentOperationCount: 1), forKey: "key")
    let holder = Holder(OperationPolicy(key: "key"), in: queue)
    let waiting = operation(.default, OperationPolicy(key: "key"))
    queue.addOperation(waiting)
    #expect(!isRaised(holder.operation, in: .background))
    let urgent = operation(.userInitiated)
    urgent.addDependency(waiting)
    queue.addOperation(urgent)
    #expect(isRaised(holder.operation, in: .background))
    holder.end.open()
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test("P6, X7: the probe of a circuit breaker is raised while an urgent operation waits for its result")
  func probe() async throws {
    struct Problem: Error {}
    let (queue, clock) = (OperationQueue(qualityOfService: .background), ManualClock())
    queue.clock = clock
    let breaker = CircuitBreaker(maxFailureCount: 1, openDuration: .seconds(1))
    queue.setKeyPolicy(KeyPolicy(circuitBreaker: breaker), forKey: "key")
    let policy = OperationPolicy(key: "key")
    let failing = BlockOperation { throw Problem() }
    failing.policy = policy
    queue.addOperation(failing)
    try await failing.untilFinished()
    clock.advance(by: .seconds(1))
    let probe = Holder(policy, in: queue)
    queue.addOperation(operation(.userInitiated, policy))
    #expect(isRaised(probe.operation, in: .background))
    probe.end.open()
    try await queue.untilAllOperationsAreFinished()
  }

  #if os(Linux)
  @Test("P6, X6: operations of a key run at the class of an urgent operation if they start before it")
  func keyOrder() {
    let queue = suspendedQueue(.background)
    queue.setKeyPolicy(KeyPolicy(maxConcurrentOperationCount: 1), forKey: "key")
    let values = EventRecorder<Int32>()
    let operations = [QualityOfService.default, .default, .userInitiated, .default].map { quality in
      operation(quality, OperationPolicy(key: "key")) { values.record(currentNiceValue()) }
    }
    queue.addOperations(operations, waitUntilFinished: false)
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    #expect(values.events == Array(repeating: processNiceValue(), count: 3) + [low])
  }

  @Test(
    "P6, X4: operations before an urgent operation that waits for a rate limit start in order, and run at its class")
  func rate() async throws {
    let (queue, clock) = (OperationQueue(qualityOfService: .background), ManualClock())
    queue.clock = clock
    queue.rateLimit = RateLimit(1, per: .seconds(1))
    queue.isSuspended = true
    let values = EventRecorder<Int32>()
    for quality in [QualityOfService.default, .default, .userInitiated, .default] {
      queue.addOperation(operation(quality, values))
    }
    queue.isSuspended = false
    for count in 1...4 {
      await until { values.count == count }
      clock.advance(by: .seconds(1))
    }
    try await queue.untilAllOperationsAreFinished()
    #expect(values.events == Array(repeating: processNiceValue(), count: 3) + [low])
  }
  #endif
}
