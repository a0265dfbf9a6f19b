import HeadwayTestKit
import Synchronization
import Testing

@testable import Headway

@Suite("Readiness of subclasses", .hangLimit) struct ReadinessTests {
  /// Ready when the test allows it, without an announcement.
  private final class Conditional: Headway.Operation, @unchecked Sendable {
    let isAllowed = Mutex(false)
    /// The result of the base class for each evaluation.
    let asked = EventRecorder<Bool>()
    override var isReady: Bool {
      let base = super.isReady
      asked.record(base)
      return base && isAllowed.withLock { $0 }
    }
  }

  @Test("O2: the isReady of an operation in no queue is evaluated when the last dependency has finished")
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

  @Test("O2: isReady is also evaluated then if the last dependency ran in a batch") func askedAfterBatch() {
    let (queue, executor) = (OperationQueue(), VisitExecutor())
    queue.executor = executor
    let operation = Conditional()
    let dependency = BlockOperation {}
    operation.addDependency(dependency)
    queue.addOperations([dependency, BlockOperation {}], waitUntilFinished: false)
    executor.runBatch(of: queue)
    executor.runSteps()
    #expect(operation.asked.events == [true])
  }

  @Test(
    "O2: an operation that holds itself back is evaluated again when its queue accepts another operation",
    arguments: ["one", "several", "block"])
  func reevaluated(kind: String) {
    let (queue, executor) = (OperationQueue(), VisitExecutor())
    queue.executor = executor
    let operation = Conditional()
    queue.addOperation(operation)
    executor.runSteps()
    // Before and after the queue listed it.
    #expect(operation.asked.events == [true, true] && queue.operationCount == 1)
    operation.isAllowed.withLock { $0 = true }
    executor.runSteps()
    #expect(queue.operationCount == 1)
    switch kind {
    case "one": queue.addOperation(BlockOperation {})
    case "several": queue.addOperations([BlockOperation {}, BlockOperation {}], waitUntilFinished: false)
    default: queue.addOperation {}
    }
    executor.runSteps()
    #expect(operation.isFinished && queue.operationCount == 0)
  }

  @Test(
    "O2: isReady is evaluated again when another operation ends or posts, or the limit or suspension changes",
    arguments: ["finish", "post", "limit", "suspension"])
  func askedAtOtherTimes(kind: String) {
    let (queue, executor) = (OperationQueue(), VisitExecutor())
    queue.executor = executor
    let (operation, other) = (Conditional(), Conditional())
    let end = BlockOperation {}
    end.addDependency(BlockOperation {})
    queue.addOperations([operation, other, end], waitUntilFinished: false)
    executor.runSteps()
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
    executor.runSteps()
    #expect(operation.isFinished)
    for left in queue.operations { left.cancel() }
    executor.runSteps()
  }

  @Test("O2: a readiness that is withdrawn while the operation waits for its turn can return") func takenBack() {
    let (queue, executor) = (OperationQueue(), VisitExecutor())
    queue.executor = executor
    queue.isSuspended = true
    let operation = Conditional()
    operation.isAllowed.withLock { $0 = true }
    queue.addOperation(operation)
    operation.isAllowed.withLock { $0 = false }
    operation.didChangeValue(for: \.isReady)
    queue.isSuspended = false
    executor.runSteps()
    #expect(!operation.isFinished)
    operation.isAllowed.withLock { $0 = true }
    queue.addOperation {}
    executor.runSteps()
    #expect(operation.isFinished && queue.operationCount == 0)
  }

  @Test("O2: a change without notification during an evaluation is detected when the queue has the operation")
  func changeMeanwhile() {
    final class Late: Headway.Operation, @unchecked Sendable {
      let isAllowed = Mutex(false)
      let other = BlockOperation {}
      weak var home: OperationQueue?
      override var isReady: Bool {
        let answer = isAllowed.withLock { $0 }
        // Acts as two other threads would after this evaluation: one changes it, the other adds an operation.
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
    executor.runSteps()
    #expect(operation.isFinished && queue.operationCount == 0)
  }

  @Test("O2: a dependency that an override of isReady adds can end before the queue has the operation")
  func addedByItself() {
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
    executor.runSteps()
    #expect(first.isFinished && queue.operationCount == 0)
  }

  @Test("O2, W2: an override of isReady can wait for a dependency whose isFinished is true") func waitsInReadiness() {
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

  @Test("O2: threads that post concurrently during a long isReady do not block each other") func postsAtOnce() {
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
    executor.runSteps()
    #expect(operation.isFinished)
    #expect(operation.asked.count <= 3 * operation.threads)
  }

  @Test("O2: if many operations hold themselves back, each is evaluated again soon") func manyAskedAgain() {
    let (queue, executor) = (OperationQueue(), VisitExecutor())
    queue.executor = executor
    let operations = (0..<200).map { _ in Conditional() }
    queue.addOperations(operations, waitUntilFinished: false)
    executor.runSteps()
    for operation in operations { operation.isAllowed.withLock { $0 = true } }
    for _ in 0..<4 { queue.addOperation {} }
    executor.runSteps()
    #expect(queue.operationCount == 0)
    #expect(operations.allSatisfy { $0.asked.count < 20 })
  }

  @Test("O2, P2: an operation that overrides isReady keeps its position among operations that are added together")
  func order() {
    let (queue, executor) = (OperationQueue(limit: 1), VisitExecutor())
    queue.executor = executor
    let first = Conditional()
    first.isAllowed.withLock { $0 = true }
    let finished = EventRecorder<Int>()
    let second = BlockOperation { finished.record(first.isFinished ? 1 : 2) }
    queue.addOperations([first, second], waitUntilFinished: false)
    executor.runSteps()
    #expect(finished.events == [1] && first.asked.events == [true])
  }

  @Test("O2: isReady is evaluated if the last dependency finishes while a queue accepts the operation")
  func askedInTheMidst() {
    final class Ending: Headway.Operation, @unchecked Sendable {
      let asked = EventRecorder<Bool>()
      override var isReady: Bool {
        let base = super.isReady
        asked.record(base)
        // Acts as another thread would after this evaluation and before the queue has the operation.
        if !base { dependencies[0].start() }
        return base
      }
    }
    let (queue, executor) = (OperationQueue(), VisitExecutor())
    queue.executor = executor
    let operation = Ending()
    operation.addDependency(BlockOperation {})
    queue.addOperation(operation)
    executor.runSteps()
    #expect(operation.isFinished && operation.asked.events.first == false)
  }
}
