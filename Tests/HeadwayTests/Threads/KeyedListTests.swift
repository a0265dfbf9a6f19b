import HeadwayTestKit
import HeadwayTestSupport
import Synchronization
import Testing

@testable import Headway

@Suite("Keyed list", .hangLimit) struct KeyedListTests {
  /// A key that counts how often keys are compared and hashed.
  private struct CountingKey: Hashable {
    static let steps = Atomic(0)

    let number: Int

    static func == (left: CountingKey, right: CountingKey) -> Bool {
      steps.add(1, ordering: .relaxed)
      return left.number == right.number
    }

    func hash(into hasher: inout Hasher) {
      Self.steps.add(1, ordering: .relaxed)
      hasher.combine(number)
    }
  }

  @Test("D7: removing by key takes constant time in any order")
  func steps() {
    for count in [100, 1_000, 10_000] {
      for order in [Array(0..<count), Array((0..<count).reversed()), (0..<count).map { $0 * 7_919 % count }] {
        var list = KeyedList<CountingKey, Int>()
        CountingKey.steps.store(0, ordering: .relaxed)
        for number in 0..<count { list.append(number, CountingKey(number: number)) }
        for number in order { #expect(list.remove(CountingKey(number: number)) == number) }
        #expect(list.isEmpty && CountingKey.steps.load(ordering: .relaxed) < 60 * count)
      }
    }
  }

  @Test("D7: any sequence of changes leaves the values in their order", arguments: 1...20)
  func random(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var list = KeyedList<Int, Int>()
    var values: [(value: Int, key: Int?)] = []
    for number in 0..<2_000 {
      // It grows and shrinks again.
      let grows = Int.random(in: 0..<4, using: &generator) < (number / 300 % 2 == 0 ? 3 : 1)
      if grows {
        let key = Bool.random(using: &generator) || number % 5 > 0 ? number : nil
        list.append(number, key)
        values.append((number, key))
      } else if Int.random(in: 0..<3, using: &generator) == 0 {
        #expect(list.removeFirst() == (values.isEmpty ? nil : values.removeFirst().value))
      } else {
        let key = Int.random(in: 0...number, using: &generator)
        let position = values.firstIndex { $0.key == key }
        #expect(list.value(of: key) == position.map { values[$0].value })
        list.change(key) { $0 += 10_000 }
        if let position { values[position].value += 10_000 }
        if Bool.random(using: &generator) {
          #expect(list.remove(key) == position.map { values.remove(at: $0).value })
        }
      }
      #expect(list.count == values.count && list.isEmpty == values.isEmpty)
    }
    #expect(list.values == values.map(\.value))
    #expect(list.removeAll() == values.map(\.value) && list.isEmpty && list.removeFirst() == nil)
  }

  @Test("W3: waiters wake in the order of registration, without those that were removed") func waiters() async {
    let woken = Mutex<[Int]>([])
    var list = WaiterList()
    #expect(list.isEmpty && list.remove(1) == nil)
    for number in 0..<100 { list.append(.handler { woken.withLock { $0.append(number) } }) }
    #expect(list.count == 100)
    list.removeFirst()?.wake()
    for waiter in list.removeAll() { waiter.wake() }
    #expect(list.isEmpty && woken.withLock { $0 } == Array(0..<100))
  }
}

@Suite("Cost of many", .hangLimit) struct ManyTests {
  @Test("W3: waiting tasks are cancelled in any order, and the rest continue") func cancelledTasks() async throws {
    let queue = OperationQueue()
    queue.isSuspended = true
    let operation = BlockOperation {}
    queue.addOperation(operation)
    let tasks = (0..<200).map { number in
      Task { () -> Bool in
        do {
          if number % 2 == 0 {
            try await operation.untilFinished()
          } else {
            try await queue.untilAllOperationsAreFinished()
          }
          return true
        } catch { return false }
      }
    }
    await until {
      operation.links.withLock { $0.details?.pointee.waiters.count } == 100
        && queue.state.withLock { $0.reportWaiters.count } == 100
    }
    for number in stride(from: 199, through: 0, by: -3) { tasks[number].cancel() }
    for number in stride(from: 199, through: 0, by: -3) { #expect(await !tasks[number].value) }
    queue.isSuspended = false
    for (number, task) in tasks.enumerated() where number % 3 != 1 { #expect(await task.value) }
  }

  @Test("Q10: reading a progress reads only the parts that have reported a change, each once") func progressReports() {
    let whole = OperationProgress(totalUnitCount: 1_000)
    let parts = (0..<1_000).map { _ in OperationProgress(totalUnitCount: 10, parent: whole, pendingUnitCount: 1) }
    func reportedCount() -> Int { whole.state.withLock { $0.parts.reportedCount } }
    #expect(whole.fractionCompleted == 0 && reportedCount() == 0)
    for part in parts { part.state.withLock { $0.completed = 5 } }
    // There was no notification of it.
    #expect(whole.fractionCompleted == 0)
    let steps = Mutex(0)
    let token = whole.onChange { _ in steps.withLock { $0 += 1 } }
    for (number, part) in parts.enumerated() {
      part.completedUnitCount = 5
      // The part notified the whole, which has read it.
      #expect(reportedCount() == 0)
      #expect(abs(whole.fractionCompleted - Double(number + 1) / 2_000) < 1e-12)
    }
    #expect(steps.withLock { $0 } == 50)
    // Less than a hundredth: recorded once, no matter how often it reports.
    for part in parts { part.totalUnitCount = 1_000_000 }
    #expect(whole.fractionCompleted < 0.001 && reportedCount() == 0)
    for count in 6...9 { parts[7].completedUnitCount = Int64(count) }
    #expect(reportedCount() == 1)
    #expect(abs(whole.fractionCompleted - (5 * 999 + 9) / 1e9) < 1e-12 && reportedCount() == 0)
    token.invalidate()
  }

  @Test("Q10: a report counts at any depth, before the fraction of the whole is next read") func deepProgress() {
    let whole = OperationProgress(totalUnitCount: 2)
    let middle = OperationProgress(totalUnitCount: 4, parent: whole, pendingUnitCount: 1)
    let part = OperationProgress(totalUnitCount: 1_000_000, parent: middle, pendingUnitCount: 2)
    for count in 1...50 {
      part.completedUnitCount = Int64(count)
      #expect(abs(whole.fractionCompleted - Double(count) / 4_000_000) < 1e-12)
    }
    part.completedUnitCount = 1_000_000
    #expect(middle.completedUnitCount == 2 && whole.fractionCompleted == 0.25)
    // A part that has finished and continues is no longer a part.
    part.totalUnitCount = 2_000_000
    #expect(whole.fractionCompleted == 0.25)
  }

  @Test("Q10: parts that are added and removed leave nothing in a whole whose fraction is never read")
  func formerParts() {
    let whole = OperationProgress(totalUnitCount: 1_000_000)
    for _ in 0..<1_000 {
      let part = OperationProgress(totalUnitCount: 1_000_000, parent: whole, pendingUnitCount: 1)
      part.state.withLock { $0.completed = 1_000_000 }
      #expect(whole.count(part))
    }
    #expect(whole.state.withLock { $0.parts.isEmpty && $0.parts.reportedCount <= 16 })
    #expect(whole.completedUnitCount == 1_000)
  }

  @Test("Q10: each operation of a queue counts in the parent of its progress")
  func queueAsPart() async throws {
    let queue = OperationQueue()
    queue.progress.totalUnitCount = 1_000
    let whole = OperationProgress(totalUnitCount: 2)
    whole.addChild(queue.progress, withPendingUnitCount: 1)
    for count in 1...5 {
      queue.addOperation {}
      try await queue.untilAllOperationsAreFinished()
      #expect(abs(whole.fractionCompleted - Double(count) / 2_000) < 1e-12)
    }
    // It has done half of its work before it starts.
    let gate = Gate()
    let half = BlockOperation { gate.wait() }
    half.progress.totalUnitCount = 2
    half.progress.completedUnitCount = 1
    let started = Gate()
    let token = half.observe(\.isExecuting) { _, _ in started.open() }
    queue.addOperation(half)
    await started.untilOpen()
    #expect(abs(whole.fractionCompleted - 5.5 / 2_000) < 1e-12)
    gate.open()
    try await queue.untilAllOperationsAreFinished()
    #expect(abs(whole.fractionCompleted - 6.0 / 2_000) < 1e-12)
    token.invalidate()
  }

  @Test("Q10: several threads that report concurrently leave the fraction exact") func concurrentReports() {
    let whole = OperationProgress(totalUnitCount: 64)
    let parts = (0..<64).map { _ in OperationProgress(totalUnitCount: 1_000, parent: whole, pendingUnitCount: 1) }
    OperationQueue().concurrentPerform(iterations: 64) { number in
      for count in 1...(number + 1) * 10 {
        parts[number].completedUnitCount = Int64(count)
        if count % 50 == 0 { _ = whole.fractionCompleted }
      }
    }
    let expected = (1...64).reduce(0.0) { $0 + Double($1) / 100 } / 64
    #expect(abs(whole.fractionCompleted - expected) < 1e-9)
  }

  @Test("Q14: an event wakes the waiting listeners; others are added and removed without visiting them")
  func listeners() async {
    let log = EventLog()
    let buffers = (0..<100).map { _ in log.addBuffer() }
    #expect(log.takeWaiters().isEmpty)
    let waiting = Task { await buffers[40].take(isolation: nil).count }
    await until { buffers[40].isAwaited }
    log.append(.threadLimitReached(limit: 1))
    let waiters = log.takeWaiters()
    #expect(waiters.count == 1 && log.takeWaiters().isEmpty)
    for waiter in waiters { waiter.wake() }
    #expect(await waiting.value == 1)
    for buffer in buffers.reversed() { #expect(buffer.removeFromLog() == (buffer === buffers[0])) }
  }

  @Test("K2: observers are added and removed in any order, and the remaining ones are notified in insertion order")
  func observers() {
    let queue = OperationQueue()
    let calls = Mutex<[Int]>([])
    var tokens: [KeyValueObservation?] = (0..<100).map { number in
      queue.observe(\.isSuspended) { _, _ in calls.withLock { $0.append(number) } }
    }
    for number in stride(from: 0, to: 100, by: 3) { tokens[number] = nil }
    for number in stride(from: 98, to: 0, by: -3) { tokens[number]?.invalidate() }
    queue.isSuspended = true
    #expect(calls.withLock { $0 } == Array(stride(from: 1, to: 100, by: 3)))
    tokens = []
    queue.isSuspended = false
    #expect(calls.withLock { $0.count } == 33)
  }

  @Test("K2: observers that are added and removed during notifications are notified or not, each once")
  func observersInside() {
    let queue = OperationQueue()
    let calls = Mutex(0)
    let kept = Mutex<[KeyValueObservation]>([])
    let token = queue.observe(\.isSuspended) { queue, _ in
      let tokens = (0..<50).map { _ in
        queue.observe(\.name, options: .initial) { _, _ in calls.withLock { $0 += 1 } }
      }
      for token in tokens.reversed().prefix(49) { token.invalidate() }
      kept.withLock { $0 = tokens }
    }
    queue.isSuspended = true
    #expect(calls.withLock { $0 } == 1)
    token.invalidate()
  }
}
