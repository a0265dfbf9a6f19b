import HeadwayTestKit
import HeadwayTestSupport
import Testing

@testable import Headway

@Suite("Exclusive resources", HangLimit()) struct ResourceTests {
  private func operation(
    _ exclusive: Set<String>, shared: Set<String> = [], _ block: @escaping @Sendable () -> Void = {}
  ) -> BlockOperation {
    let operation = BlockOperation(block: block)
    operation.policy = OperationPolicy(exclusiveResources: exclusive, sharedResources: shared)
    return operation
  }

  @Test("X1: operations that name a resource never overlap, in any queue")
  func overlap() async throws {
    let (queues, crowd) = ((0..<4).map { OperationQueue(maxConcurrentOperationCount: $0 == 0 ? -1 : $0) }, Crowd())
    for number in 0..<400 {
      queues[number % 4].addOperation(
        operation(["overlap"]) {
          crowd.enter()
          yieldThread()
          crowd.leave()
        })
    }
    for queue in queues { try await queue.untilAllOperationsAreFinished() }
    #expect(crowd.most == 1)
  }

  @Test("X1: operations that share a resource overlap, and exclude operations that use it exclusively")
  func sharing() async throws {
    let (queue, meeting, readers, writers) = (OperationQueue(), Meeting(of: 3), Crowd(), Crowd())
    for _ in 0..<3 { queue.addOperation(operation([], shared: ["sharing"]) { meeting.attend() }) }
    try await queue.untilAllOperationsAreFinished()
    for number in 0..<300 {
      if number % 3 == 0 {
        queue.addOperation(
          operation(["sharing"]) {
            writers.enter()
            #expect(readers.now == 0)
            writers.leave()
          })
      } else {
        queue.addOperation(
          operation([], shared: ["sharing"]) {
            readers.enter()
            #expect(writers.now == 0)
            readers.leave()
          })
      }
    }
    try await queue.untilAllOperationsAreFinished()
    #expect(writers.most == 1)
  }

  @Test("X1: operations that need each other's resources in different orders finish")
  func noDeadlock() async throws {
    let queues = [OperationQueue(), OperationQueue(maxConcurrentOperationCount: 1)]
    let names = ["one", "two", "three"]
    for number in 0..<600 {
      let needed = Set([names[number % 3], names[(number / 3) % 3], names[(number / 9) % 3]])
      queues[number % 2].addOperation(operation(needed))
    }
    for queue in queues { try await queue.untilAllOperationsAreFinished() }
  }

  @Test(
    "X1: an operation that needs many resources is not overtaken by a later operation that needs one of these resources"
  )
  func noStarvation() async throws {
    let (queue, go, order) = (OperationQueue(), Gate(), EventRecorder<String>())
    let holder = operation(["left"]) { go.wait() }
    queue.addOperation(holder)
    await until { holder.isExecuting }
    let both = operation(["left", "right"]) { order.record("both") }
    queue.addOperation(both)
    await until { ResourceTable.shared.withLock { $0.obstacle(of: both.resourceGate!) } != nil }
    let later = (0..<10).map { _ in operation(["right"]) { order.record("right") } }
    queue.addOperations(later, waitUntilFinished: false)
    await until {
      later.allSatisfy { later in
        later.isFinished || ResourceTable.shared.withLock { $0.obstacle(of: later.resourceGate!) } != nil
      }
    }
    go.open()
    try await queue.untilAllOperationsAreFinished()
    #expect(order.events.first == "both" && order.count == 11)
  }

  @Test("X1, Q3: an operation that waits for a resource occupies no slot of its queue")
  func noSlot() async throws {
    let (busy, queue, go) = (OperationQueue(), OperationQueue(maxConcurrentOperationCount: 1), Gate())
    let holder = operation(["no slot"]) { go.wait() }
    busy.addOperation(holder)
    await until { holder.isExecuting }
    let waiting = operation(["no slot"])
    queue.addOperation(waiting)
    let other = BlockOperation {}
    queue.addOperation(other)
    try await other.untilSucceeded()
    #expect(!waiting.isFinished)
    #expect(waiting.diagnosis.contains("waits for the resource “no slot”"))
    go.open()
    try await waiting.untilSucceeded()
  }

  @Test("X1, Q4: an operation in a suspended queue holds no resource, and acquires it after the queue is resumed")
  func suspended() async throws {
    let (busy, queue, go) = (OperationQueue(), OperationQueue(), Gate())
    let holder = operation(["suspended"]) { go.wait() }
    busy.addOperation(holder)
    await until { holder.isExecuting }
    let waiting = operation(["suspended"])
    queue.addOperation(waiting)
    await until { ResourceTable.shared.withLock { $0.obstacle(of: waiting.resourceGate!) } != nil }
    queue.isSuspended = true
    let later = operation(["suspended"])
    busy.addOperation(later)
    go.open()
    try await later.untilSucceeded()
    #expect(!waiting.isFinished)
    queue.isSuspended = false
    try await waiting.untilSucceeded()
  }

  @Test("X1, D1: an operation that gets a dependency while it waits for a resource does not block other operations")
  func lateDependency() async throws {
    let (busy, queue, go, hold) = (OperationQueue(), OperationQueue(), Gate(), Gate())
    let holder = operation(["late"]) { go.wait() }
    busy.addOperation(holder)
    await until { holder.isExecuting }
    let waiting = operation(["late"])
    queue.addOperation(waiting)
    await until { ResourceTable.shared.withLock { $0.obstacle(of: waiting.resourceGate!) } != nil }
    let dependency = OperationQueue().addTask { await hold.untilOpen() }
    waiting.addDependency(dependency)
    queue.isSuspended = true
    hold.open()
    try await dependency.untilFinished()
    let later = operation(["late"])
    busy.addOperation(later)
    go.open()
    try await later.untilSucceeded()
    queue.isSuspended = false
    try await waiting.untilSucceeded()
  }

  @Test("X1, C5: a cancelled operation stops waiting for its resource, and later operations get the resource")
  func cancelled() async throws {
    let (queue, go) = (OperationQueue(), Gate())
    let holder = operation(["cancelled"]) { go.wait() }
    queue.addOperation(holder)
    await until { holder.isExecuting }
    let (first, second) = (operation(["cancelled", "other"]), operation(["other"]))
    queue.addOperation(first)
    await until { ResourceTable.shared.withLock { $0.obstacle(of: first.resourceGate!) } != nil }
    queue.addOperation(second)
    await until { ResourceTable.shared.withLock { $0.obstacle(of: second.resourceGate!) } != nil }
    first.cancel()
    try await first.untilFinished()
    try await second.untilSucceeded()
    go.open()
    try await holder.untilSucceeded()
  }

  @Test("X1, Q12: in a queue with insertion order, an operation that waits for a resource holds up later operations")
  func inOrder() async throws {
    let (busy, queue, go, order) = (OperationQueue(), OperationQueue(order: .fifo), Gate(), EventRecorder<Int>())
    let holder = operation(["order"]) { go.wait() }
    busy.addOperation(holder)
    await until { holder.isExecuting }
    let first = operation(["order"]) { order.record(1) }
    queue.addOperation(first)
    queue.addOperation { order.record(2) }
    await until { ResourceTable.shared.withLock { $0.obstacle(of: first.resourceGate!) } != nil }
    #expect(order.events.isEmpty)
    go.open()
    try await queue.untilAllOperationsAreFinished()
    #expect(order.events == [1, 2])
  }

  @Test("X1, X4: with a rate limit, operations that wait for a resource start within the rate")
  func withRateLimit() async throws {
    let (queue, clock, count) = (OperationQueue(), ManualClock(), Counter())
    queue.clock = clock
    queue.rateLimit = RateLimit(1, per: .seconds(1), burst: 1)
    for _ in 0..<4 { queue.addOperation(operation(["rate"]) { count.increment() }) }
    for expected in 1...4 {
      await until { count.value == expected }
      guard expected < 4 else { break }
      await clock.waitForSleepers(count: 1)
      clock.advance(by: .seconds(1))
    }
    try await queue.untilAllOperationsAreFinished()
  }

  @Test("X1: a name that is both exclusive and shared is a programming error") func misuse() async throws {
    await #expect(processExitsWith: .failure) {
      BlockOperation {}.policy = OperationPolicy(exclusiveResources: ["a"], sharedResources: ["a"])
    }
  }
}
