import HeadwayTestKit
import Testing

@testable import Headway

/// Programming errors that would otherwise have no visible effect, or cause a program to hang.
@Suite("Programming errors", .hangLimit) struct MisuseTests {
  private func expectMessage(_ text: String, in result: ExitTest.Result?) {
    #expect(result.message.contains(text), "\(result.message)")
  }

  @Test("X2: a retry policy with negative times stops the process, even if the times were set later") func retry() async
  {
    expectMessage(
      "negative maxElapsedTime",
      in: await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        _ = RetryPolicy(maxAttemptCount: 2, backoff: .constant(.zero), maxElapsedTime: .seconds(-1))
      })
    expectMessage(
      "negative maxRequestedDelay",
      in: await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        var policy = RetryPolicy.constant(maxAttemptCount: 2, delay: .zero)
        policy.maxRequestedDelay = .seconds(-1)
        _ = TaskOperation(.retry(policy)) {}
      })
    expectMessage(
      "0 attempts",
      in: await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        var policy = RetryPolicy.constant(maxAttemptCount: 2, delay: .zero)
        policy.maxAttemptCount = 0
        _ = TaskOperation(.retry(policy)) {}
      })
  }

  @Test("X10: a retry policy of an operation that can't run again stops the process") func retryOfBlock() async {
    expectMessage(
      "The policy of “save” has a retry policy, but only the function of a TaskOperation can run again",
      in: await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        BlockOperation(name: "save").policy = OperationPolicy(retry: .never)
      })
  }

  @Test("X1, X5: an empty resource name and an empty coalescing key stop the process") func names() async {
    expectMessage(
      "The policy of “save” has a resource with an empty name",
      in: await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        BlockOperation(name: "save").policy = OperationPolicy(sharedResources: [""])
      })
    expectMessage(
      "queue “pages” with an empty key: use a key that identifies the work",
      in: await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        OperationQueue(name: "pages").addTask(coalescing: "") {}
      })
  }

  @Test("W3: awaiting an operation that is not in a queue is reported, and the wait continues") func neverAdded() async
  {
    expectMessage(
      "“parse” (ready) is awaited, but is not in a queue: add it to a queue, or call its start().",
      in: await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
        let operation = TaskOperation { 7 }
        operation.name = "parse"
        let waiting = Task { try await operation.value }
        try await ContinuousClock().sleep(for: .milliseconds(1_500))
        OperationQueue().addOperation(operation)
        #expect(try await waiting.value == 7)
      })
  }

  @Test("O2: calling finish() before the operation has started is reported, unless the operation was cancelled")
  func earlyFinish() async {
    let text = "finish() was called on “load” (ready), which has not started"
    expectMessage(
      text,
      in: await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
        let operation = AsynchronousOperation()
        operation.name = "load"
        operation.finish()
      })
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      let operation = AsynchronousOperation()
      operation.onCancel { operation.finish() }
      operation.cancel()
      let queue = OperationQueue(maxConcurrentOperationCount: 0)
      let other = AsynchronousOperation()
      other.onCancel { other.finish() }
      queue.addOperation(other)
      queue.cancelAllOperations()
      queue.cancelAllOperations()
    }
    #expect(result != nil && !result.message.contains("finish()"))
  }
}
