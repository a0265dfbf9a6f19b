import HeadwayTestKit
import Testing

@testable import Headway

@Suite("Concurrent outcomes", .hangLimit) struct OutcomeRaceTests {
  /// Operations that required the failed operation to succeed are cancelled with its error before user code is notified
  /// of the failure.
  @Test(
    "B5, C6, D3: a dependent that requires a failed operation fails, no matter what notified observers cancel",
    arguments: ["all of its queue", "itself", "itself after it has left"])
  func cancelledInFailureHandler(kind: String) {
    let (queue, executor) = (OperationQueue(), StepExecutor())
    executor.control(queue)
    let failedDependency = BlockOperation { throw Mishap() }
    let dependent = BlockOperation {}
    dependent.addDependency(failedDependency, requiring: .success)
    queue.failureHandler = { [unowned queue] operation, _ in
      guard operation === failedDependency else { return }
      if kind == "all of its queue" { queue.cancelAllOperations() } else { dependent.cancel() }
      if kind == "itself after it has left" { executor.runSteps() }
    }
    queue.addOperations([failedDependency, dependent], waitUntilFinished: false)
    executor.runSteps()
    #expect(dependent.isFinished && dependent.isCancelled)
    guard case .failure(let error)? = dependent.outcome else {
      Issue.record("the outcome is \(String(describing: dependent.outcome))")
      return
    }
    #expect((error as? DependencyError)?.failedDependency === failedDependency)
    queue.failureHandler = nil
  }
}
