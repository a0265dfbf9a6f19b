import HeadwayTestKit
import HeadwayTestSupport
import Testing

@testable import Headway

@Suite("Times of policies", HangLimit()) struct TimeTests {
  private let clock = ManualClock()

  @Test("X3: a delayed operation starts when its delay has passed on the queue's clock, and not before")
  func delay() async throws {
    let (queue, operation) = (OperationQueue(on: clock), BlockOperation {})
    operation.policy = OperationPolicy(delay: .seconds(5))
    queue.addOperation(operation)
    await clock.waitForSleepers(count: 1)
    clock.advance(by: .milliseconds(4_999))
    #expect(clock.sleeperCount == 1)
    #expect(queue.operations == [operation] && !operation.isFinished)
    clock.advance(by: .milliseconds(1))
    try await operation.untilSucceeded()
  }

  @Test("X3: a policy is returned as it was set, whichever gate applies it")
  func returnedPolicy() {
    let delays: [Duration?] = [
      nil, .zero, .milliseconds(1), Duration(secondsComponent: 0, attosecondsComponent: 1),
      .seconds(Int64.max), .nanoseconds(Int64.max),
    ]
    for delay in delays {
      let operation = BlockOperation {}
      for policy in [
        OperationPolicy(delay: delay), OperationPolicy(delay: delay, timeout: .seconds(1)),
        OperationPolicy(delay: delay, key: "key"), OperationPolicy(delay: delay),
      ] {
        operation.policy = policy
        #expect(operation.policy == policy)
      }
    }
  }

  @Test("X3: delayed operations start in order of time, whatever the insertion order")
  func orderOfDelays() async throws {
    let (queue, order) = (OperationQueue(on: clock, limit: 1), EventRecorder<Int>())
    for number in [3, 1, 4, 2] {
      let operation = BlockOperation { order.record(number) }
      operation.policy = OperationPolicy(delay: .seconds(number))
      queue.addOperation(operation)
    }
    for _ in 0..<4 {
      await clock.waitForSleepers(count: 1)
      clock.advance(by: .seconds(1))
      await until { order.count == Int(clock.now.offset / .seconds(1)) }
    }
    try await queue.untilAllOperationsAreFinished()
    #expect(order.events == [1, 2, 3, 4])
  }

  @Test(
    "X3, D1: a delay and a dependency both hold the operation back, whichever ends first", arguments: [true, false])
  func delayAndDependency(delayEndsFirst: Bool) async throws {
    let (queue, go, operation) = (OperationQueue(on: clock), Gate(), BlockOperation {})
    let dependency = queue.addTask { await go.untilOpen() }
    operation.addDependency(dependency)
    operation.policy = OperationPolicy(delay: .seconds(1))
    queue.addOperation(operation)
    await clock.waitForSleepers(count: 1)
    if delayEndsFirst {
      clock.advance(by: .seconds(1))
      await until { operation.policyGate?.isClosed == false }
      #expect(!operation.isFinished)
      go.open()
    } else {
      go.open()
      try await dependency.untilFinished()
      #expect(operation.policyGate?.isClosed == true && !operation.isFinished)
      clock.advance(by: .seconds(1))
    }
    try await operation.untilSucceeded()
  }

  @Test("X3, O2: a delay and an override of isReady both hold the operation back")
  func delayAndOverride() async throws {
    final class Conditional: Operation, @unchecked Sendable {
      let condition = Gate()
      override var isReady: Bool { super.isReady && condition.isOpen }
    }
    let (queue, operation) = (OperationQueue(on: clock), Conditional())
    operation.policy = OperationPolicy(delay: .seconds(1))
    queue.addOperation(operation)
    operation.condition.open()
    operation.didChangeValue(forKey: "isReady")
    await clock.waitForSleepers(count: 1)
    #expect(!operation.isFinished)
    clock.advance(by: .seconds(1))
    try await operation.untilSucceeded()
  }

  @Test("X3, C2: cancelling ends a delay immediately, and no alarm remains")
  func cancelledDelay() async throws {
    let (queue, operation) = (OperationQueue(on: clock), BlockOperation {})
    operation.policy = OperationPolicy(delay: .seconds(1_000_000_000_000))
    queue.addOperation(operation)
    operation.cancel()
    try await operation.untilFinished()
    #expect(queue.state.withLock { $0.policyClock }.alarmCount == 0)
    #expect(queue.operationCount == 0)
  }

  @Test("X3, C6, Q8: barriers wait for delayed operations, and cancelling all ends the delays")
  func barrierBehindDelay() async throws {
    let (queue, ran) = (OperationQueue(on: clock), Gate())
    let operation = BlockOperation {}
    operation.policy = OperationPolicy(delay: .seconds(1))
    queue.addOperation(operation)
    queue.addBarrierBlock { ran.open() }
    #expect(!ran.isOpen)
    operation.cancel()
    await ran.untilOpen()
  }

  @Test("X3, Q12: in a queue with insertion order, a delayed operation holds up later operations")
  func delayInOrder() async throws {
    let (queue, order) = (OperationQueue(order: .fifo), EventRecorder<Int>())
    queue.clock = clock
    let first = BlockOperation { order.record(1) }
    first.policy = OperationPolicy(delay: .seconds(1))
    queue.addOperation(first)
    queue.addOperation { order.record(2) }
    await clock.waitForSleepers(count: 1)
    #expect(order.events.isEmpty)
    clock.advance(by: .seconds(1))
    try await queue.untilAllOperationsAreFinished()
    #expect(order.events == [1, 2])
  }

  @Test("X3, Q4: a suspended queue starts a delayed operation when the queue is resumed, not when the delay ends")
  func delayInSuspendedQueue() async throws {
    let (queue, operation) = (OperationQueue(on: clock), BlockOperation {})
    queue.isSuspended = true
    operation.policy = OperationPolicy(delay: .seconds(1))
    queue.addOperation(operation)
    await clock.waitForSleepers(count: 1)
    clock.advance(by: .seconds(1))
    await until { operation.policyGate?.isClosed == false }
    #expect(!operation.isFinished)
    queue.isSuspended = false
    try await operation.untilSucceeded()
  }

  @Test("X3: an operation that runs too long fails with the limit and the time that it took")
  func timeout() async throws {
    let (queue, begun) = (OperationQueue(on: clock, limit: 1), Gate())
    let before = queue.addTask { [clock] in try await clock.sleep(for: .seconds(2)) }
    let operation = TaskOperation { [clock] in
      begun.open()
      try await clock.sleep(for: .seconds(1_000))
    }
    operation.policy = OperationPolicy(timeout: .seconds(10))
    queue.addOperation(operation)
    await clock.waitForSleepers(count: 1)
    clock.advance(by: .seconds(2))
    try await before.value
    await begun.untilOpen()
    // The operation, and its alarm.
    await clock.waitForSleepers(count: 2)
    clock.advance(by: .seconds(10))
    let error = await #expect(throws: TimeLimitError.self) { try await operation.value }
    #expect(error?.code == .timeout && error?.limit == .seconds(10))
    #expect(error?.waitDuration == .seconds(2) && error?.runDuration == .seconds(10))
    #expect("\(error!)" == "The timeout of 10.0 seconds passed: the operation waited 2.0 seconds and ran 10.0 seconds.")
    guard case .failure? = operation.outcome else { return #expect(Bool(false), "\(operation)") }
  }

  @Test("X3: an operation that has not started when its total time is up fails without running")
  func totalTimeout() async throws {
    let (queue, handled, ran) = (OperationQueue(on: clock, limit: 0), Gate(), Gate())
    queue.failureHandler = { _, error in if error is TimeLimitError { handled.open() } }
    let operation = BlockOperation { ran.open() }
    operation.policy = OperationPolicy(totalTimeout: .seconds(3))
    queue.addOperation(operation)
    await clock.waitForSleepers(count: 1)
    clock.advance(by: .seconds(3))
    let error = await #expect(throws: TimeLimitError.self) { try await operation.untilSucceeded() }
    #expect(error?.code == .totalTimeout && error?.runDuration == nil && error?.waitDuration == .seconds(3))
    await handled.untilOpen()
    #expect(!ran.isOpen)
  }

  @Test("X3, D3: a dependent that requires an operation that exceeded its limit fails, too")
  func dependentOfTimeout() async throws {
    let (queue, dependent) = (OperationQueue(on: clock, limit: 0), BlockOperation {})
    let operation = BlockOperation {}
    operation.policy = OperationPolicy(totalTimeout: .seconds(3))
    dependent.addDependency(operation, requiring: .success)
    queue.addOperations([operation, dependent], waitUntilFinished: false)
    await clock.waitForSleepers(count: 1)
    clock.advance(by: .seconds(3))
    let error = await #expect(throws: DependencyError.self) { try await dependent.untilSucceeded() }
    #expect(error?.underlyingError is TimeLimitError)
  }

  @Test("X3: an operation that ends in time leaves no alarm")
  func endsInTime() async throws {
    let (queue, operation) = (OperationQueue(on: clock), BlockOperation {})
    operation.policy = OperationPolicy(timeout: .seconds(1), totalTimeout: .seconds(2))
    queue.addOperation(operation)
    try await operation.untilSucceeded()
    #expect(queue.state.withLock { $0.policyClock }.alarmCount == 0)
  }

  @Test("X3: delays on the clock of the system end, many at the same time")
  func systemClock() async throws {
    let (queue, count) = (OperationQueue(), Counter())
    for number in 0..<1_000 {
      let operation = BlockOperation { count.increment() }
      operation.policy = OperationPolicy(delay: .microseconds(number * 7 % 1_000))
      queue.addOperation(operation)
    }
    try await queue.untilAllOperationsAreFinished()
    #expect(count.value == 1_000)
  }

  @Test("X3: late changes of a policy, negative times, and setting a busy queue's clock are programming errors")
  func misuse() async throws {
    await #expect(processExitsWith: .failure) {
      let operation = BlockOperation {}
      OperationQueue(maxConcurrentOperationCount: 0).addOperation(operation)
      operation.policy = OperationPolicy(delay: .seconds(1))
    }
    await #expect(processExitsWith: .failure) { BlockOperation {}.policy = OperationPolicy(timeout: .seconds(-1)) }
    await #expect(processExitsWith: .failure) {
      let queue = OperationQueue(maxConcurrentOperationCount: 0)
      queue.addOperation {}
      queue.clock = ContinuousClock()
    }
  }
}

@Suite("Alarms") struct AlarmTests {
  private final class Entry: Alarm, @unchecked Sendable {
    let number: Int
    init(_ number: Int) { self.number = number }
  }

  @Test("X3: alarms that are set, moved, and removed at random ring in order of time", arguments: 0..<50)
  func heap(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var (heap, expected) = (AlarmHeap(), [Int: ClockTime]())
    let entries = (0..<60).map { Entry($0) }
    for _ in 0..<500 {
      let entry = entries.randomElement(using: &random)!
      switch Int.random(in: 0..<4, using: &random) {
      case 0:
        heap.remove(entry)
        expected[entry.number] = nil
      case 1:
        let now = ClockTime.random(in: 0..<40, using: &random)
        let alarm = heap.popFirst(dueAt: now) as? Entry
        #expect((alarm != nil) == expected.values.contains { $0 <= now })
        guard let alarm else { break }
        #expect(expected[alarm.number] == expected.values.min())
        expected[alarm.number] = nil
      default:
        let time = Bool.random(using: &random) ? ClockTime.random(in: 0..<100, using: &random) : .max
        heap.set(entry, to: time)
        expected[entry.number] = time == .max ? nil : time
      }
      #expect(heap.count == expected.count && heap.firstTime == expected.values.min())
    }
  }

  @Test("X3: a duration becomes whole nanoseconds, rounded up, and a moment that is out of range is never reached")
  func nanoseconds() {
    #expect(Duration(secondsComponent: 1, attosecondsComponent: 1).nanoseconds == 1_000_000_001)
    #expect(Duration(secondsComponent: -1, attosecondsComponent: -1).wholeNanoseconds == -1_000_000_001)
    #expect(Duration.seconds(Int64.max / 2).nanoseconds == .max)
    #expect(ClockTime.max.addedClamped(1) == .max && ClockTime.min.addedClamped(-1) == .min)
  }
}
