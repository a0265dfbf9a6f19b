import Dispatch
import HeadwayTestKit
import HeadwayTestSupport
import Synchronization
import Testing

@testable import Headway

@Suite("Asynchronous operation with a value", .hangLimit) struct AsynchronousValueOperationTests {
  /// Calls back on another thread, as many libraries do.
  private final class Answer<Success: Sendable>: AsynchronousValueOperation<Success>, @unchecked Sendable {
    private let work: @Sendable (Answer) throws -> Void

    init(_ work: @escaping @Sendable (Answer) throws -> Void) { self.work = work }

    override func main() throws { try work(self) }
  }

  @Test("B6: the value is available when the operation has finished, even to a dependent") func value() async throws {
    let queue = OperationQueue()
    let answer = Answer<Int> { operation in DispatchQueue.global().async { operation.finish(returning: 42) } }
    let twice = TaskOperation { try await answer.value * 2 }
    twice.addDependency(answer)
    queue.addOperations([twice, answer], waitUntilFinished: false)
    #expect(try await answer.value == 42)
    #expect(try await twice.value == 84)
    #expect(answer.isAsynchronous && answer.outcome.isSuccess)
  }

  @Test("B6: running the operation in a queue returns its value, or throws its error") func run() async throws {
    let queue = OperationQueue()
    #expect(try await queue.run(Answer<String> { $0.finish(returning: "value") }) == "value")
    #expect(try await queue.run(Answer<String?> { $0.finish(returning: nil) }) == nil)
    try await queue.run(Answer<Void> { $0.finish(returning: ()) })
    #expect(try await queue.run(Answer<Int> { $0.finish(with: Result<Int, Mishap>.success(1)) }) == 1)
    await #expect(throws: Mishap.self) { try await queue.run(Answer<Int> { $0.finish(throwing: Mishap()) }) }
    await #expect(throws: Mishap.self) {
      try await queue.run(Answer<Int> { $0.finish(with: Result<Int, Mishap>.failure(Mishap())) })
    }
    await #expect(throws: Mishap.self) { try await queue.run(Answer<Int> { _ in throw Mishap() }) }
  }

  @Test("B6: the operation keeps its concurrency slot until it has finished, and occupies no thread")
  func place() async throws {
    let queue = OperationQueue(limit: 1)
    let hasReturned = Gate()
    let answer = Answer<Int> { _ in hasReturned.open() }
    let next = BlockOperation {}
    queue.addOperations([answer, next], waitUntilFinished: false)
    await hasReturned.untilOpen()
    await until { answer.diagnosis == "Answer<Int> is executing: its finish(returning:) has not been called" }
    #expect(answer.isExecuting && !next.isFinished)
    answer.finish(returning: 1)
    try await next.untilFinished()
  }

  @Test("B6: finishing the operation again has no effect, and the first value or error counts")
  func twice() async throws {
    let queue = OperationQueue()
    let value = Answer<Int> { operation in
      operation.finish(returning: 1)
      operation.finish(returning: 2)
      operation.finish(throwing: Mishap())
    }
    #expect(try await queue.run(value) == 1)
    value.finish(returning: 3)
    value.finish(throwing: Mishap())
    #expect(try await value.value == 1)
    #expect(value.error == nil)
    let error = Answer<Int> { operation in
      operation.finish(throwing: Mishap(name: "first"))
      operation.finish(throwing: Mishap(name: "second"))
      operation.finish(returning: 1)
    }
    await #expect(throws: Mishap(name: "first")) { try await queue.run(error) }
    await #expect(throws: Mishap(name: "first")) { try await error.value }
  }

  @Test("B6: threads that finish the operation at the same time agree on one value") func race() async throws {
    for _ in 0..<100 {
      let operation = AsynchronousValueOperation<Int>()
      operation.start()
      let meeting = Meeting(of: 3)
      onThreads(3) { number in
        meeting.attend()
        if number < 2 { operation.finish(returning: number) } else { operation.finish(throwing: Mishap()) }
      }
      let results = [await Task { try await operation.value }.result, await Task { try await operation.value }.result]
      switch (results[0], results[1]) {
      case (.success(let first), .success(let second)): #expect(first == second && operation.outcome.isSuccess)
      case (.failure(let first), .failure(let second)): #expect(first is Mishap && second is Mishap)
      default: Issue.record("two reads of the value differ")
      }
    }
  }

  @Test("B6, C2, C3: a cancelled operation has no value") func cancelled() async throws {
    let queue = OperationQueue()
    queue.isSuspended = true
    let waiting = Answer<Int> { _ in Issue.record("a cancelled operation ran") }
    queue.addOperation(waiting)
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    waiting.finish(returning: 1)
    await #expect(throws: CancellationError.self) { try await waiting.value }
    queue.isSuspended = false
    let running = Answer<Int> { operation in operation.onCancel { operation.finish(returning: 1) } }
    let task = Task { try await queue.run(running) }
    await until { running.isExecuting }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(running.outcome.isCancelled)
  }

  @Test("B6: an operation that is finished before it starts has a value, and does not run") func early() async throws {
    let operation = Answer<Int> { _ in Issue.record("the operation ran") }
    operation.finish(returning: 7)
    #expect(operation.isFinished)
    #expect(try await operation.value == 7)
  }

  @Test("B6, O8: freeing a long chain of values does not overflow the stack") func chain() async {
    final class Link: Sendable {
      let previous: AsynchronousValueOperation<Link>?
      init(_ previous: AsynchronousValueOperation<Link>?) { self.previous = previous }
    }
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      onThreads(1, stackSize: 512 * 1_024) { _ in
        var last: AsynchronousValueOperation<Link>?
        for _ in 0..<100_000 {
          let operation = AsynchronousValueOperation<Link>()
          operation.finish(returning: Link(last))
          last = operation
        }
        last = nil
      }
      continuation.resume()
    }
  }
}
