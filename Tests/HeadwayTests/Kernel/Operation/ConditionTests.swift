import HeadwayTestKit
import Synchronization
import Testing

@testable import Headway

/// Operations that observe themselves, or others whose values do not differ: each posted pair is a change.
@Suite("Posted pairs with equal values", .hangLimit) struct ConditionTests {
  /// Evaluates its condition when its dependencies have finished, as in Apple's sample: it observes its own `isReady`.
  private class Conditional: Headway.Operation, @unchecked Sendable {
    struct State {
      var isEnqueued = false
      var isSatisfied = false
    }

    let own = Mutex(State())
    let calls = EventRecorder<Bool>()
    private var token: KeyValueObservation?

    override init() {
      super.init()
      token = observe(\.isReady) { operation, _ in operation.check() }
    }

    override var isReady: Bool { super.isReady && own.withLock { $0.isSatisfied } }

    func post(_ change: () -> Void) {
      willChangeValue(forKey: "isReady")
      change()
      didChangeValue(forKey: "isReady")
    }

    func didEnqueue() { post { own.withLock { $0.isEnqueued = true } } }

    func check() {
      let base = super.isReady
      calls.record(base)
      guard base, own.withLock({ $0.isEnqueued && !$0.isSatisfied }) else { return }
      post { own.withLock { $0.isSatisfied = true } }
    }
  }

  @Test("K2: an observer of an overridden isReady is notified of each posted pair, even if the value is the same")
  func posted() {
    let (queue, executor) = (OperationQueue(), VisitExecutor())
    queue.executor = executor
    let operation = Conditional()
    queue.addOperation(operation)
    executor.runSteps()
    #expect(operation.calls.events == [] && !operation.isFinished)
    operation.didEnqueue()
    executor.runSteps()
    #expect(operation.isFinished && operation.calls.events.first == true)
  }

  @Test(
    "K2: an observer is notified when the last dependency ends or is removed, even if isReady returns the same value",
    arguments: ["finish", "batch", "remove"], [false, true])
  func lastDependency(kind: String, isInQueue: Bool) {
    let (queue, executor) = (OperationQueue(), VisitExecutor())
    queue.executor = executor
    let (operation, first, second) = (Conditional(), BlockOperation {}, BlockOperation {})
    operation.addDependency(first)
    operation.addDependency(second)
    if isInQueue { queue.addOperation(operation) }
    operation.didEnqueue()
    executor.runSteps()
    #expect(operation.calls.events == [false])
    first.start()
    #expect(operation.calls.events == [false])
    switch kind {
    case "finish": second.start()
    case "remove": operation.removeDependency(second)
    default:
      let other = OperationQueue()
      other.executor = executor
      other.addOperations([second, BlockOperation {}], waitUntilFinished: false)
      executor.runBatch(of: other)
    }
    #expect(operation.calls.events.prefix(2) == [false, true] && operation.isReady)
    if !isInQueue { queue.addOperation(operation) }
    executor.runSteps()
    #expect(operation.isFinished)
  }

  @Test("K2: posted pairs for other states and own properties are changes, of operations and queues")
  func others() {
    final class Posting: Headway.Operation, @unchecked Sendable { var level: Int { 1 } }
    final class PostingQueue: OperationQueue, @unchecked Sendable { var level: Int { 1 } }
    let (operation, queue) = (Posting(), PostingQueue())
    let (executing, level) = (
      EventRecorder(observing: operation, at: \.isExecuting), EventRecorder(observing: operation, at: \.level)
    )
    let (suspended, queueLevel) = (
      EventRecorder(observing: queue, at: \.isSuspended), EventRecorder(observing: queue, at: \.level)
    )
    operation.didChangeValue(forKey: "isExecuting")
    operation.didChangeValue(for: \.isExecuting)
    operation.didChangeValue(for: \.level)
    queue.didChangeValue(forKey: "isSuspended")
    queue.didChangeValue(for: \.isSuspended)
    queue.didChangeValue(for: \.level)
    #expect(executing.events == [false, false, false] && level.events == [1, 1])
    #expect(suspended.events == [false, false, false] && queueLevel.events == [1, 1])
  }

  @Test(
    "K2: an observer of an overridden isReady is notified when the operation is cancelled before its dependencies end")
  func cancelled() {
    let (queue, executor) = (OperationQueue(), VisitExecutor())
    queue.executor = executor
    let (operation, dependency) = (Conditional(), BlockOperation {})
    operation.addDependency(dependency)
    queue.addOperation(operation)
    operation.didEnqueue()
    #expect(operation.calls.events == [false])
    operation.cancel()
    #expect(operation.calls.events.prefix(2) == [false, true])
    executor.runSteps()
    #expect(operation.isFinished)
  }

  @Test("K2: a pair posted by name is a change of the only added property that is observed, even with an equal value")
  func addedProperty() {
    final class Posting: Headway.Operation, @unchecked Sendable {
      var level: Int { 1 }
      var title: String { "" }
      func post() {
        willChangeValue(forKey: "level")
        didChangeValue(forKey: "level")
      }
    }
    final class PostingQueue: OperationQueue, @unchecked Sendable { var level: Int { 1 } }
    let (operation, queue) = (Posting(), PostingQueue())
    let (level, ready) = (
      EventRecorder(observing: operation, at: \.level), EventRecorder(observing: operation, at: \.isReady)
    )
    let queueLevel = EventRecorder(observing: queue, at: \.level)
    operation.post()
    queue.willChangeValue(forKey: "level")
    queue.didChangeValue(forKey: "level")
    #expect(level.events == [1, 1] && ready.events == [true] && queueLevel.events == [1, 1])
    let priorCalls = EventRecorder<Bool>()
    let token = operation.observe(\Posting.level, options: .prior) { _, change in priorCalls.record(change.isPrior) }
    operation.post()
    #expect(level.events == [1, 1, 1] && priorCalls.events == [true, false])
    let title = EventRecorder(observing: operation, at: \.title)
    operation.post()
    #expect(level.count == 3 && title.events == [""])
    withExtendedLifetime(token) {}
  }

  @Test("K2: an observer that is added while another thread notifies is not notified of earlier posts")
  func addedLate() {
    let (inside, goOn) = (Gate(), Gate())
    let operation = AsynchronousOperation()
    let ofPriority = operation.observe(\.queuePriority) { _, _ in
      inside.open()
      goOn.wait()
    }
    let changer = OperationQueue()
    changer.addOperation { operation.queuePriority = .high }
    inside.wait()
    operation.didChangeValue(for: \.isExecuting)
    let executing = EventRecorder(observing: operation, at: \.isExecuting)
    operation.didChangeValue(for: \.isExecuting)
    goOn.open()
    changer.waitUntilAllOperationsAreFinished()
    #expect(executing.events == [false, false])
    withExtendedLifetime(ofPriority) {}
  }
}
