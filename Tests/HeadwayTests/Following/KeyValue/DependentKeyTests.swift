import HeadwayTestKit
import Synchronization
import Testing

@testable import Headway

/// Classes with a property for their state, which affects other properties by
/// `keyPathsForValuesAffectingValue(forKey:)`.
@Suite("Dependent keys", .hangLimit) struct DependentKeyTests {
  private enum Phase: Int {
    case initialized, ready, executing, finished
  }

  /// Posts `state` alone; the property has another name, because `state` is Headway's own in this module's tests.
  private class Stateful: Headway.Operation, @unchecked Sendable {
    private let own = Mutex(Phase.initialized)
    var phase: Phase { own.withLock { $0 } }

    func move(to next: Phase) {
      willChangeValue(forKey: "state")
      own.withLock { $0 = next }
      didChangeValue(forKey: "state")
    }

    override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
      ["isReady", "isExecuting", "isFinished"].contains(key)
        ? ["state"] : super.keyPathsForValuesAffectingValue(forKey: key)
    }

    override var isReady: Bool { super.isReady && phase != .initialized }
    override var isExecuting: Bool { phase == .executing }
    override var isFinished: Bool { phase == .finished }
    override func start() { move(to: isCancelled ? .finished : .executing) }
  }

  @Test("K1, O3: a posted change of the state changes all dependent keys: the operation starts and finishes")
  func lifeByState() {
    let (queue, executor) = (OperationQueue(limit: 1), VisitExecutor())
    queue.executor = executor
    let (operation, dependent) = (Stateful(), BlockOperation {})
    dependent.addDependency(operation)
    let ready = EventRecorder(observing: operation, at: \.isReady)
    let executing = EventRecorder(observing: operation, at: \.isExecuting)
    let finished = EventRecorder(observing: operation, at: \.isFinished)
    queue.addOperations([operation, dependent], waitUntilFinished: false)
    executor.runSteps()
    #expect(operation.phase == .initialized)
    operation.move(to: .ready)
    executor.runSteps()
    #expect(operation.phase == .executing && !dependent.isFinished)
    operation.move(to: .finished)
    executor.runSteps()
    #expect(dependent.isFinished && queue.operationCount == 0)
    // One initial notification, and one per change of the state, as with key-value observing on Apple platforms.
    #expect(ready.events == [false, true, true, true])
    #expect(executing.events == [false, false, true, false])
    #expect(finished.events == [false, false, false, true])
  }

  @Test("K1: keys can depend on others indirectly, through paths, and in a cycle") func indirectly() {
    final class Indirect: Headway.Operation, @unchecked Sendable {
      override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
        switch key {
        case "isReady": ["stage"]
        case "stage": ["request.state", "isReady"]
        case "queuePriority": ["isReady"]
        default: []
        }
      }
    }
    let operation = Indirect()
    let (ready, priority) = (
      EventRecorder(observing: operation, at: \.isReady), EventRecorder(observing: operation, at: \.queuePriority)
    )
    let executing = EventRecorder(observing: operation, at: \.isExecuting)
    operation.didChangeValue(forKey: "request")
    #expect(ready.count == 2 && priority.count == 2)
    operation.didChangeValue(forKey: "stage")
    #expect(ready.count == 3 && priority.count == 3)
    operation.didChangeValue(for: \.isReady)
    #expect(ready.count == 4 && priority.count == 4)
    operation.didChangeValue(forKey: "state")
    #expect(ready.count == 4 && priority.count == 4 && executing.count == 1)
  }

  @Test("K1: a change posted by key path changes the properties that depend on it by name")
  func byKeyPath() {
    final class Levelled: Headway.Operation, @unchecked Sendable {
      private let own = Mutex(0)
      var level: Int {
        get { own.withLock { $0 } }
        set {
          willChangeValue(for: \.level)
          own.withLock { $0 = newValue }
          didChangeValue(for: \.level)
        }
      }
      override var isReady: Bool { super.isReady && level > 0 }
      override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
        key == "isReady" ? ["level"] : []
      }
    }
    let (queue, executor) = (OperationQueue(), VisitExecutor())
    queue.executor = executor
    let operation = Levelled()
    queue.addOperation(operation)
    executor.runSteps()
    #expect(!operation.isFinished)
    operation.level = 1
    executor.runSteps()
    #expect(operation.isFinished)
  }

  @Test("K1: a prior observer is notified before the state that its property depends on changes")
  func prior() {
    let operation = Stateful()
    let heard = EventRecorder<String>()
    let token = operation.observe(\.isExecuting, options: [.prior, .new]) { operation, change in
      heard.record(change.isPrior ? "before \(operation.isExecuting)" : "\(change.newValue!)")
    }
    operation.move(to: .executing)
    #expect(heard.events == ["before false", "true"])
    withExtendedLifetime(token) {}
  }

  @Test("K1: changes of a queue are posted by name, with their dependent keys") func queues() {
    final class Named: OperationQueue, @unchecked Sendable {
      let title = Mutex("first")
      override var name: String? {
        get { title.withLock { $0 } }
        set {}
      }
      var isIdle: Bool { operationCount == 0 }
      override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
        switch key {
        case "name": ["title"]
        case "isIdle": ["operationCount"]
        default: super.keyPathsForValuesAffectingValue(forKey: key)
        }
      }
    }
    let queue = Named()
    queue.isSuspended = true
    let (heard, idle) = (EventRecorder<String>(), EventRecorder(observing: queue, at: \.isIdle))
    let token = queue.observe(\.name, options: [.prior, .new]) { queue, change in
      heard.record(change.isPrior ? "before" : change.newValue?.flatMap { $0 } ?? "none")
    }
    queue.willChangeValue(forKey: "title")
    queue.title.withLock { $0 = "second" }
    queue.didChangeValue(forKey: "title")
    queue.addOperation {}
    #expect(heard.events == ["before", "second"])
    #expect(idle.events == [true, false])
    #expect(OperationQueue.automaticallyNotifiesObservers(forKey: "name"))
    #expect(Headway.Operation.automaticallyNotifiesObservers(forKey: "isReady"))
    queue.cancelAllOperations()
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    withExtendedLifetime(token) {}
  }
}
