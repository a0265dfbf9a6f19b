import HeadwayTestKit
import Synchronization
import Testing

@testable import Headway

/// Begins its work in `main()`, and says itself when it has finished.
private final class OwnEnd: Headway.Operation, @unchecked Sendable {
  private let hasEnded = Mutex(false)
  let calls = EventRecorder<String>()
  /// What stands for its work begins.
  let work = Gate()

  override var isFinished: Bool { hasEnded.withLock { $0 } }

  override func start() {
    calls.record("start")
    super.start()
  }

  override func main() {
    calls.record("main")
    work.open()
  }

  func complete(posts: Bool = true) {
    willChangeValue(forKey: "isFinished")
    hasEnded.withLock { $0 = true }
    if posts { didChangeValue(forKey: "isFinished") }
  }
}

@Suite("States of subclasses", .hangLimit) struct OwnStateTests {
  @Test("O3: work that begins in main() goes on until an overridden isFinished says that it has ended")
  func asynchronous() {
    let queue = OperationQueue(limit: 1)
    let operation = OwnEnd()
    let (dependent, next) = (BlockOperation {}, BlockOperation {})
    dependent.addDependency(operation)
    queue.addOperations([operation, dependent, next], waitUntilFinished: false)
    operation.work.wait()
    #expect(!operation.isFinished && operation.isExecuting && queue.operationCount == 3)
    #expect(!dependent.isReady)
    operation.complete()
    #expect(operation.isFinished && operation.outcome.isSuccess)
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test("O3: by hand too, and super.isFinished says then that the base has done its part") func byHand() {
    final class Both: Headway.Operation, @unchecked Sendable {
      private let hasEnded = Mutex(false)
      let saidBySuper = EventRecorder<Bool>()
      override var isFinished: Bool {
        let (own, base) = (hasEnded.withLock { $0 }, super.isFinished)
        saidBySuper.record(base)
        return own && base
      }
      func complete() {
        hasEnded.withLock { $0 = true }
        didChangeValue(for: \.isFinished)
      }
    }
    let operation = Both()
    #expect(!operation.isFinished)
    operation.start()
    #expect(!operation.isFinished && operation.isExecuting)
    operation.complete()
    #expect(operation.isFinished && !operation.isExecuting)
    #expect(operation.saidBySuper.events.first == false && operation.saidBySuper.events.dropFirst().allSatisfy { $0 })
  }

  @Test("O3: what a subclass's start() has ended without posting it, its queue finds when start() returns")
  func notPosted() {
    final class Silent: Headway.Operation, @unchecked Sendable {
      private let hasEnded = Mutex(false)
      override var isFinished: Bool { hasEnded.withLock { $0 } }
      override func start() { hasEnded.withLock { $0 = true } }
    }
    let queue = OperationQueue()
    let operation = Silent()
    queue.addOperations([operation], waitUntilFinished: true)
    #expect(queue.operationCount == 0 && operation.outcome.isSuccess)
  }

  @Test("O3, C3: a cancelled one too goes on after start() until its isFinished says otherwise") func cancelled() {
    let queue = OperationQueue()
    queue.isSuspended = true
    let operation = OwnEnd()
    let dependent = BlockOperation {}
    dependent.addDependency(operation)
    queue.addOperations([operation, dependent], waitUntilFinished: false)
    operation.cancel()
    queue.isSuspended = false
    #expect(eventually { operation.calls.events == ["start"] })
    #expect(!operation.state.current.isSettled && !dependent.isReady && queue.operationCount == 2)
    operation.complete()
    queue.waitUntilAllOperationsAreFinished()
    #expect(operation.outcome.isCancelled && operation.calls.events == ["start"])
  }

  @Test("O3, W4: one with an isFinished of its own may wait in main() for its end, which comes from elsewhere")
  func waiting() {
    final class Waiting: Headway.Operation, @unchecked Sendable {
      private let hasEnded = Mutex(false)
      let inside = Gate()
      override var isFinished: Bool { hasEnded.withLock { $0 } }
      override func main() {
        inside.open()
        waitUntilFinished()
      }
      func complete() {
        hasEnded.withLock { $0 = true }
        didChangeValue(for: \.isFinished)
      }
    }
    let queue = OperationQueue()
    let operation = Waiting()
    queue.addOperation(operation)
    operation.inside.wait()
    operation.complete()
    queue.waitUntilAllOperationsAreFinished()
    #expect(operation.outcome.isSuccess)
  }

  // MARK: Cancelled in no queue

  @Test("C4: one that overrides isFinished gets the flag alone, and finishes when it is started") func flagAlone() {
    let operation = OwnEnd()
    let handled = EventRecorder<Int>()
    operation.onCancel { handled.record(1) }
    operation.cancel()
    #expect(operation.isCancelled && operation.calls.events == [] && handled.events == [1])
    #expect(operation.state.current.phase == .pending)
    operation.start()
    #expect(operation.calls.events == ["start"])
    operation.complete()
    #expect(operation.outcome.isCancelled && operation.state.current.isSettled)
  }

  @Test("C4: or when its queue starts it") func addedAfterwards() {
    let queue = OperationQueue()
    let operation = OwnEnd()
    operation.cancel()
    let completions = EventRecorder<Int>()
    let completed = Gate()
    operation.completionBlock = {
      completions.record(1)
      completed.open()
    }
    queue.addOperation(operation)
    #expect(eventually { operation.calls.events == ["start"] })
    operation.complete()
    completed.wait()
    queue.waitUntilAllOperationsAreFinished()
    #expect(completions.events == [1] && operation.outcome.isCancelled)
  }

  @Test("C4: another finishes at once, and none of its code runs") func nothingRuns() {
    final class Watched: Headway.Operation, @unchecked Sendable {
      let calls = EventRecorder<String>()
      override func start() {
        calls.record("start")
        super.start()
      }
      override func main() { calls.record("main") }
    }
    let operation = Watched()
    operation.cancel()
    #expect(operation.isFinished && operation.calls.events == [])
    operation.start()
    #expect(operation.calls.events == ["start"], "as a finished one, which start() leaves alone")
  }

  @Test("C4, W1: a completion block set after a cancellation in no queue runs once, when a queue gets the operation")
  func belatedCompletionBlock() {
    let queue = OperationQueue()
    let operation = BlockOperation {}
    let completions = EventRecorder<Int>()
    operation.cancel()
    let completed = Gate()
    operation.completionBlock = {
      completions.record(1)
      completed.open()
    }
    #expect(operation.isFinished && operation.completionBlock != nil)
    queue.addOperation(operation)
    #expect(operation.completionBlock == nil)
    completed.wait()
    queue.addOperation(operation)
    #expect(completions.events == [1] && queue.operationCount == 0)
  }

  @Test("C4, W1: so it does when the operation is started by hand") func belatedByHand() {
    let operation = BlockOperation {}
    operation.cancel()
    let completed = Gate()
    operation.completionBlock = { completed.open() }
    operation.start()
    completed.wait()
    #expect(operation.completionBlock == nil)
  }

  // MARK: Cancelled in a queue

  @Test("C5: one with code of its own is started within the limit, before others, and not while suspended")
  func withinLimit() {
    let (queue, executor) = (OperationQueue(limit: 1), VisitExecutor())
    queue.executor = executor
    queue.isSuspended = true
    let order = EventRecorder<String>()
    let (busy, urgent) = (OwnEnd(), BlockOperation { order.record("urgent") })
    urgent.queuePriority = .veryHigh
    queue.addOperation(busy)
    queue.isSuspended = false
    executor.run()
    #expect(busy.calls.events == ["start", "main"])
    let operations = (0..<2).map { _ in OwnEnd() }
    for operation in operations { operation.addDependency(BlockOperation {}) }
    queue.addOperations([urgent] + operations, waitUntilFinished: false)
    for operation in operations { operation.cancel() }
    executor.run()
    #expect(operations.allSatisfy { $0.calls.events == [] }, "the place is taken")
    #expect(queue.diagnose(operations[0]).contains("was cancelled, waits for a place in a queue without a name"))
    queue.isSuspended = true
    busy.complete()
    executor.run()
    #expect(operations.allSatisfy { $0.calls.events == [] }, "the queue is suspended")
    queue.isSuspended = false
    executor.run()
    #expect(operations.map(\.calls.events) == [["start"], []], "it has the place")
    operations[0].complete()
    executor.run()
    #expect(operations.map(\.calls.events) == [["start"], ["start"]] && order.events == [])
    operations[1].complete()
    executor.run()
    #expect(order.events == ["urgent"] && queue.operationCount == 0)
  }

  @Test("C5: the base's start and isFinished leave at once, also in a subclass") func leavesAtOnce() {
    final class Plain: Headway.Operation, @unchecked Sendable {
      override func main() { Issue.record("a cancelled operation ran") }
    }
    let queue = OperationQueue(limit: 0)
    queue.isSuspended = true
    let operation = Plain()
    queue.addOperation(operation)
    operation.cancel()
    operation.waitUntilFinished()
    #expect(queue.operationCount == 0)
  }

  @Test("C5, Q8: behind a barrier it is started all the same, and the barrier before it waits for none of it")
  func behindBarrier() {
    let (queue, executor) = (OperationQueue(), VisitExecutor())
    queue.executor = executor
    let (held, operation) = (BlockOperation {}, OwnEnd())
    let missing = BlockOperation {}
    held.addDependency(missing)
    queue.addOperation(held)
    queue.addBarrierBlock {}
    queue.addOperation(operation)
    operation.cancel()
    executor.run()
    #expect(operation.calls.events == ["start"] && queue.operationCount == 3)
    operation.complete()
    #expect(queue.operationCount == 2)
    missing.start()
    executor.run()
    #expect(queue.operationCount == 0)
  }

  // MARK: Readiness of its own

  /// Ready when it is allowed to be, which it does not announce.
  private final class Conditional: Headway.Operation, @unchecked Sendable {
    let isAllowed = Mutex(false)
    /// What the base said each time when it was asked.
    let asked = EventRecorder<Bool>()
    override var isReady: Bool {
      let base = super.isReady
      asked.record(base)
      return base && isAllowed.withLock { $0 }
    }
  }

  @Test("O2: an isReady of an operation in no queue is asked when the last dependency has finished")
  func askedInNoQueue() {
    let operation = Conditional()
    let dependencies = (0..<2).map { _ in BlockOperation {} }
    for dependency in dependencies { operation.addDependency(dependency) }
    dependencies[0].start()
    #expect(operation.asked.events == [])
    dependencies[1].start()
    #expect(operation.asked.events == [true])
    let removed = BlockOperation {}
    operation.addDependency(removed)
    operation.removeDependency(removed)
    #expect(operation.asked.events == [true, true])
  }

  @Test("O2: so it is when the dependency ran in a batch") func askedAfterBatch() {
    let (queue, executor) = (OperationQueue(), VisitExecutor())
    queue.executor = executor
    let operation = Conditional()
    let dependency = BlockOperation {}
    operation.addDependency(dependency)
    queue.addOperations([dependency, BlockOperation {}], waitUntilFinished: false)
    executor.runBatch(of: queue)
    executor.run()
    #expect(operation.asked.events == [true])
  }

  @Test(
    "O2: one that holds itself back is asked again when its queue takes in another",
    arguments: ["one", "several", "block"])
  func askedAgain(kind: String) {
    let (queue, executor) = (OperationQueue(), VisitExecutor())
    queue.executor = executor
    let operation = Conditional()
    queue.addOperation(operation)
    executor.run()
    // Before and after the queue took it in.
    #expect(operation.asked.events == [true, true] && queue.operationCount == 1)
    operation.isAllowed.withLock { $0 = true }
    executor.run()
    #expect(queue.operationCount == 1)
    switch kind {
    case "one": queue.addOperation(BlockOperation {})
    case "several": queue.addOperations([BlockOperation {}, BlockOperation {}], waitUntilFinished: false)
    default: queue.addOperation {}
    }
    executor.run()
    #expect(operation.isFinished && queue.operationCount == 0)
  }

  @Test(
    "O2: and when another finishes, or posts that it is ready, and when the limit or the suspension changes",
    arguments: ["finish", "post", "limit", "suspension"])
  func askedAtOtherTimes(kind: String) {
    let (queue, executor) = (OperationQueue(), VisitExecutor())
    queue.executor = executor
    let (operation, other) = (Conditional(), Conditional())
    let end = BlockOperation {}
    end.addDependency(BlockOperation {})
    queue.addOperations([operation, other, end], waitUntilFinished: false)
    executor.run()
    #expect(queue.operationCount == 3)
    operation.isAllowed.withLock { $0 = true }
    switch kind {
    case "finish": end.cancel()
    case "post": other.didChangeValue(for: \.isReady)
    case "limit": queue.maxConcurrentOperationCount = 3
    default:
      queue.isSuspended = true
      queue.isSuspended = false
    }
    executor.run()
    #expect(operation.isFinished)
    for left in queue.operations { left.cancel() }
    executor.run()
  }

  @Test("O2: what is taken back while it waits for its turn may come again") func takenBack() {
    let (queue, executor) = (OperationQueue(), VisitExecutor())
    queue.executor = executor
    queue.isSuspended = true
    let operation = Conditional()
    operation.isAllowed.withLock { $0 = true }
    queue.addOperation(operation)
    operation.isAllowed.withLock { $0 = false }
    operation.didChangeValue(for: \.isReady)
    queue.isSuspended = false
    executor.run()
    #expect(!operation.isFinished)
    operation.isAllowed.withLock { $0 = true }
    queue.addOperation {}
    executor.run()
    #expect(operation.isFinished && queue.operationCount == 0)
  }

  @Test("O2: a change while it is asked, of which nobody hears, is found when the queue has it") func changeMeanwhile()
  {
    final class Late: Headway.Operation, @unchecked Sendable {
      let isAllowed = Mutex(false)
      let other = BlockOperation {}
      weak var home: OperationQueue?
      override var isReady: Bool {
        let answer = isAllowed.withLock { $0 }
        // As two other threads, after this has looked: one changes it, the other adds an operation.
        if !answer,
          isAllowed.withLock({
            $0 = true; return true
          })
        {
          home?.addOperation(other)
        }
        return answer
      }
    }
    let (queue, executor) = (OperationQueue(), VisitExecutor())
    queue.executor = executor
    let operation = Late()
    operation.home = queue
    queue.addOperation(operation)
    executor.run()
    #expect(operation.isFinished && queue.operationCount == 0)
  }

  @Test("O2: a dependency that isReady adds may end before the queue has the operation") func addedByItself() {
    final class Checked: Headway.Operation, @unchecked Sendable {
      let check = BlockOperation {}
      override var isReady: Bool {
        if !check.isFinished { addDependency(check) }
        return super.isReady
      }
    }
    final class Ending: Headway.Operation, @unchecked Sendable {
      var checked: Checked?
      override var isReady: Bool {
        checked?.check.start()
        return true
      }
    }
    let (queue, executor) = (OperationQueue(), VisitExecutor())
    queue.executor = executor
    let (first, second) = (Checked(), Ending())
    second.checked = first
    queue.addOperations([first, second], waitUntilFinished: false)
    executor.run()
    #expect(first.isFinished && queue.operationCount == 0)
  }

  @Test("O2, W2: an isReady may wait for a dependency that says that it has finished") func waitsInReadiness() {
    final class Patient: Headway.Operation, @unchecked Sendable {
      let seen = EventRecorder<Int>()
      override var isReady: Bool {
        for dependency in dependencies where dependency.isFinished {
          dependency.waitUntilFinished()
          seen.record(1)
        }
        return super.isReady
      }
    }
    final class Plain: Headway.Operation, @unchecked Sendable {}
    for dependency in [BlockOperation {}, Plain()] {
      let queue = OperationQueue()
      let operation = Patient()
      operation.addDependency(dependency)
      queue.addOperations([operation, dependency], waitUntilFinished: true)
      #expect(operation.isFinished && operation.seen.count > 0)
    }
  }

  @Test("O2: threads that post at once, while isReady takes its time, do not hold each other up") func postsAtOnce() {
    final class Slow: Headway.Operation, @unchecked Sendable {
      let threads = 4
      let inside = Mutex(0)
      let meeting = Meeting(of: 4)
      let isAllowed = Mutex(false)
      let asked = EventRecorder<Int>()
      override var isReady: Bool {
        guard isAllowed.withLock({ $0 }) else { return false }
        asked.record(1)
        // All are inside at the same time.
        let isMeeting = inside.withLock { inside in
          inside += 1
          return inside <= threads
        }
        if isMeeting { meeting.attend() }
        return true
      }
    }
    let (queue, executor) = (OperationQueue(), VisitExecutor())
    queue.executor = executor
    let operation = Slow()
    queue.addOperation(operation)
    operation.isAllowed.withLock { $0 = true }
    onThreads(operation.threads) { _ in operation.didChangeValue(for: \.isReady) }
    executor.run()
    #expect(operation.isFinished)
    #expect(operation.asked.count <= 3 * operation.threads)
  }

  @Test("O3, B5: a main() that throws ends the operation, whatever its own isFinished says") func throwing() {
    final class Failing: Headway.Operation, @unchecked Sendable {
      override var isFinished: Bool { false }
      override func main() throws { throw Mishap() }
    }
    let queue = OperationQueue()
    let operation = Failing()
    queue.addOperation(operation)
    queue.waitUntilAllOperationsAreFinished()
    #expect(operation.error as? Mishap == Mishap())
  }

  @Test("O2: of many, each is asked again before long") func manyAskedAgain() {
    let (queue, executor) = (OperationQueue(), VisitExecutor())
    queue.executor = executor
    let operations = (0..<200).map { _ in Conditional() }
    queue.addOperations(operations, waitUntilFinished: false)
    executor.run()
    for operation in operations { operation.isAllowed.withLock { $0 = true } }
    for _ in 0..<4 { queue.addOperation {} }
    executor.run()
    #expect(queue.operationCount == 0)
    #expect(operations.allSatisfy { $0.asked.count < 20 })
  }

  @Test("O2, P2: one with an isReady of its own keeps its place among those that are added with it") func order() {
    let (queue, executor) = (OperationQueue(limit: 1), VisitExecutor())
    queue.executor = executor
    let first = Conditional()
    first.isAllowed.withLock { $0 = true }
    let finished = EventRecorder<Int>()
    let second = BlockOperation { finished.record(first.isFinished ? 1 : 2) }
    queue.addOperations([first, second], waitUntilFinished: false)
    executor.run()
    #expect(finished.events == [1] && first.asked.events == [true])
  }

  @Test("O2: it is asked when its last dependency finishes while a queue takes it in") func askedInTheMidst() {
    final class Ending: Headway.Operation, @unchecked Sendable {
      let asked = EventRecorder<Bool>()
      override var isReady: Bool {
        let base = super.isReady
        asked.record(base)
        // As another thread would, after this was asked and before the queue has it.
        if !base { dependencies[0].start() }
        return base
      }
    }
    let (queue, executor) = (OperationQueue(), VisitExecutor())
    queue.executor = executor
    let operation = Ending()
    operation.addDependency(BlockOperation {})
    queue.addOperation(operation)
    executor.run()
    #expect(operation.isFinished && operation.asked.events.first == false)
  }

  // MARK: The end

  @Test("W1: a completion block finds the dependencies, which are released afterwards", arguments: [false, true])
  func dependenciesInCompletionBlock(isCancelled: Bool) {
    let queue = OperationQueue()
    let dependency = BlockOperation {}
    let operation = BlockOperation {}
    operation.addDependency(dependency)
    let found = EventRecorder<[Headway.Operation]>()
    operation.completionBlock = { [unowned operation] in found.record(operation.dependencies) }
    queue.addOperation(operation)
    if isCancelled { operation.cancel() } else { queue.addOperation(dependency) }
    #expect(eventually { found.events == [[dependency]] && operation.dependencies.isEmpty })
    dependency.start()
  }

  @Test("B1: a block added after a cancellation is ignored") func blockAfterCancellation() {
    let operation = BlockOperation {}
    operation.cancel()
    operation.addExecutionBlock { Issue.record("a cancelled operation ran") }
    #expect(operation.isFinished && operation.executionBlocks.isEmpty)
  }
}
