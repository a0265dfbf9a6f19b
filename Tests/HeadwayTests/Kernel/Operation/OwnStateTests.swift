import HeadwayTestKit
import Synchronization
import Testing

@testable import Headway

/// Begins its work in `main()`, and decides itself when it has finished.
final class OwnEnd: Headway.Operation, @unchecked Sendable {
  private let hasEnded = Mutex(false)
  let calls = EventRecorder<String>()
  /// A closure that represents the beginning of its work.
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
  @Test("O3: work that begins in main() continues until the overridden isFinished returns true")
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

  @Test(
    "O3: work continues like this even if the operation is started manually, and super.isFinished then returns true")
  func byHand() {
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

  @Test("O3: if a subclass's start() ends without posting, its queue detects that when start() returns")
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

  @Test("O3, C3: a cancelled operation also continues after start() until its isFinished returns true")
  func cancelled() {
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

  @Test("O3, W4: an operation with its own isFinished can wait in main() for its end, which another thread causes")
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

  @Test("O3, B5: a main() that throws finishes the operation, regardless of its own isFinished") func throwing() {
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
}
