import HeadwayTestKit
import HeadwayTestSupport
import Testing

@testable import Headway

/// The steps that stop all operations of a queue, interleaved with the steps of other threads.
@Suite("Individual steps of stopping", .hangLimit) struct StoppingStepTests {
  private let queue = OperationQueue()
  private let executor = VisitExecutor()
  private let ran = EventRecorder<String>()

  init() { queue.executor = executor }

  private func block(_ name: String) -> BlockOperation { BlockOperation(name: name) { [ran] in ran.record(name) } }

  /// An operation that ignores requests to cancel it.
  private final class Stubborn: Headway.Operation, @unchecked Sendable { override func cancel() {} }

  @Test("C8, C9: operations are stopped in groups, and no waiting operation starts in between") func someAtATime() {
    let count = 2 * StoppedOperations.mostAtOnce + 10
    let operations = (0..<count).map { block("\($0)") }
    queue.addOperations(operations, waitUntilFinished: false)
    var stopped = StoppedOperations()
    var effects = Effects()
    var held = stopped.hold(queue, .cancel, takingBlocks: true)
    let later = block("later")
    queue.addOperation(later)
    for expected in [256, 512, count, count] {
      executor.runSteps()
      #expect(ran.events == [])
      _ = stopped.stopNext(in: &held, .cancel)
      #expect(operations.count { $0.isCancelled } == expected)
    }
    #expect(stopped.stopNext(in: &held, .cancel) == nil)
    stopped.release(held, leaving: &effects)
    effects.perform()
    stopped.finish()
    executor.runSteps()
    #expect(operations.allSatisfy { $0.isFinished } && later.isFinished && ran.events == ["later"])
  }

  @Test("C8: an operation that a thread has taken but not begun is stopped first") func taken() {
    let operations = (0..<300).map { block("\($0)") }
    queue.addOperations(operations, waitUntilFinished: false)
    let thread = SteppedBatch(of: queue, atMost: 2)
    var stopped = StoppedOperations()
    var effects = Effects()
    var held = stopped.hold(queue, .cancel, takingBlocks: true)
    #expect(thread.batch.next()?.operation === operations[0] && !operations[0].state.beginPlainly())
    #expect(operations[0].isCancelled && !operations[299].isCancelled)
    let isClaimed = queue.update { $0.admission.claimTaken(operations[0], of: thread.batch) }
    #expect(isClaimed)
    queue.run(operations[0])
    while stopped.stopNext(in: &held, .cancel) != nil {}
    stopped.release(held, leaving: &effects)
    effects.perform()
    executor.runSteps()
    thread.close()
    #expect(ran.events == [] && operations.allSatisfy { $0.isFinished })
  }

  @Test("C8, X1: an operation that has been granted its resources does not start") func granted() {
    let other = OperationQueue()
    other.executor = executor
    let policy = OperationPolicy(exclusiveResources: ["stopped grant"])
    let (holder, waiting) = (AsynchronousOperation(), block("granted"))
    for operation in [holder, waiting] { operation.policy = policy }
    other.addOperation(holder)
    executor.runSteps()
    queue.addOperation(waiting)
    executor.runSteps()
    holder.finish()
    #expect(waiting.admission.place == .granted)
    var stopped = StoppedOperations()
    var effects = Effects()
    var held = stopped.hold(queue, .cancel, takingBlocks: true)
    executor.runSteps()
    #expect(ran.events == [])
    while stopped.stopNext(in: &held, .cancel) != nil {}
    stopped.release(held, leaving: &effects)
    effects.perform()
    executor.runSteps()
    #expect(ran.events == [] && waiting.isFinished)
  }

  @Test("C8: a queue that two calls hold starts no operations until both calls have released it")
  func twice() {
    let stubborn = Stubborn()
    queue.addOperation(stubborn)
    var (first, second) = (StoppedOperations(), StoppedOperations())
    var effects = Effects()
    var held = [first.hold(queue, .cancel, takingBlocks: true), second.hold(queue, .mark, takingBlocks: true)]
    _ = first.stopNext(in: &held[0], .cancel)
    first.release(held[0], leaving: &effects)
    first.items.first?.operation.cancel()
    first.finish()
    let later = block("later")
    queue.addOperation(later)
    executor.runSteps()
    #expect(!stubborn.isFinished && !later.isFinished)
    _ = second.stopNext(in: &held[1], .mark)
    second.release(held[1], leaving: &effects)
    second.finish()
    effects.perform()
    executor.runSteps()
    #expect(stubborn.outcome.isSuccess && later.isFinished)
  }

  @Test("C8, C6: operations are created in groups for observed blocks that have none") func blocks() {
    for number in 0..<600 { queue.addOperation { [ran] in ran.record("\(number)") } }
    queue.state.withLock { $0.followers.observation.listeners += 1 }
    queue.cancelAllOperations()
    queue.state.withLock { $0.followers.observation.listeners -= 1 }
    executor.runSteps()
    #expect(queue.operationCount == 0 && ran.events == [])
  }

  @Test("C8: a worker of a low class cancels all operations of a queue like other threads") func lowWorker() {
    let (low, target) = (OperationQueue(qualityOfService: .background), OperationQueue())
    target.isSuspended = true
    let operations = (0..<1_000).map { block("\($0)") }
    target.addOperations(operations, waitUntilFinished: false)
    low.addOperations([BlockOperation { target.cancelAllOperations() }], waitUntilFinished: true)
    target.waitUntilAllOperationsAreFinished()
    #expect(operations.allSatisfy { $0.outcome.isCancelled } && ran.events == [])
  }
}
