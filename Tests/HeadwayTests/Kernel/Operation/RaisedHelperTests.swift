import HeadwayTestKit
import HeadwayTestSupport
import Synchronization
import Testing

@testable import Headway

/// Operations and callers that wait for others without depending on them.
///
/// A queue is suspended, or its place is in use, until everything is set up. As a result, the operations show which of
/// them have been raised by then, and the nice values of their threads show how they run.
@Suite("Raising helpers", .hangLimit) struct RaisedHelperTests: RaisingSuite {
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

  @Test("P5: a thread that begins to help an operation after it was raised is also raised", arguments: [true, false])
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

  /// The work that the task of a caller waits for while an end is reported.
  enum ReportWait: CaseIterable { case operation, queue, blocking, observer }

  @Test("P5, W3: the thread that reports an end is raised for its waiters", arguments: ReportWait.allCases)
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
    if !isObserved { queue.failureHandler = { _, _ in report() } }
    let failing = BlockOperation { throw Mishap() }
    failing.qualityOfService = .background
    let token = isObserved ? failing.observe(\.isFinished) { _, _ in report() } : nil
    queue.addOperation(failing)
    await begun.untilOpen()
    let urgent = operation(.userInitiated) { if kind == .blocking { failing.waitUntilFinished() } }
    OperationQueue().addOperation(urgent)
    let waits = Task.detached(priority: .high) {
      switch kind {
      case .operation, .observer: try await failing.untilFinished()
      case .queue: try await queue.untilAllOperationsAreFinished()
      case .blocking: try await urgent.untilFinished()
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
    queue.failureHandler = nil
    withExtendedLifetime(token) {}
  }

  @Test("P5: a thread that returns to an operation that was raised in the meantime is also raised")
  func threadComesBack() {
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

  @Test("P5: if the run of a graph is raised, threads of its new class help with it") func graphRun() throws {
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
    let run = graph.makeOperation(maxConcurrentNodeCount: 2)
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

  @Test("P5, Q16: a thread of the old class that arrives late leaves its place to a thread of the new class")
  func lateHelper() {
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

  @Test("P5, Q16: threads of the new class help an operation that makes calls; no request remains")
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

  @Test("P5, Q16: the helpers of an urgent operation have its class, no matter which queue requests them")
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

  /// Records the requests for threads of each class.
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
}
