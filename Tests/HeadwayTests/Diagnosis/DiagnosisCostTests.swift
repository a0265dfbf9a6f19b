import HeadwayTestKit
import Synchronization
import Testing

@testable import Headway

/// Diagnosis examines each operation and dependency a few times, no matter how much the queue holds.
@Suite("Cost of diagnosis", .hangLimit) struct DiagnosisCostTests {
  /// Counts how often the dependencies of the operations are read.
  private final class Asked: Headway.Operation, @unchecked Sendable {
    static let count = Atomic<Int>(0)

    override var dependencies: [Headway.Operation] {
      Self.count.add(1, ordering: .relaxed)
      return super.dependencies
    }
  }

  @Test("D6: the search for a cycle reads the dependencies of each operation of a chain only a few times")
  func asked() {
    let queue = OperationQueue()
    queue.isSuspended = true
    let operations = (0..<2_000).map { _ in Asked() }
    for (one, next) in zip(operations, operations.dropFirst()) { next.addDependency(one) }
    queue.addOperations(operations, waitUntilFinished: false)
    #expect(Asked.count.load(ordering: .relaxed) == 0)
    #expect(operations.last?.firstDependencyCycle() == nil)
    #expect(Asked.count.load(ordering: .relaxed) <= 2 * operations.count)
    queue.cancelAllOperations()
    queue.waitUntilAllOperationsAreFinished()
  }

  /// This test hangs, for practical purposes, if all operations of the queue are examined for each operation.
  @Test("D6, Q14: a chain of 100,000 operations in a queue is searched") func longChainInQueue() {
    let queue = OperationQueue(limit: 0)
    let operations = (0..<100_000).map { _ in BlockOperation {} }
    for (one, next) in zip(operations, operations.dropFirst()) { next.addDependency(one) }
    queue.addOperations(operations, waitUntilFinished: false)
    #expect(operations.last?.firstDependencyCycle() == nil)
    #expect(operations[99_999].diagnosis.contains("which waits (through 99997 other operations) for"))
    operations[0].addDependency(operations[99_999])
    #expect(operations[500].firstDependencyCycle()?.count == 100_000)
    operations[0].removeDependency(operations[99_999])
    queue.cancelAllOperations()
    queue.waitUntilAllOperationsAreFinished()
    #expect(operations.allSatisfy { $0.isFinished })
  }

  @Test("D6, W4: waiting in an operation for 20,000 chained operations that run during the search is not a cycle")
  func wait() {
    let (queue, other) = (OperationQueue(), OperationQueue())
    let goOn = Gate()
    let operations = (0..<20_000).map { _ in BlockOperation {} }
    for (one, next) in zip(operations, operations.dropFirst()) { next.addDependency(one) }
    let first = BlockOperation { goOn.wait() }
    operations[0].addDependency(first)
    let recorder = EventRecorder(observing: other)
    let waiting = BlockOperation { operations[19_999].waitUntilFinished() }
    other.addOperation(waiting)
    queue.addOperations([first] + operations, waitUntilFinished: false)
    // The work that a long wait does from time to time.
    #expect(eventually { waiting.isExecuting })
    for _ in 0..<3 { #expect(waiting.firstDependencyCycle() == nil) }
    goOn.open()
    for _ in 0..<3 { #expect(waiting.firstDependencyCycle() == nil) }
    other.waitUntilAllOperationsAreFinished()
    // Observers can be notified of the end a moment after the wait for it has ended.
    #expect(eventually { recorder.count >= 4 })
    #expect(recorder.events == [.added(waiting), .ready(waiting), .started(waiting), .finished(waiting)])
  }
}
