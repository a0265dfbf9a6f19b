import HeadwayTestKit
import Synchronization
import Testing

@testable import Headway

/// The events that the end of an operation waits for, and other events.
///
/// A test about work that must continue in the meantime hangs if it does not continue.
@Suite("Order of the end", .hangLimit) struct EndOrderTests {
  // MARK: User code holds up neither dependents nor the queue

  /// User code that is called with or after the end and can take any amount of time.
  enum Slow: String, CaseIterable {
    case cancellationObserver, endObserver, completionBlock, handlerOfWaiting, handlerOfExecuting, failureHandler
  }

  @Test(
    "K2, W1, C7: user code that is called at the end delays neither dependents nor the queue", arguments: Slow.allCases)
  func slow(_ slow: Slow) {
    let queue = OperationQueue(limit: 1)
    let (started, goOn) = (Gate(), Gate())
    let (dependentRan, nextRan) = (Gate(), Gate())
    let operation = BlockOperation {
      started.open()
      goOn.wait()
      if slow == .failureHandler { throw Mishap() }
    }
    let dependent = BlockOperation { dependentRan.open() }
    dependent.addDependency(operation)
    let isOver = Gate()
    let block: @Sendable () -> Void = {
      // They end only after this has been called, and this ends only after they have ended.
      goOn.open()
      dependentRan.wait()
      nextRan.wait()
      isOver.open()
    }
    var token: KeyValueObservation?
    switch slow {
    case .cancellationObserver: token = operation.observe(\.isCancelled) { _, _ in block() }
    case .endObserver: token = operation.observe(\.isFinished) { _, _ in block() }
    case .completionBlock: operation.completionBlock = block
    case .handlerOfWaiting, .handlerOfExecuting: operation.onCancel(block)
    case .failureHandler: queue.failureHandler = { _, _ in block() }
    }
    if slow == .handlerOfWaiting { operation.addDependency(AsynchronousOperation()) }
    OperationQueue().addOperation(dependent)
    queue.addOperations([operation, BlockOperation { nextRan.open() }], waitUntilFinished: false)
    if slow != .handlerOfWaiting { started.wait() }
    switch slow {
    case .cancellationObserver, .handlerOfWaiting, .handlerOfExecuting: operation.cancel()
    case .endObserver, .completionBlock, .failureHandler: goOn.open()
    }
    isOver.wait()
    queue.waitUntilAllOperationsAreFinished()
    operation.waitUntilFinished()
    dependent.waitUntilFinished()
    queue.failureHandler = nil
    token?.invalidate()
    #expect(operation.isFinished && dependent.outcome.isSuccess)
  }

  @Test("Q3, O3: an operation that finishes inside main() gives up its slot immediately") func finishedInsideMain() {
    final class Early: AsynchronousOperation, @unchecked Sendable {
      let gate = Gate()

      override func main() {
        finish()
        gate.wait()
      }
    }
    let queue = OperationQueue(limit: 1)
    let early = Early()
    let ran = EventRecorder<String>()
    let next = BlockOperation {
      ran.record("next")
      early.gate.open()
    }
    queue.addOperations([early, next], waitUntilFinished: true)
    queue.waitUntilAllOperationsAreFinished()
    #expect(ran.events == ["next"])
  }

  // MARK: Waiting from inside

  @Test("K2, W2: an observer of the cancellation can wait for the end") func observerWaits() {
    let queue = OperationQueue()
    let (started, end, told) = (Gate(), Gate(), Gate())
    let seen = EventRecorder<Bool>()
    let operation = BlockOperation {
      started.open()
      end.wait()
    }
    queue.addOperation(operation)
    started.wait()
    let token = operation.observe(\.isCancelled) { operation, _ in
      told.open()
      operation.waitUntilFinished()
      seen.record(operation.isFinished && queue.operationCount == 0)
    }
    onThreads(2) { number in
      if number == 0 {
        operation.cancel()
      } else {
        told.wait()
        end.open()
      }
    }
    operation.waitUntilFinished()
    #expect(seen.events == [true])
    token.invalidate()
  }

  @Test(
    "K2, W2: code that is called at the end can wait for the operation, and for its dependents",
    arguments: ["observer", "completion block", "failure handler"])
  func waitsInside(kind: String) {
    let queue = OperationQueue(limit: 1)
    let seen = EventRecorder<String>()
    let isOver = Gate()
    let operation = BlockOperation(name: "operation") { if kind == "failure handler" { throw Mishap() } }
    let dependent = BlockOperation(name: "dependent")
    dependent.addDependency(operation)
    let block: @Sendable () -> Void = {
      operation.waitUntilFinished()
      seen.record("operation \(operation.isFinished)")
      dependent.waitUntilFinished()
      seen.record("dependent \(dependent.isFinished)")
      isOver.open()
    }
    var token: KeyValueObservation?
    switch kind {
    case "observer": token = operation.observe(\.isFinished) { _, _ in block() }
    case "completion block": operation.completionBlock = block
    default: queue.failureHandler = { _, _ in block() }
    }
    queue.addOperations([operation, dependent], waitUntilFinished: true)
    isOver.wait()
    queue.waitUntilAllOperationsAreFinished()
    queue.failureHandler = nil
    #expect(seen.events == ["operation true", "dependent true"])
    token?.invalidate()
  }

  @Test("D3, C7: the handler of a cancelled dependent can wait for it, and for the operation that it required")
  func handlerOfDependentWaits() {
    let queue = OperationQueue(limit: 1)
    let seen = EventRecorder<String>()
    let failing = BlockOperation { throw Mishap() }
    let dependent = BlockOperation { seen.record("ran") }
    dependent.addDependency(failing, requiring: .success)
    let isOver = Gate()
    dependent.onCancel {
      failing.waitUntilFinished()
      dependent.waitUntilFinished()
      seen.record("failed \(!failing.outcome.isSuccess), cancelled \(dependent.isCancelled)")
      isOver.open()
    }
    queue.addOperations([dependent, failing], waitUntilFinished: true)
    isOver.wait()
    #expect(seen.events == ["failed true, cancelled true"])
  }

  @Test("C4, D3: an operation in no queue that a handler cancels has ended when cancel() returns", arguments: [1, 100])
  func cancelledInsideHandler(length: Int) {
    let seen = EventRecorder<Bool>()
    let failing = BlockOperation { throw Mishap() }
    let dependent = BlockOperation {}
    dependent.addDependency(failing, requiring: .success)
    let others = (0...length).map { _ in BlockOperation {} }
    for (one, next) in zip(others, others.dropFirst()) { next.addDependency(one, requiring: .success) }
    dependent.onCancel {
      others[0].cancel()
      seen.record(others[0].isFinished)
      others[0].waitUntilFinished()
      seen.record(others.allSatisfy { $0.isFinished && $0.isCancelled })
    }
    OperationQueue().addOperations([failing], waitUntilFinished: true)
    dependent.waitUntilFinished()
    #expect(eventually { seen.count == 2 })
    #expect(seen.events == [true, true])
  }
}
