import HeadwayTestKit
import HeadwayTestSupport
import Synchronization
import Testing

@testable import Headway

/// Operations and callers that wait for others without depending on them.
///
/// A queue is suspended, or its place is taken, until everything is there. So what has been raised by then shows in the
/// operations, and how they run shows in the nice values of their threads.
@Suite("Raising", .hangLimit) struct RaisingTests {
  private func operation(
    _ quality: QualityOfService = .default, _ body: @escaping @Sendable () -> Void = {}
  ) -> BlockOperation {
    let operation = BlockOperation(block: body)
    operation.qualityOfService = quality
    return operation
  }

  private func isRaised(_ operation: Headway.Operation, in queue: QualityOfService = .default) -> Bool {
    operation.effectiveQuality(in: queue).workerClass == .normal
  }

  /// A queue that starts nothing yet.
  private func suspendedQueue(
    limit: Int = OperationQueue.defaultMaxConcurrentOperationCount, order: QueueOrder = .priority,
    _ quality: QualityOfService = .default
  ) -> OperationQueue {
    let queue = OperationQueue(order: order, qualityOfService: quality)
    if order == .priority { queue.maxConcurrentOperationCount = limit }
    queue.isSuspended = true
    return queue
  }

  // MARK: Limits

  @Test("P5, Q3: what runs is raised while an urgent operation waits for its place", arguments: [1, 2])
  func runningAtLimit(limit: Int) {
    let queue = OperationQueue(limit: limit)
    let (begun, end) = (Counter(), Gate())
    let low = (0..<limit).map { _ in
      operation(.background) {
        begun.increment()
        end.wait()
      }
    }
    queue.addOperations(low, waitUntilFinished: false)
    #expect(eventually { begun.value == limit })
    #expect(low.allSatisfy { !isRaised($0) })
    let urgent = operation(.userInitiated)
    queue.addOperation(urgent)
    #expect(low.allSatisfy { isRaised($0) })
    end.open()
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test("P5, Q3: what runs is not raised while there is another place, or while the urgent one is not ready")
  func notAtLimit() {
    let queue = OperationQueue(limit: 2)
    let (begun, end) = (Gate(), Gate())
    let low = operation(.background) {
      begun.open()
      end.wait()
    }
    queue.addOperation(low)
    begun.wait()
    let (urgent, first) = (operation(.userInitiated), BlockOperation {})
    urgent.addDependency(first)
    queue.addOperation(urgent)
    first.start()
    urgent.waitUntilFinished()
    #expect(!isRaised(low))
    end.open()
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test("P5, W2: what an operation at the limit is blocked on is raised, before and after the urgent one comes")
  func blockedAtLimit() {
    let queue = OperationQueue(limit: 1)
    let (low, later) = (suspendedQueue(.background), suspendedQueue(.background))
    let (first, second, begun) = (operation(), operation(), Gate())
    low.addOperation(first)
    later.addOperation(second)
    // Without a quality of service of its own it raises nothing by itself.
    queue.addOperation {
      begun.open()
      first.waitUntilFinished()
      second.waitUntilFinished()
    }
    begun.wait()
    queue.addOperation(operation(.userInitiated))
    #expect(eventually { isRaised(first, in: .background) })
    #expect(!isRaised(second, in: .background))
    low.isSuspended = false
    #expect(eventually { isRaised(second, in: .background) })
    later.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
  }

  #if os(Linux)
  private func operation(_ quality: QualityOfService, _ nice: EventRecorder<Int32>) -> BlockOperation {
    operation(quality) { nice.record(currentNiceValue()) }
  }

  private var low: Int32 { min(19, processNiceValue() + 19) }

  @Test("P5, Q3: what starts before an urgent operation runs as it does, and what starts after it does not")
  func startingAtLimit() {
    let queue = suspendedQueue(limit: 1)
    let values = EventRecorder<Int32>()
    let last = operation(.background, values)
    last.queuePriority = .low
    let operations = [last, operation(.background, values), operation(.userInitiated, values)]
    queue.addOperations(operations, waitUntilFinished: false)
    // Comes before the urgent one, although it is added later.
    let overtaking = operation(.background, values)
    overtaking.queuePriority = .veryHigh
    queue.addOperation(overtaking)
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    #expect(values.events == Array(repeating: processNiceValue(), count: 3) + [low])
  }

  @Test("P5, Q3, C5: an urgent operation that is cancelled raises nothing that starts afterwards")
  func cancelledAtLimit() {
    let queue = suspendedQueue(limit: 1)
    let values = EventRecorder<Int32>()
    let urgent = operation(.userInitiated)
    queue.addOperations([operation(.background, values), urgent], waitUntilFinished: false)
    urgent.cancel()
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    #expect(values.events == [low])
  }

  @Test("P5, Q12: where operations start in the order of adding, all before an urgent one run as it does")
  func order() {
    let queue = suspendedQueue(order: .fifo)
    let values = EventRecorder<Int32>()
    let operations = [QualityOfService.background, .utility, .userInitiated, .background].map {
      operation($0, values)
    }
    queue.addOperations(operations, waitUntilFinished: false)
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    #expect(values.events == Array(repeating: processNiceValue(), count: 3) + [low])
  }

  @Test("P5, Q8: all before a barrier, and the barrier, run as what is behind it")
  func barrier() {
    let queue = suspendedQueue(.background)
    let values = EventRecorder<Int32>()
    queue.addOperation(operation(.default, values))
    queue.addBarrierBlock { values.record(currentNiceValue()) }
    queue.addOperation(operation(.background, values))
    queue.addBarrierBlock { values.record(currentNiceValue()) }
    let urgent = operation(.userInitiated, values)
    queue.addOperation(urgent)
    queue.isSuspended = false
    urgent.waitUntilFinished()
    #expect(values.events == Array(repeating: processNiceValue(), count: 5))
    queue.addOperations([operation(.default, values)], waitUntilFinished: true)
    #expect(values.events.last == low)
  }

  @Test("P3, P5: a task operation that waits for an urgent one's place continues on a thread of that class")
  func taskAtLimit() async throws {
    let queue = OperationQueue(limit: 1)
    let (begun, goOn) = (Gate(), Gate())
    let task = TaskOperation {
      begun.open()
      await goOn.opened()
      return currentNiceValue()
    }
    task.qualityOfService = .background
    queue.addOperation(task)
    await begun.opened()
    let urgent = operation(.userInitiated)
    queue.addOperation(urgent)
    #expect(isRaised(task))
    goOn.open()
    // Awaited, it would be raised by that.
    try await urgent.finished()
    #expect(try await task.value == processNiceValue())
  }

  @Test("P5: the thread of an operation is raised with it while it runs, if the process may do that")
  func thread() {
    guard mayLowerNiceValue() else { return }
    let queue = OperationQueue(limit: 1)
    let (begun, end, values) = (Gate(), Gate(), EventRecorder<Int32>())
    let first = operation(.background) {
      begun.open()
      end.wait()
      values.record(currentNiceValue())
    }
    queue.addOperation(first)
    begun.wait()
    let urgent = operation(.userInitiated)
    queue.addOperation(urgent)
    end.open()
    urgent.waitUntilFinished()
    queue.addOperations([operation(.background, values)], waitUntilFinished: true)
    #expect(values.events == [processNiceValue(), low])
  }
  #endif

  // MARK: What was added before

  @Test("P5: what the operations before an urgent one depend on is raised", arguments: [true, false])
  func dependenciesOfPredecessors(isFIFO: Bool) {
    let (queue, other) = (suspendedQueue(order: isFIFO ? .fifo : .priority), suspendedQueue(.background))
    let (dependency, later) = (operation(), operation())
    other.addOperations([dependency, later], waitUntilFinished: false)
    let (first, last) = (operation(), operation())
    first.addDependency(dependency)
    queue.addOperation(first)
    if !isFIFO { queue.addBarrierBlock {} }
    queue.addOperation(last)
    #expect(!isRaised(dependency, in: .background))
    // Later, and not from the beginning.
    last.qualityOfService = .userInitiated
    #expect(isRaised(dependency, in: .background))
    first.addDependency(later)
    #expect(isRaised(later, in: .background))
    (queue.isSuspended, other.isSuspended) = (false, false)
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test("P5: each operation is passed once for each class, however many urgent ones come behind it")
  func bound() {
    for order in [QueueOrder.fifo, .priority] {
      let queue = suspendedQueue(order: order)
      let count = 2_000
      var urgentCount = 0
      for number in 0..<count {
        let isUrgent = number % 5 == 4
        if isUrgent { urgentCount += 1 }
        queue.addOperation(operation(!isUrgent ? .background : number % 2 == 0 ? .utility : .userInitiated))
        if number % 100 == 99 { queue.addBarrierBlock {} }
      }
      let steps = queue.state.withLock { $0.admission.passedCount }
      // Behind a barrier, the first one of each class passes those of its own segment, too.
      #expect(steps <= 2 * (count + count / 100) + 2 * count + urgentCount)
      queue.cancelAllOperations()
    }
  }

  // MARK: Waiting

  @Test("P5, W2: what an operation is blocked on is raised, directly and through others, before and after it blocks")
  func blocked() {
    let (low, queue, urgentQueue) = (suspendedQueue(.background), OperationQueue(), OperationQueue())
    let (first, second, third) = (operation(), operation(), operation())
    low.addOperations([first, second, third], waitUntilFinished: false)
    urgentQueue.addOperation(operation(.userInitiated) { first.waitUntilFinished() })
    #expect(eventually { isRaised(first, in: .background) })
    #expect(!isRaised(second, in: .background))
    // Blocked first, and urgent later.
    let begun = Gate()
    let waiting = operation(.background) {
      begun.open()
      second.waitUntilFinished()
    }
    queue.addOperation(waiting)
    begun.wait()
    let urgent = operation(.userInitiated)
    urgent.addDependency(waiting)
    urgentQueue.addOperation(urgent)
    #expect(eventually { isRaised(second, in: .background) })
    #expect(!isRaised(third, in: .background))
    low.isSuspended = false
    urgent.waitUntilFinished()
    low.waitUntilAllOperationsAreFinished()
    urgentQueue.waitUntilAllOperationsAreFinished()
  }

  @Test("P5, Q6: what a queue holds, and what is added to it, is raised while an urgent operation waits for all of it")
  func blockedOnQueue() {
    let (low, urgentQueue) = (suspendedQueue(.background), OperationQueue())
    let first = operation()
    low.addOperation(first)
    urgentQueue.addOperation(operation(.userInitiated) { low.waitUntilAllOperationsAreFinished() })
    #expect(eventually { isRaised(first, in: .background) })
    let second = operation()
    low.addOperation(second)
    #expect(isRaised(second, in: .background))
    low.isSuspended = false
    urgentQueue.waitUntilAllOperationsAreFinished()
    low.isSuspended = true
    let third = operation()
    low.addOperation(third)
    #expect(!isRaised(third, in: .background), "no caller waits any more")
    low.isSuspended = false
    low.waitUntilAllOperationsAreFinished()
  }

  @Test("P5: so it is with operations that a caller adds and waits for") func addedAndAwaited() {
    let (low, urgentQueue) = (suspendedQueue(.background), OperationQueue())
    let operations = [operation(), operation()]
    urgentQueue.addOperation(
      operation(.userInitiated) { low.addOperations(operations, waitUntilFinished: true) })
    #expect(eventually { operations.allSatisfy { isRaised($0, in: .background) } })
    low.isSuspended = false
    urgentQueue.waitUntilAllOperationsAreFinished()
  }

  @Test("P5, Q6, Q13: what a queue holds is raised while a task of a high priority waits for it")
  func awaitedQueue() async throws {
    for isFull in [true, false] {
      let low = suspendedQueue(.background)
      if isFull { low.pendingLimit = 1 }
      let first = operation()
      low.addOperation(first)
      let waits = Task.detached(priority: .background) {
        if isFull { try await low.add {} } else { try await low.finished() }
      }
      await until { low.state.withLock { $0.isAwaited } }
      #expect(!isRaised(first, in: .background))
      waits.escalatePriority(to: .high)
      await until { isRaised(first, in: .background) }
      waits.cancel()
      await #expect(throws: CancellationError.self) { try await waits.value }
      let second = operation()
      low.addOperation(second)
      #expect(!isRaised(second, in: .background), "no caller waits any more")
      low.isSuspended = false
      try await low.finished()
    }
  }

  @Test("P5, Q15: a job of an actor raises those before it in the actor's queue") func actor() async {
    let journal = Journal()
    journal.queue.isSuspended = true
    let low = Task.detached(priority: .background) { await journal.priority() }
    await until { journal.queue.operationCount == 1 }
    let first = journal.queue.operations[0]
    #expect(!isRaised(first))
    let high = Task.detached(priority: .high) { await journal.priority() }
    await until { journal.queue.operationCount == 2 }
    #expect(isRaised(first))
    journal.queue.isSuspended = false
    _ = (await low.value, await high.value)
  }

  @Test("P5, Q15: a job that waits is raised when its task is escalated") func job() async {
    let queue = suspendedQueue()
    let low = Task(executorPreference: queue, priority: .background) { Task.currentPriority }
    await until { queue.operationCount == 1 }
    let job = queue.operations[0]
    queue.raiseEscalated()
    #expect(!isRaised(job))
    let high = Task.detached(priority: .high) { await low.value }
    await until {
      queue.raiseEscalated()
      return isRaised(job)
    }
    queue.isSuspended = false
    #expect(await high.value >= .high)
  }

  @Test("P5, Q15: a queue that is at work looks for that by itself") func jobBehindOthers() async {
    let queue = OperationQueue(limit: 1)
    let end = queue.occupy()
    let low = Task(executorPreference: queue, priority: .background) {}
    await until { queue.operationCount == 2 }
    let job = queue.operations[1]
    let high = Task.detached(priority: .high) { await low.value }
    await until { isRaised(job) }
    end.open()
    await high.value
  }

  @Test("P5, Q15: so is one that a thread has taken, and not started") func takenJob() {
    var admission = Admission()
    let jobs = (0..<3).map { _ in EscalatedOperation() }
    for job in jobs {
      _ = job.state.reserve()
      let isIn = admission.add(.passRetained(job))
      #expect(isIn)
    }
    let batch = Batch()
    batch.reset(for: OperationQueue(), nil, admission.placement, .background)
    let isFilled = admission.fill(batch, atMost: 3, indivisible: 3, at: 0, where: { $0.fitsBatch })
    #expect(isFilled && batch.count == 3)
    // The first belongs to the thread.
    let (escalated, hasJobs) = admission.findEscalated()
    #expect(hasJobs && escalated.count == 2)
    #expect(escalated.allSatisfy { $0.operation !== jobs[0] && $0.operation.admission.place == .ready })
    for job in jobs { OperationReference(job).release() }
  }

  /// Stands for a job of a task that has been escalated.
  private final class EscalatedOperation: Headway.Operation, @unchecked Sendable {
    override init() {
      super.init()
      qualityOfService = .background
    }

    override func main() {}

    override var levelOfTask: Int? { QualityOfService.userInitiated.level }
  }

  @Test("P5, Q15: so is one that runs") func runningJob() async {
    let queue = OperationQueue()
    let (begun, end) = (Gate(), Gate())
    let low = Task(executorPreference: queue, priority: .background) {
      begun.open()
      end.wait()
    }
    await begun.opened()
    let job = queue.operations[0]
    let high = Task.detached(priority: .high) { await low.value }
    await until { isRaised(job) }
    end.open()
    await high.value
    // The task is not kept.
    await until { job.levelOfTask == nil }
  }

  @Test("P5, B1, Q16: what each block and each iteration is blocked on is raised", arguments: [true, false])
  func blockedThreads(isPerform: Bool) {
    let (low, queue) = (suspendedQueue(.background), OperationQueue())
    let awaited = (0..<3).map { _ in operation() }
    low.addOperations(awaited, waitUntilFinished: false)
    let waiting = operation(.background) {
      if isPerform {
        queue.concurrentPerform(iterations: 3) { awaited[$0].waitUntilFinished() }
      } else {
        awaited[0].waitUntilFinished()
      }
    }
    if !isPerform { for number in 1...2 { waiting.addExecutionBlock { awaited[number].waitUntilFinished() } } }
    queue.addOperation(waiting)
    #expect(eventually { waiting.waits.count == 3 })
    #expect(awaited.allSatisfy { !isRaised($0, in: .background) })
    let urgent = operation(.userInitiated)
    urgent.addDependency(waiting)
    queue.addOperation(urgent)
    #expect(awaited.allSatisfy { isRaised($0, in: .background) })
    low.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    #expect(waiting.waits.isEmpty)
  }

  @Test("P5, K3: a task that waits for the next state of an operation raises it") func states() async {
    let low = suspendedQueue(.background)
    let operation = operation()
    low.addOperation(operation)
    let task = Task.detached(priority: .high) { for await _ in operation.states {} }
    await until { isRaised(operation, in: .background) }
    low.isSuspended = false
    await task.value
  }

  // MARK: Helpers

  #if os(Linux)
  /// Runs `body` on a thread of the background class.
  private func onLowThread(_ body: @escaping @Sendable () -> Void) {
    let end = Gate()
    let work = PoolBlock {
      body()
      end.open()
    }
    WorkerPool.pool(of: .background).submit(work, count: 1)
    end.wait()
  }

  @Test("P5: a thread that comes to an operation after that was raised is raised, too", arguments: [true, false])
  func lateThread(raisesQueue: Bool) {
    guard mayLowerNiceValue() else { return }
    let (queue, end, values) = (OperationQueue(), Gate(), EventRecorder<Int32>())
    let begun = Gate()
    let running = operation(.background) {
      begun.open()
      end.wait()
    }
    queue.addOperation(running)
    begun.wait()
    if raisesQueue {
      queue.qualityOfService = .userInitiated
    } else {
      Headway.Operation.raise([running], level: QualityOfService.userInitiated.level)
    }
    onLowThread {
      ThreadContext.run(running, in: queue, isShared: true) { values.record(currentNiceValue()) }
      values.record(currentNiceValue())
    }
    #expect(values.events == [processNiceValue(), low])
    end.open()
    queue.waitUntilAllOperationsAreFinished()
  }

  /// What the task of a caller waits for while an end is reported.
  enum ReportWait: CaseIterable { case operation, queue, blocking, observer }

  @Test("P5, W3: the thread that reports an end is raised for those that wait for that", arguments: ReportWait.allCases)
  func report(kind: ReportWait) async {
    guard mayLowerNiceValue() else { return }
    let (queue, values) = (OperationQueue(), EventRecorder<Int32>())
    let (begun, go) = (Gate(), Gate())
    let report: @Sendable () -> Void = {
      values.record(currentNiceValue())
      begun.open()
      go.wait()
      values.record(currentNiceValue())
    }
    let isObserved = kind == .blocking || kind == .observer
    if !isObserved { queue.onFailure = { _, _ in report() } }
    let failing = BlockOperation { throw Mishap() }
    failing.qualityOfService = .background
    let token = isObserved ? failing.observe(\.isFinished) { _, _ in report() } : nil
    queue.addOperation(failing)
    await begun.opened()
    let urgent = operation(.userInitiated) { if kind == .blocking { failing.waitUntilFinished() } }
    OperationQueue().addOperation(urgent)
    let waits = Task.detached(priority: .high) {
      switch kind {
      case .operation, .observer: try await failing.finished()
      case .queue: try await queue.finished()
      case .blocking: try await urgent.finished()
      }
    }
    await until {
      WorkerPool.pool(of: .background).state.withLock { state in
        state.workers.contains { $0.isRaised(for: OperationReference(failing)) }
      }
    }
    go.open()
    _ = try? await waits.value
    #expect(values.events == [low, processNiceValue()])
    queue.onFailure = nil
    withExtendedLifetime(token) {}
  }

  @Test("P5: a thread that comes back to an operation that was raised meanwhile is raised, too") func threadComesBack()
  {
    guard mayLowerNiceValue() else { return }
    let (queue, values) = (OperationQueue(), EventRecorder<Int32>())
    let (outer, inner) = (operation(.background), operation(.background))
    onLowThread {
      ThreadContext.run(outer, in: queue) {
        ThreadContext.run(inner, in: queue) {
          Headway.Operation.raise([outer], level: QualityOfService.userInitiated.level)
          values.record(currentNiceValue())
        }
        values.record(currentNiceValue())
      }
      values.record(currentNiceValue())
    }
    #expect(values.events == [low, processNiceValue(), low])
  }
  #endif

  @Test("P5: threads of its new class help with a run of a graph that was raised") func graphRun() throws {
    let (queue, meeting) = (OperationQueue(), Meeting(of: 2))
    let (begun, go, classes) = (Gate(), Gate(), EventRecorder<WorkerClass?>())
    let graph = try OperationGraph { graph in
      let first = graph.addNode {
        begun.open()
        go.wait()
      }
      for _ in 0..<2 {
        graph.addNode(after: [first]) {
          meeting.attend()
          classes.record(Worker.current?.pool.workerClass)
        }
      }
    }
    let run = graph.operation(maxConcurrentNodeCount: 2)
    run.qualityOfService = .background
    queue.addOperation(run)
    begun.wait()
    let urgent = operation(.userInitiated)
    urgent.addDependency(run)
    queue.addOperation(urgent)
    go.open()
    urgent.waitUntilFinished()
    // The thread that has begun the run stays with it.
    #expect(Set(classes.events) == [.background, .normal])
  }

  @Test("P5, Q16: a thread of the old class that comes late leaves its place to one of the new class") func lateHelper()
  {
    let executor = ClassedExecutor()
    let counter = Counter()
    let raised = CallingOperation(on: executor) { operation in
      guard counter.increment() == 1 else { return }
      let late = executor.take(.background)
      Headway.Operation.raise([operation], level: QualityOfService.userInitiated.level)
      let sentCount = executor.waitingCount(.normal)
      onThreads(1) { _ in late?.runOnWorker(of: .background, atMost: .max) }
      #expect(counter.value == 1, "it has made no call")
      #expect(executor.waitingCount(.normal) == sentCount + 1 && executor.waitingCount(.background) == 0)
      onThreads(1) { _ in executor.step(.normal) }
      #expect(counter.value == 8)
    }
    raised.start()
    for workerClass in WorkerClass.allCases { #expect(executor.waitingCount(workerClass) == 0) }
  }

  @Test("P5, Q16: while an operation makes calls, threads of its new class come to help; no request is left")
  func helpers() {
    let executor = ClassedExecutor()
    let counter = Counter()
    let raised = CallingOperation(on: executor) { operation in
      guard counter.increment() == 1 else { return }
      #expect(executor.waitingCount(.background) == 1 && executor.waitingCount(.normal) == 0)
      Headway.Operation.raise([operation], level: QualityOfService.userInitiated.level)
      #expect(executor.waitingCount(.background) == 0)
      #expect(executor.waitingCount(.normal) == min(ProcessorCount.usable, 3))
      // A helper of that class makes all the other calls.
      onThreads(1) { _ in executor.step(.normal) }
      #expect(counter.value == 8)
    }
    raised.start()
    for workerClass in WorkerClass.allCases { #expect(executor.waitingCount(workerClass) == 0) }
    #expect(raised.helpedCalls.isEmpty)
  }

  /// Makes eight calls, with helpers of the background class.
  private final class CallingOperation: Headway.Operation, @unchecked Sendable {
    private let executor: ClassedExecutor
    private let body: @Sendable (Headway.Operation) -> Void

    init(on executor: ClassedExecutor, _ body: @escaping @Sendable (Headway.Operation) -> Void) {
      (self.executor, self.body) = (executor, body)
      super.init()
      qualityOfService = .background
    }

    override func main() {
      let calls = ConcurrentIterations(8, in: self, on: executor, of: .background, atMost: 4) { _ in self.body(self) }
      calls.run()
    }
  }

  @Test("P5, Q16: the helpers of an urgent operation are of its class, whatever queue sends for them")
  func helpersOfLowQueue() {
    let (queue, low) = (OperationQueue(), OperationQueue(qualityOfService: .background))
    let values = EventRecorder<Bool>()
    let urgent = operation(.userInitiated) {
      let meeting = Meeting(of: 2)
      low.concurrentPerform(iterations: 2) { _ in
        meeting.attend()
        values.record(Worker.current?.pool.workerClass == .normal)
      }
    }
    queue.addOperations([urgent], waitUntilFinished: true)
    #expect(values.events == [true, true])
  }

  /// Keeps what threads of each class are sent for.
  private final class ClassedExecutor: WorkExecutor {
    private let work = Mutex(PerClass(normal: WaitingWork(), utility: WaitingWork(), background: WaitingWork()))

    func waitingCount(_ workerClass: WorkerClass) -> Int { work.withLock { $0[workerClass].count } }

    func submit(_ work: any PoolWork, count: Int, on workerClass: WorkerClass) {
      self.work.withLock { _ = $0[workerClass].append(work, count: count) }
    }

    func summon(_ count: Int, for work: any HelpedWork, on workerClass: WorkerClass) {
      self.work.withLock { $0[workerClass].append(helpersFor: work, count: count) }
    }

    func withdraw(_ work: any HelpedWork, on workerClass: WorkerClass) -> Int {
      self.work.withLock { $0[workerClass].withdraw(work) }
    }

    func take(_ workerClass: WorkerClass) -> (any PoolWork)? { work.withLock { $0[workerClass].popFirst() } }

    func step(_ workerClass: WorkerClass) { take(workerClass)?.runOnWorker(of: workerClass, atMost: .max) }
  }

  private actor Journal {
    nonisolated let queue = OperationQueue(order: .fifo)
    nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

    func priority() -> TaskPriority { Task.currentPriority }
  }
}
