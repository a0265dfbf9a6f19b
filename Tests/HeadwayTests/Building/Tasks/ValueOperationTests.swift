import HeadwayTestKit
import HeadwayTestSupport
import Testing

@testable import Headway

@Suite("Operations with values", .hangLimit) struct ValueOperationTests {
  private struct Failure: Error {}

  private final class Answer: AsynchronousValueOperation<Int>, @unchecked Sendable {
    override func main() { finish(returning: 42) }
  }

  private final class Controller: Sendable {
    func page(_ number: Int) throws -> String {
      guard number > 0 else { throw Failure() }
      return "page \(number)"
    }
  }

  /// A synchronous operation that computes its value in `main()`.
  private final class Sum: Operation, ValueOperation, @unchecked Sendable {
    private var sum = 0
    override func main() { sum = (1...10).reduce(0, +) }
    var value: Int {
      get async throws {
        try await untilSucceeded()
        return sum
      }
    }
  }

  @Test("B7: running an operation with a value returns the value") func values() async throws {
    let queue = OperationQueue()
    #expect(try await queue.run(TaskOperation { "page" }) == "page")
    #expect(try await queue.run(Answer()) == 42)
    #expect(try await queue.run(Sum()) == 55)
    let invocation = InvocationOperation(target: Controller(), method: Controller.page, argument: 3)
    #expect(try await queue.run(invocation) == "page 3")
    try await queue.run(BlockOperation {})
  }

  @Test("B7: the protocol is enough to run operations of several classes") func existential() async throws {
    let queue = OperationQueue()
    let operations: [any ValueOperation<Int>] = [TaskOperation { 1 }, Answer(), Sum()]
    var sum = 0
    for operation in operations { sum += try await queue.run(operation) }
    #expect(sum == 98)
  }

  @Test("B7, B5: an operation that fails or is cancelled throws instead of returning a value") func failures() async {
    let queue = OperationQueue()
    let invocation = InvocationOperation(target: Controller(), method: Controller.page, argument: 0)
    await #expect(throws: Failure.self) { try await queue.run(invocation) }
    let cancelled = Sum()
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await queue.run(cancelled) }
  }

  @Test("B7: cancelling the waiting task cancels the operation") func cancellation() async {
    let (queue, operation) = (OperationQueue(), Sum())
    queue.isSuspended = true
    let task = Task { try await queue.run(operation) }
    await until { queue.operationCount == 1 }
    task.cancel()
    queue.isSuspended = false
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(operation.isCancelled)
  }
}
