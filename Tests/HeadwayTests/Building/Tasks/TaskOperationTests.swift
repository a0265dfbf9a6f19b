import Headway
import HeadwayTestKit
import HeadwayTestSupport
import Synchronization
import Testing

@Suite("Task operation", .hangLimit) struct TaskOperationTests {
  private struct Failure: Error, Equatable {}

  private enum Context {
    @TaskLocal static var number = 0
  }

  @Test("B3: a dependent of a task operation can read its value without suspending")
  func value() async throws {
    let queue = OperationQueue()
    let page = queue.addTask { 20 }
    let image = queue.addTask("render", .dependingOn(page)) { try await page.value + 22 }
    #expect(try await image.value == 42)
    #expect(image.name == "render" && image.dependencies.isEmpty && image.isAsynchronous)
    #expect(try await page.value == 20)
  }

  @Test("B3: an error of the function is the operation's error, and is thrown to all callers that await the value")
  func failure() async throws {
    let queue = OperationQueue()
    let page = queue.addTask { () async throws -> Int in throw Failure() }
    let image = queue.addTask(.dependingOn(page)) { try await page.value }
    await #expect(throws: Failure.self) { try await page.value }
    await #expect(throws: Failure.self) { try await page.untilSucceeded() }
    let error = await #expect(throws: DependencyError.self) { try await image.value }
    #expect(error?.failedDependency === page && error?.underlyingError is Failure)
    #expect(page.error is Failure)
  }

  @Test("B3: a task operation keeps its slot in the limit while it awaits, and holds no thread")
  func place() async throws {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 2
    let (running, most) = (Counter(), EventRecorder<Int>())
    let tasks = (0..<200).map { _ in
      queue.addTask {
        most.record(running.increment())
        for _ in 0..<3 { await Task.yield() }
        running.decrement()
      }
    }
    for task in tasks { try await task.value }
    #expect(most.events.max() ?? 0 <= 2 && most.count == 200)

    let (gate, waiting) = (Gate(), OperationQueue())
    let many = (0..<2_000).map { _ in waiting.addTask { await gate.untilOpen() } }
    await until { many.allSatisfy { $0.isExecuting } }
    gate.open()
    try await waiting.untilAllOperationsAreFinished()
    #expect(many.allSatisfy { $0.isFinished })
  }

  @Test("C7: cancelling the operation cancels its task, before it starts and while it runs") func cancelled() async {
    let queue = OperationQueue()
    let (begun, seen) = (Gate(), EventRecorder<Bool>())
    let running = queue.addTask {
      begun.open()
      do { try await Task.sleep(for: .seconds(3_600)) } catch { seen.record(Task.isCancelled) }
      return 1
    }
    await begun.untilOpen()
    running.cancel()
    await #expect(throws: CancellationError.self) { try await running.value }
    #expect(seen.events == [true] && running.isCancelled)

    queue.isSuspended = true
    let waiting = queue.addTask { seen.record(false) }
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    #expect(seen.count == 1)
  }

  @Test("C7: a task that is cancelled from inside makes the operation cancelled") func cancelledInside() async {
    let queue = OperationQueue()
    let operation = queue.addTask {
      withUnsafeCurrentTask { $0?.cancel() }
      try Task.checkCancellation()
    }
    await #expect(throws: CancellationError.self) { try await operation.value }
    #expect(operation.isCancelled && operation.error == nil)
    // A cancellation error from another task is treated as any other error.
    let other = queue.addTask { throw CancellationError() }
    await #expect(throws: CancellationError.self) { try await other.value }
    #expect(!other.isCancelled && other.error is CancellationError)
  }

  @Test("W3: if a task stops waiting for the value, the operation continues") func stopsWaiting() async throws {
    let queue = OperationQueue()
    let gate = Gate()
    let operation = queue.addTask {
      await gate.untilOpen()
      return 7
    }
    let waiter = Task { try await operation.value }
    waiter.cancel()
    await #expect(throws: CancellationError.self) { try await waiter.value }
    gate.open()
    #expect(try await operation.value == 7)
  }

  @Test("B3: the task inherits the task-local values and the priority of its creator, and knows the queue")
  func inherited() async throws {
    let queue = OperationQueue()
    let operation = Context.$number.withValue(5) {
      queue.addTask {
        let before = OperationQueue.current === queue
        await Task.yield()
        return (Context.number, before, OperationQueue.current === queue)
      }
    }
    #expect(try await operation.value == (5, true, true))
    let priority = await Task(priority: .background) { TaskOperation { Task.basePriority } }.value
    queue.addOperation(priority)
    #expect(try await priority.value == .background)
  }

  @Test("B3, T2: blocking calls in tasks delay no other task") func blocking() async throws {
    let queue = OperationQueue()
    let meeting = Meeting(of: 16)
    let tasks = (0..<16).map { _ in
      queue.addTask {
        await Task.yield()
        meeting.attend()
      }
    }
    for task in tasks { try await task.value }
  }

  @MainActor private static func onMainActor() -> Bool {
    MainActor.assertIsolated()
    return true
  }

  @Test("B3: code that is isolated to an actor runs there") func isolated() async throws {
    let queue = OperationQueue()
    #expect(try await queue.addTask { @MainActor in Self.onMainActor() }.value)
    #expect(try await queue.addTask { await Self.onMainActor() }.value)
  }

  @Test("B3: the operation is started manually, inside a task, and in the queue of the main actor")
  func byHand() async throws {
    let operation = TaskOperation {
      await Task.yield()
      return Context.number
    }
    Context.$number.withValue(9) { operation.start() }
    #expect(try await operation.value == 0)
    let onMain = OperationQueue.main.addTask {
      await Task.yield()
      return 3
    }
    #expect(try await onMain.value == 3)
  }

  @Test("B3: an operation releases its captures after it ends, or when it is freed without running")
  func released() async throws {
    final class Captured: Sendable {}
    func expectRelease(after use: (TaskOperation<Void>) async throws -> Void) async rethrows {
      let captured = WeakReference<Captured>()
      let operation = { () -> TaskOperation<Void> in
        let object = Captured()
        captured.object = object
        return TaskOperation { withExtendedLifetime(object) {} }
      }()
      try await use(operation)
      await until { captured.object == nil }
    }
    try await expectRelease { operation in
      operation.start()
      try await operation.value
    }
    await expectRelease { $0.cancel() }
    // Dropped without having been used.
    let captured = WeakReference<Captured>()
    do {
      let object = Captured()
      captured.object = object
      _ = TaskOperation { withExtendedLifetime(object) {} }
    }
    #expect(captured.object == nil)
  }

  @Test("W3: run() waits until the operation has finished, returns its value or throws, and is cancelled with its task")
  func run() async throws {
    let queue = OperationQueue()
    try await queue.run(BlockOperation {})
    let value = try await queue.run(TaskOperation { 4 })
    #expect(value == 4)
    await #expect(throws: Failure.self) { try await queue.run(BlockOperation { throw Failure() }) }
    let (begun, ended) = (Gate(), Gate())
    let task = Task {
      try await queue.run(
        TaskOperation {
          begun.open()
          while !Task.isCancelled { await Task.yield() }
          ended.open()
        })
    }
    await begun.untilOpen()
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(ended.isOpen)
  }

  @Test("B3: when withOperationQueue returns or throws, no operation is running any longer")
  func structured() async throws {
    let count = Counter()
    let result = try await withOperationQueue(name: "few", maxConcurrentOperationCount: 3) { queue in
      #expect(queue.name == "few" && queue.maxConcurrentOperationCount == 3)
      for _ in 0..<100 { queue.addTask { count.increment() } }
      queue.addOperation { count.increment() }
      return "done"
    }
    #expect(result == "done" && count.value == 101)

    for _ in 0..<50 {
      let running = Counter()
      await #expect(throws: Failure.self) {
        try await withOperationQueue { queue in
          for number in 0..<20 {
            queue.addTask {
              running.increment()
              defer { running.decrement() }
              if number == 7 { throw Failure() }
              try await Task.sleep(for: .seconds(3_600))
            }
          }
        }
      }
      #expect(running.value == 0)
    }
    await #expect(throws: Failure.self) {
      try await withOperationQueue { queue in
        queue.addTask { try await Task.sleep(for: .seconds(3_600)) }
        throw Failure()
      }
    }
    let task = Task {
      try await withOperationQueue { queue in queue.addTask { try await Task.sleep(for: .seconds(3_600)) } }
    }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test("Q3: map returns the values in order, and runs only as many calls at the same time as the limit allows")
  func map() async throws {
    for limit in [1, 3, -1] {
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = limit
      let (running, most) = (Counter(), Counter())
      let values = try await queue.concurrentMap(0..<1_000) { number in
        let now = running.increment()
        if limit > 0, now > limit { most.increment() }
        if number % 7 == 0 { await Task.yield() }
        running.decrement()
        return "\(number)"
      }
      #expect(values == (0..<1_000).map { "\($0)" } && most.value == 0)
    }
    #expect(try await OperationQueue().concurrentMap([Int]()) { $0 } == [])
  }

  @Test("C7: the first error, or a cancellation, ends a map and its other calls")
  func mapEnds() async throws {
    let queue = OperationQueue()
    let running = Counter()
    for _ in 0..<50 {
      await #expect(throws: Failure.self) {
        try await queue.concurrentMap(0..<100) { number in
          running.increment()
          defer { running.decrement() }
          if number == 30 { throw Failure() }
          if number > 30 { try await Task.sleep(for: .seconds(3_600)) }
        }
      }
      #expect(running.value == 0)
    }
    let begun = Gate()
    let task = Task {
      try await queue.concurrentMap(0..<5) { _ in
        begun.open()
        try await Task.sleep(for: .seconds(3_600))
      }
    }
    await begun.untilOpen()
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    let other = Task {
      try await queue.concurrentMap(0..<5) { number in
        if number == 0 { queue.cancelAllOperations() }
        try await Task.sleep(for: .seconds(3_600))
      }
    }
    await #expect(throws: CancellationError.self) { try await other.value }
  }

  @Test("Q16: concurrentPerform makes one call per number, and returns when all calls have returned")
  func perform() throws {
    let queue = OperationQueue()
    let counts = (0..<1_000).map { _ in Counter() }
    queue.concurrentPerform(iterations: 1_000) { counts[$0].increment() }
    #expect(counts.allSatisfy { $0.value == 1 })
    queue.concurrentPerform(iterations: 0) { _ in Issue.record("called") }
    // Bodies that block overlap.
    let meeting = Meeting(of: 40)
    queue.concurrentPerform(iterations: 40) { _ in meeting.attend() }
    // This includes calls inside an operation of the queue, where other operations have all concurrency slots.
    queue.maxConcurrentOperationCount = 1
    let inside = Counter()
    queue.addOperations(
      [BlockOperation { queue.concurrentPerform(iterations: 10) { _ in inside.increment() } }], waitUntilFinished: true)
    #expect(inside.value == 10)
    let begun = Counter()
    #expect(throws: Failure.self) {
      try queue.concurrentPerform(iterations: 1_000) { number throws(Failure) in
        begun.increment()
        if number == 3 { throw Failure() }
      }
    }
    #expect(begun.value == 4)
  }

  @Test("B3, D3: a function can wait for the success of a list of operations") func afterList() async throws {
    let queue = OperationQueue()
    let parts = (1...5).map { number in queue.addTask { number } }
    let sum = queue.addTask(.dependingOn(parts)) {
      var sum = 0
      for part in parts { sum += try await part.value }
      return sum
    }
    #expect(try await sum.value == 15)
    let failing: [Operation] = parts + [queue.addTask { throw Failure() }]
    let error = await #expect(throws: DependencyError.self) { try await queue.addTask(.dependingOn(failing)) {}.value }
    #expect(error?.failedDependency === failing.last)
  }

  @Test("B3: the error of the operation that ended a scope is thrown, whatever the body then throws")
  func scopeThrowsCause() async {
    await #expect(throws: Failure.self) {
      try await withOperationQueue { queue in
        let slow = queue.addTask { try await Task.sleep(for: .seconds(3_600)) }
        queue.addTask { throw Failure() }
        try await slow.value
      }
    }
  }

  @Test("Q16: the asynchronous concurrentPerform calls a function with each number")
  func performAsync() async throws {
    let queue = OperationQueue()
    let counts = (0..<1_000).map { _ in Counter() }
    try await queue.concurrentPerform(iterations: 1_000) { number in
      await Task.yield()
      counts[number].increment()
    }
    #expect(counts.allSatisfy { $0.value == 1 })
    try await queue.concurrentPerform(iterations: 0) { _ in Issue.record("called") }
    queue.maxConcurrentOperationCount = 1
    let begun = Counter()
    await #expect(throws: Failure.self) {
      try await queue.concurrentPerform(iterations: 1_000) { number in
        begun.increment()
        if number == 3 { throw Failure() }
      }
    }
    #expect(begun.value == 4)
  }

  @Test("B3, Q3: an operation ends when its last job has returned, even if its thread then runs an actor's jobs")
  func endsAfterLastJob() async throws {
    actor Shared {
      func hold(_ entered: Gate, _ goOn: Gate) {
        entered.open()
        goOn.wait()
      }
      func call(_ body: @Sendable () -> Void) { body() }
    }
    final class Local: Sendable {
      let (inside, goOn, released): (Gate, Gate, Gate)
      init(_ inside: Gate, _ goOn: Gate, _ released: Gate) {
        (self.inside, self.goOn, self.released) = (inside, goOn, released)
      }
      deinit {
        inside.open()
        goOn.wait()
        released.open()
      }
    }
    let (shared, queue, other) = (Shared(), OperationQueue(), OperationQueue())
    queue.maxConcurrentOperationCount = 1
    let (entered, goOn, inside, release, released) = (Gate(), Gate(), Gate(), Gate(), Gate())
    let operation = TaskOperation {
      // Freed by the last job.
      let local = Local(inside, release, released)
      await shared.hold(entered, goOn)
      withExtendedLifetime(local) {}
    }
    queue.addOperation(operation)
    await entered.untilOpen()
    let wasReleased = EventRecorder<Bool>()
    let next = BlockOperation { wasReleased.record(released.isOpen) }
    queue.addOperation(next)
    // The thread in the actor also does this, after it has left the operation's part, while another thread finishes the
    // operation.
    let foreign = Task(executorPreference: other) {
      await shared.call { if eventually(patience: 2_000, { inside.isOpen }) { yieldThread() } }
    }
    await until { other.operationCount == 0 }
    goOn.open()
    await inside.untilOpen()
    await foreign.value
    release.open()
    try await next.untilFinished()
    #expect(wasReleased.events == [true])
  }
}
