import HeadwayTestKit
import HeadwayTestSupport
import Synchronization
import Testing

@testable import Headway

/// Operations whose overrides of `cancel()` do not cancel them, or only when called again.
@Suite("Ignored cancellations", .hangLimit) struct IgnoredCancellationTests {
  private final class Ignoring: Headway.Operation, @unchecked Sendable {
    private let calls = Atomic<Int>(0)
    private let ran = Atomic<Bool>(false)
    var hasRun: Bool { ran.load(ordering: .relaxed) }
    /// Returns whether the operation is cancelled; receives the number of the call, from 1.
    private let onCall: @Sendable (Int) -> Bool

    init(_ onCall: @escaping @Sendable (Int) -> Bool) { self.onCall = onCall }

    override func main() { ran.store(true, ordering: .relaxed) }

    override func cancel() { if onCall(calls.add(1, ordering: .relaxed).newValue) { super.cancel() } }
  }

  @Test("C8, D3: an operation can ignore a call that cancels all operations, including its required dependency")
  func requirement() async throws {
    let queue = OperationQueue()
    queue.isSuspended = true
    let dependency = BlockOperation {}
    let dependent = Ignoring { _ in
      dependency.waitUntilFinished()
      return false
    }
    dependent.addDependency(dependency, requiring: .success)
    queue.addOperations([dependency, dependent], waitUntilFinished: false)
    queue.cancelAllOperations()
    queue.isSuspended = false
    try await queue.untilAllOperationsAreFinished()
    #expect(!dependent.hasRun && dependent.isCancelled)
    #expect(dependent.error is DependencyError)
  }

  private final class IgnoringGroup: GroupOperation, @unchecked Sendable {
    let onCall = Mutex<@Sendable () -> Void>({})

    override func cancel() { onCall.withLock { $0 }() }
  }

  @Test("C8, D3: a group ignores a call that cancels all, and a required operation in it fails during the call")
  func requirementInGroup() async throws {
    let queue = OperationQueue()
    let (started, failing) = (Gate(), Gate())
    let first = BlockOperation {
      started.open()
      failing.wait()
      throw Mishap()
    }
    let second = BlockOperation { Issue.record("it ran, although the required operation failed") }
    second.addDependency(first, requiring: .success)
    let group = IgnoringGroup(operations: [first, second])
    group.onCall.withLock {
      $0 = {
        failing.open()
        first.waitUntilFinished()
      }
    }
    queue.addOperation(group)
    await started.untilOpen()
    queue.cancelAllOperations()
    try await queue.untilAllOperationsAreFinished()
    #expect(second.isCancelled)
  }

  @Test("C8: if two calls cancel all operations, the first to end starts no operation that the other will cancel")
  func twoCalls() async throws {
    let queue = OperationQueue()
    queue.isSuspended = true
    let (firstCallIsAtLast, secondCallIsAtFirst, firstCallHasReturned) = (Gate(), Gate(), Gate())
    let first = Ignoring { call in
      guard call == 2 else { return false }
      secondCallIsAtFirst.open()
      firstCallHasReturned.wait()
      queue.runRound()
      return true
    }
    let second = Ignoring { call in
      guard call == 1 else { return true }
      firstCallIsAtLast.open()
      secondCallIsAtFirst.wait()
      return false
    }
    queue.addOperations([first, second], waitUntilFinished: false)
    onThreads(2) { number in
      if number == 0 {
        queue.cancelAllOperations()
        firstCallHasReturned.open()
      } else {
        firstCallIsAtLast.wait()
        queue.isSuspended = false
        queue.cancelAllOperations()
      }
    }
    try await queue.untilAllOperationsAreFinished()
    #expect(!second.hasRun && second.isCancelled)
    #expect(!first.hasRun && first.isCancelled)
  }

  @Test("C8: an operation that ignores two calls that cancel all operations runs after the second call")
  func lastCall() async throws {
    let queue = OperationQueue()
    let ignoring = Ignoring { call in
      if call == 1 { queue.cancelAllOperations() }
      return false
    }
    queue.isSuspended = true
    queue.addOperation(ignoring)
    queue.cancelAllOperations()
    #expect(!ignoring.hasRun)
    queue.isSuspended = false
    try await queue.untilAllOperationsAreFinished()
    #expect(ignoring.hasRun && !ignoring.isCancelled)
  }
}
