#if Observability
import Headway
import HeadwaySignposts
import HeadwayTestSupport
import Testing

@Suite("Signposts", .hangLimit) struct SignpostTests {
  @Test("V9: a queue with signposts runs its operations, on every platform")
  func runsOperations() async throws {
    let queue = OperationQueue(name: "work")
    queue.recordSignposts()
    let task = queue.addTask("answer") { 42 }
    #expect(try await task.value == 42)
    let cancelled = BlockOperation { Issue.record("a cancelled operation ran") }
    queue.isSuspended = true
    queue.addOperation(cancelled)
    cancelled.cancel()
    try await cancelled.untilFinished()
  }
}
#endif
