import HeadwayTestKit
import HeadwayTestSupport
import Testing

@testable import Headway

@Suite("Coalescing", HangLimit()) struct CoalescingTests {
  private let queue = OperationQueue(limit: 1)

  // MARK: Joining

  @Test("X5: calls with a key share one operation that waits, and its function is called once")
  func joinsWaiting() async throws {
    let (end, calls) = (queue.occupy(), Counter())
    let shares = (0..<10).map { _ in queue.addTask(coalescing: "a") { calls.increment() } }
    let other = queue.addTask(coalescing: "b") { "another key" }
    #expect(shares.map(\.hasJoined) == [false] + Array(repeating: true, count: 9))
    #expect(shares.allSatisfy { $0.operation === shares[0].operation } && queue.operationCount == 3)
    end.open()
    for share in shares { #expect(try await share.value == 1) }
    #expect(try await other.value == "another key")
    #expect(calls.value == 1)
  }

  @Test("X5: a call does not join an operation that has started, unless its policy allows it")
  func joinsRunning() async throws {
    let (queue, started, end, calls) = (OperationQueue(), Gate(), Gate(), Counter())
    let first = queue.addTask(coalescing: "a") {
      started.open()
      await end.untilOpen()
      return calls.increment()
    }
    await started.untilOpen()
    let joined = queue.addTask(coalescing: "a", by: .joinUnfinished) { calls.increment() }
    let second = queue.addTask(coalescing: "a") { calls.increment() }
    #expect(joined.hasJoined && joined.operation === first.operation && !second.hasJoined)
    #expect(try await second.value == 1)
    end.open()
    #expect(try await [first.value, joined.value] == [2, 2])
  }

  @Test("X5: the function of a joined operation begins after the call, whatever else happens")
  func beginsAfterCalls() async throws {
    let (queue, written) = (OperationQueue(), Counter())
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          for _ in 0..<500 {
            let mine = written.increment()
            let share = queue.addTask(coalescing: "a") { written.value }
            let seen = try? await share.value
            #expect(seen.map { $0 >= mine } == true)
          }
        }
      }
    }
  }

  @Test("X5: an operation that has ended is not joined, even from the code that waits for it")
  func ended() async throws {
    let calls = Counter()
    for number in 1...200 {
      #expect(try await queue.addTask(coalescing: "a", by: .joinUnfinished) { calls.increment() }.value == number)
    }
  }

  @Test("X5: all callers get the error of the function, and the next call tries again")
  func errors() async throws {
    let end = queue.occupy()
    let shares = (0..<3).map { _ in queue.addTask(coalescing: "a") { throw Mishap() } }
    end.open()
    for share in shares { await #expect(throws: Mishap()) { try await share.value } }
    try await queue.addTask(coalescing: "a") {}.value
  }

  @Test("X5: keys of different queues are independent, even keys in a group")
  func queues() async throws {
    let (other, group) = (OperationQueue(limit: 1), GroupOperation())
    let ends = [queue.occupy(), other.occupy()]
    let shares = [queue, other, group.operationQueue].map { queue in queue.addTask(coalescing: "a") { 1 } }
    let inGroup = group.operationQueue.addTask(coalescing: "a") { 2 }
    #expect(shares.allSatisfy { !$0.hasJoined } && inGroup.operation === shares[2].operation)
    for end in ends { end.open() }
    queue.addOperation(group)
    for share in shares { #expect(try await share.value == 1) }
  }

  @Test("X5: an operation gets the highest priority and quality of service of its callers")
  func urgency() async throws {
    let end = queue.occupy()
    let share = queue.addTask(coalescing: "a", .priority(.low)) {}
    queue.addTask(coalescing: "a", .priority(.veryHigh), .qualityOfService(.userInitiated)) {}
    queue.addTask(coalescing: "a", .priority(.veryLow), .qualityOfService(.background)) {}
    #expect(share.operation.queuePriority == .veryHigh)
    #expect(share.operation.state.current.raisedQualityLevel == QualityOfService.userInitiated.level)
    end.open()
    try await share.value
  }

  @Test("X5: a key that is used for values of different types stops the process")
  func types() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let queue = OperationQueue(name: "pages", maxConcurrentOperationCount: 0)
      queue.addTask(coalescing: "a") { 1 }
      queue.addTask(coalescing: "a") { "text" }
    }
    let message = result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) } ?? ""
    for part in ["“a”", "pages", "String", "Int", "use one key for each type of value"] {
      #expect(message.contains(part), "\(part) in: \(message)")
    }
  }

  // MARK: Losing interest

  @Test("X5: an operation is cancelled when all of its callers have lost interest, and not before")
  func countedCancellation() async throws {
    let end = queue.occupy()
    let shares = (0..<3).map { _ in queue.addTask(coalescing: "a") { 1 } }
    for share in shares.dropLast() {
      share.cancel()
      share.cancel()  // Counts once.
      #expect(share.isCancelled)
      await #expect(throws: CancellationError.self) { try await share.value }
    }
    #expect(!shares[2].isCancelled && !shares[2].operation.isCancelled)
    end.open()
    #expect(try await shares[2].value == 1)
    shares[2].cancel()  // Too late.
    #expect(try await shares[2].value == 1)
    #expect(!shares[2].isCancelled)
  }

  @Test("X5: when the first caller loses interest, the other callers still get the value")
  func firstLeaves() async throws {
    let (started, end) = (Gate(), Gate())
    let first = queue.addTask(coalescing: "a", by: .joinUnfinished) {
      started.open()
      await end.untilOpen()
      try Task.checkCancellation()
      return 1
    }
    await started.untilOpen()
    let second = queue.addTask(coalescing: "a", by: .joinUnfinished) { 2 }
    let waiting = Task {
      try await withTaskCancellationHandler {
        try await first.value
      } onCancel: {
        first.cancel()
      }
    }
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    #expect(first.isCancelled && !second.isCancelled)
    end.open()
    #expect(try await second.value == 1)
  }

  @Test("X5: losing interest immediately stops only this caller's wait for the value")
  func waits() async throws {
    let end = queue.occupy()
    let (first, second) = (queue.addTask(coalescing: "a") { 1 }, queue.addTask(coalescing: "a") { 2 })
    let tasks = [first, first, second].map { share in Task { try await share.value } }
    await until { first.operation.links.withLock { $0.details?.pointee.waiters.count } == 3 }
    first.cancel()
    for task in tasks.dropLast() { await #expect(throws: CancellationError.self) { try await task.value } }
    #expect(first.operation.links.withLock { $0.details?.pointee.waiters.count } == 1)
    end.open()
    #expect(try await tasks[2].value == 1)
  }

  @Test("X5: a cancelled task that awaits the value still counts as interested")
  func cancelledWait() async throws {
    let end = queue.occupy()
    let share = queue.addTask(coalescing: "a") { 1 }
    let task = Task { try await share.value }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(!share.isCancelled)
    end.open()
    #expect(try await share.value == 1)
  }

  @Test("X5: no call joins a cancelled operation, no matter how it was cancelled", arguments: 0..<4)
  func cancelled(way: Int) async throws {
    let end = queue.occupy()
    let first = queue.addTask(coalescing: "a", by: .joinUnfinished) { 1 }
    switch way {
    case 0: first.cancel()
    case 1: first.operation.cancel()
    case 2: queue.cancelAllOperations()
    default:
      let failed = BlockOperation { throw Mishap() }
      OperationQueue().addOperations([failed], waitUntilFinished: true)
      first.operation.addDependency(failed, requiring: .success)
    }
    let second = queue.addTask(coalescing: "a", by: .joinUnfinished) { 2 }
    #expect(!second.hasJoined && first.isCancelled && !second.isCancelled)
    end.open()
    #expect(try await second.value == 2)
    await #expect(throws: (any Error).self) { try await first.value }
  }

  @Test("X5: a function whose callers have lost interest does not overlap with the next function with the same key")
  func noOverlap() async throws {
    let (queue, started, end, crowd) = (OperationQueue(), Gate(), Gate(), Crowd())
    let first = queue.addTask(coalescing: "a", by: .joinUnfinished) {
      crowd.enter()
      started.open()
      await end.untilOpen()  // Reacts to no cancellation.
      crowd.leave()
    }
    await started.untilOpen()
    first.cancel()
    let second = queue.addTask(coalescing: "a", by: .joinUnfinished) { crowd.enter() }
    second.cancel()
    let third = queue.addTask(coalescing: "a", by: .joinUnfinished) { crowd.enter() }
    await #expect(throws: CancellationError.self) { try await first.value }
    #expect(third.operation.dependencies.contains(first.operation) && !third.operation.isReady)
    end.open()
    try await third.value
    #expect(crowd.most == 1)
  }

  @Test("X5: an operation whose handles were all released still runs")
  func released() async throws {
    let (end, calls) = (queue.occupy(), Counter())
    do { queue.addTask(coalescing: "a") { calls.increment() } }
    end.open()
    try await queue.untilAllOperationsAreFinished()
    #expect(calls.value == 1)
  }

  // MARK: Replacing and dropping

  @Test("X5: the newest operation replaces a waiting operation, for all of its callers")
  func replacesWaiting() async throws {
    let (queue, started, end) = (OperationQueue(limit: 1), Gate(), Gate())
    let running = queue.addTask(coalescing: "a") {
      started.open()
      await end.untilOpen()
      return 0
    }
    await started.untilOpen()
    let old = [1, 2].map { number in queue.addTask(coalescing: "a") { number } }
    let new = queue.addTask(coalescing: "a", by: .replaceWaiting) { 3 }
    #expect(old.allSatisfy { $0.isCancelled } && !running.isCancelled && !new.isCancelled && !new.hasJoined)
    end.open()
    #expect(try await [running.value, new.value] == [0, 3])
    for share in old { await #expect(throws: CancellationError.self) { try await share.value } }
  }

  @Test("X5: the newest operation also replaces a running operation")
  func replacesUnfinished() async throws {
    let (queue, started, cancelled) = (OperationQueue(), Gate(), Gate())
    let running = queue.addTask(coalescing: "a") {
      started.open()
      await withTaskCancellationHandler {
        await cancelled.untilOpen()
      } onCancel: {
        cancelled.open()
      }
    }
    await started.untilOpen()
    let new = queue.addTask(coalescing: "a", by: .replaceUnfinished) {}
    await #expect(throws: CancellationError.self) { try await running.value }
    try await new.value
  }

  @Test("X5: a new operation is dropped while another one waits or runs")
  func drops() async throws {
    let (queue, calls, started, end) = (OperationQueue(limit: 1), Counter(), Gate(), Gate())
    let place = queue.occupy()
    let first = queue.addTask(coalescing: "a", by: .dropNew) {
      started.open()
      await end.untilOpen()
    }
    let whileWaiting = queue.addTask(coalescing: "a", by: .dropNew) { _ = calls.increment() }
    place.open()
    await started.untilOpen()
    let whileRunning = queue.addTask(coalescing: "a", by: .dropNew) { _ = calls.increment() }
    for share in [whileWaiting, whileRunning] {
      #expect(share.isCancelled && share.operation.isFinished && !share.hasJoined)
      share.cancel()
      await #expect(throws: CancellationError.self) { try await share.value }
    }
    end.open()
    try await first.value
    try await queue.addTask(coalescing: "a", by: .dropNew) { _ = calls.increment() }.value
    #expect(calls.value == 1)
  }

  @Test("X5, Q17: a closed queue joins, and a new operation that it rejects replaces nothing")
  func closed() async throws {
    let end = queue.occupy()
    let last = queue.addTask(coalescing: "a") { 1 }
    queue.close()
    let joined = queue.addTask(coalescing: "a") { 2 }
    let refused = queue.addTask(coalescing: "a", by: .replaceWaiting) { 3 }
    await #expect(throws: QueueClosedError.self) { try await refused.value }
    end.open()
    #expect(try await [last.value, joined.value] == [1, 1])
    #expect(queue.keyCount == 0)
  }

  // MARK: Combinations

  @Test("X5, X3: with a delay, the newest call runs when no other call has followed for that time")
  func debounce() async throws {
    let (clock, searches) = (ManualClock(), EventRecorder<String>())
    let queue = OperationQueue(on: clock)
    func type(_ text: String) -> CoalescedTask<Void> {
      queue.addTask(coalescing: "search", by: .replaceUnfinished, .delay(.milliseconds(300))) {
        searches.record(text)
      }
    }
    var shares: [CoalescedTask<Void>] = []
    for text in ["h", "he", "hea"] {
      shares.append(type(text))
      await clock.waitForSleepers(count: 1)
      clock.advance(by: .milliseconds(299))
      #expect(searches.events.isEmpty)
    }
    clock.advance(by: .milliseconds(1))
    try await shares[2].value
    #expect(searches.events == ["hea"] && shares[0].isCancelled && shares[1].isCancelled)
  }

  @Test("X5, X7: with a rate for the key, the first call runs immediately, and then the newest in each interval")
  func throttle() async throws {
    let (clock, previews) = (ManualClock(), EventRecorder<String>())
    let queue = OperationQueue(on: clock)
    queue.setKeyPolicy(KeyPolicy(rateLimit: RateLimit(1, per: .seconds(1))), forKey: "preview")
    @discardableResult func show(_ text: String) -> CoalescedTask<Void> {
      queue.addTask(coalescing: "preview", by: .replaceWaiting, .key("preview")) {
        previews.record(text)
      }
    }
    try await show("1").value
    for text in ["2", "3", "4"] { show(text) }
    await clock.waitForSleepers(count: 1)
    clock.advance(by: .milliseconds(999))
    let last = show("5")
    #expect(previews.events == ["1"])
    clock.advance(by: .milliseconds(1))
    try await last.value
    #expect(previews.events == ["1", "5"])
  }

  @Test("X5, X3: with a delay, calls that join collect for that time and no longer")
  func collecting() async throws {
    let (clock, saves) = (ManualClock(), Counter())
    let queue = OperationQueue(on: clock)
    func change() -> CoalescedTask<Int> {
      queue.addTask(coalescing: "save", .delay(.seconds(1))) { saves.increment() }
    }
    let first = change()
    await clock.waitForSleepers(count: 1)
    clock.advance(by: .milliseconds(999))
    let second = change()
    clock.advance(by: .milliseconds(1))
    #expect(try await [first.value, second.value] == [1, 1])
    #expect(!change().hasJoined)
  }

  @Test("X5, X2: an operation that pauses between two attempts counts as running")
  func retries() async throws {
    let clock = ManualClock()
    let (queue, calls) = (OperationQueue(on: clock), Counter())
    let first = queue.addTask(
      coalescing: "a", by: .joinUnfinished, .retry(.constant(maxAttemptCount: 2, delay: .seconds(1)))
    ) {
      let number = calls.increment()
      if number == 1 { throw Mishap() }
      return number
    }
    await clock.waitForSleepers(count: 1)
    let joined = queue.addTask(coalescing: "a", by: .joinUnfinished) { 0 }
    let other = queue.addTask(coalescing: "a") { 0 }
    #expect(joined.hasJoined && !other.hasJoined)
    clock.advance(by: .seconds(1))
    #expect(try await [first.value, joined.value, other.value] == [2, 2, 0])
  }

  @Test("X5, Q8, Q10: a call that joins moves nothing across a barrier, and adds no units to the progress")
  func barriers() async throws {
    let (end, order) = (queue.occupy(), EventRecorder<String>())
    queue.progress.totalUnitCount = 2
    queue.addTask(coalescing: "a") { order.record("a") }
    queue.addBarrierBlock { order.record("barrier") }
    #expect(queue.addTask(coalescing: "a") { order.record("later") }.hasJoined)
    end.open()
    try await queue.untilAllOperationsAreFinished()
    #expect(order.events == ["a", "barrier"] && queue.progress.completedUnitCount == 2)
  }

  @Test("X5, Q4, Q12: in a suspended queue and in a queue with insertion order, calls join and leave as usual")
  func suspendedInOrder() async throws {
    let (queue, order) = (OperationQueue(order: .fifo), EventRecorder<Int>())
    queue.isSuspended = true
    let shares = [1, 2, 1, 2].map { key in queue.addTask(coalescing: "\(key)") { order.record(key) } }
    let replaced = queue.addTask(coalescing: "1", by: .replaceWaiting) { order.record(3) }
    #expect(shares[0].isCancelled && !shares[1].isCancelled)
    shares[1].cancel()
    queue.isSuspended = false
    try await replaced.value
    try await shares[3].value
    #expect(order.events == [2, 3])
  }

  @Test("X5: a required dependency that has failed finishes the operation, and the key is free")
  func dependencies() async throws {
    let failed = BlockOperation { throw Mishap() }
    OperationQueue().addOperations([failed], waitUntilFinished: true)
    let share = queue.addTask(coalescing: "a", .dependingOn(failed)) { 1 }
    await #expect(throws: DependencyError.self) { try await share.value }
    #expect(queue.keyCount == 0)
    #expect(try await queue.addTask(coalescing: "a") { 2 }.value == 2)
  }

  @Test("X5, X3: callers get the error of a time limit, and the key is free")
  func timeLimits() async throws {
    let clock = ManualClock()
    let queue = OperationQueue(on: clock)
    let end = OperationQueue(limit: 1).occupy()
    defer { end.open() }
    queue.isSuspended = true
    let shares = (0..<2).map { _ in
      queue.addTask(coalescing: "a", .totalTimeout(.seconds(1))) {}
    }
    await clock.waitForSleepers(count: 1)
    clock.advance(by: .seconds(1))
    for share in shares { await #expect(throws: TimeLimitError.self) { try await share.value } }
    #expect(queue.keyCount == 0)
  }

  // MARK: Memory

  @Test("X5, Q11: nothing remains of operations that have ended or of a queue that is freed")
  func leaks() async throws {
    let (objects, freed) = (Crowd(), WeakReference<OperationQueue>())
    do {
      let queue = OperationQueue()
      freed.object = queue
      for number in 0..<100 {
        let object = Counted(objects)
        let share = queue.addTask(coalescing: "\(number % 7)", by: [.joinWaiting, .replaceUnfinished][number % 2]) {
          withExtendedLifetime(object) {}
        }
        if number.isMultiple(of: 3) { share.cancel() }
      }
      try await queue.untilAllOperationsAreFinished()
      #expect(queue.keyCount == 0)
    }
    await until { freed.object == nil && objects.now == 0 }
  }

  @Test("X5: a queue whose subclass adds nothing frees the operations with keys")
  func neverAdded() async {
    final class Deaf: OperationQueue, @unchecked Sendable { override func addOperation(_ operation: Operation) {} }
    let objects = Crowd()
    do {
      let (queue, object) = (Deaf(), Counted(objects))
      queue.addTask(coalescing: "a") { withExtendedLifetime(object) {} }
      #expect(objects.now == 1)
    }
    await until { objects.now == 0 }
  }

  @Test("X5: a subclass of the queue can set another policy before it adds the operation") func policyOfSubclass()
    async throws
  {
    final class Limited: OperationQueue, @unchecked Sendable {
      override func addOperation(_ operation: Operation) {
        operation.policy.timeout = .seconds(86_400)
        super.addOperation(operation)
      }
    }
    let (queue, started, end) = (Limited(), Gate(), Gate())
    let first = queue.addTask(coalescing: "a") {
      started.open()
      await end.untilOpen()
    }
    await started.untilOpen()
    #expect(!queue.addTask(coalescing: "a") {}.hasJoined)
    end.open()
    try await first.value
    try await queue.untilAllOperationsAreFinished()
    #expect(queue.keyCount == 0)
  }

  private final class Counted: Sendable {
    private let crowd: Crowd

    init(_ crowd: Crowd) {
      self.crowd = crowd
      crowd.enter()
    }

    deinit { crowd.leave() }
  }
}

extension OperationQueue {
  /// How many unfinished operations with keys the queue knows.
  var keyCount: Int { state.withLock { $0.admission.policies?.coalescingKeys }?.table.withLock { $0.count } ?? 0 }
}
