import HeadwayTestKit
import Testing

@testable import Headway

@Suite("Outcomes", .hangLimit) struct OutcomeTests {
  /// Operations that each require some earlier ones to succeed, and the same in another order: insertion order.
  private static func graph(seed: UInt64) -> (operations: [BlockOperation], shuffled: [BlockOperation]) {
    var generator = SeededGenerator(seed: seed)
    let operations = (0..<12).map { BlockOperation(name: "\($0)") }
    for position in operations.indices.dropFirst() {
      for _ in 0..<2 where Bool.random(using: &generator) {
        let other = operations[Int.random(in: 0..<position, using: &generator)]
        operations[position].addDependency(other, requiring: .success)
      }
    }
    return (operations, operations.shuffled(using: &generator))
  }

  @Test("C6, D3: cancelling all operations gives the same outcomes in any insertion order", arguments: 1...20)
  func cancelAll(seed: UInt64) {
    let queue = OperationQueue()
    queue.isSuspended = true
    let (operations, shuffled) = Self.graph(seed: seed)
    queue.addOperations(shuffled, waitUntilFinished: false)
    queue.cancelAllOperations()
    queue.waitUntilAllOperationsAreFinished()
    for operation in operations {
      operation.waitUntilFinished()
      #expect(operation.outcome.isCancelled, "\(operation): \(String(describing: operation.error))")
    }
  }

  @Test(
    "C6, D3: cancelling all gives the same outcomes if a running operation throws when it is cancelled",
    arguments: [true, false])
  func cancelAllWhileRunning(isDependentFirst: Bool) {
    let queue = OperationQueue()
    let (started, end) = (Gate(), Gate())
    let running = BlockOperation {
      started.open()
      end.wait()
      throw Mishap()
    }
    let dependent = BlockOperation {}
    dependent.addDependency(running, requiring: .success)
    queue.addOperations(isDependentFirst ? [dependent, running] : [running, dependent], waitUntilFinished: false)
    started.wait()
    queue.cancelAllOperations()
    end.open()
    queue.waitUntilAllOperationsAreFinished()
    for operation in [running, dependent] {
      operation.waitUntilFinished()
      #expect(operation.outcome.isCancelled)
    }
    #expect(running.error is Mishap)
  }

  @Test("B5, D3: requiring a failed operation leads to failure, and requiring a cancelled operation to cancellation")
  func dependents() {
    for isCancelled in [true, false] {
      let failedDependency = SelfAware { operation in
        if isCancelled { operation.cancel() }
        throw Mishap()
      }
      let chain = (0..<3).map { _ in BlockOperation {} }
      chain[0].addDependency(failedDependency, requiring: .success)
      for (one, next) in zip(chain, chain.dropFirst()) { next.addDependency(one, requiring: .success) }
      OperationQueue().addOperations(chain.reversed() + [failedDependency], waitUntilFinished: true)
      for operation in chain {
        let error = operation.error as? DependencyError
        #expect(operation.isCancelled && error?.failedDependency === failedDependency)
        #expect(error?.underlyingError as? Mishap == Mishap())
        switch operation.outcome {
        case .failure(let failure)?: #expect(!isCancelled && failure is DependencyError)
        case .cancelled?: #expect(isCancelled)
        default: Issue.record("\(operation) did not end as it should: \(String(describing: operation.outcome))")
        }
      }
    }
  }

  @Test("B5: a cancelled operation stays cancelled if an operation that it required fails later")
  func cancelledFirst() {
    let queue = OperationQueue()
    let failedDependency = AsynchronousOperation()
    let dependent = BlockOperation {}
    dependent.addDependency(failedDependency, requiring: .success)
    queue.addOperations([failedDependency, dependent], waitUntilFinished: false)
    dependent.cancel()
    dependent.waitUntilFinished()
    failedDependency.finish(throwing: Mishap())
    failedDependency.waitUntilFinished()
    #expect(dependent.outcome.isCancelled && dependent.error == nil)
  }

  @Test("D3: an operation that requires several others names the first that did not succeed, and is cancelled once")
  func several() {
    let queue = OperationQueue()
    let culprits = (0..<3).map { _ in AsynchronousOperation() }
    let dependent = BlockOperation {}
    let calls = EventRecorder<Int>()
    dependent.onCancel { calls.record(1) }
    for failedDependency in culprits { dependent.addDependency(failedDependency, requiring: .success) }
    queue.addOperations(culprits + [dependent], waitUntilFinished: false)
    for position in [1, 0, 2] { culprits[position].finish(throwing: Mishap(name: "\(position)")) }
    queue.waitUntilAllOperationsAreFinished()
    dependent.waitUntilFinished()
    let error = dependent.error as? DependencyError
    #expect(error?.failedDependency === culprits[1] && error?.underlyingError as? Mishap == Mishap(name: "1"))
    #expect(calls.events == [1])
  }
}
