import HeadwayTestKit
import Synchronization
import Testing

@testable import Headway

@Suite("Failures", .hangLimit) struct FailureTests {
  private struct Report: Equatable, Sendable {
    let name: String
    let error: String
    var isHeld = false
    var isFinished = true
  }

  /// A queue that records its reports.
  private func reportingQueue(limit: Int = -1) -> (OperationQueue, EventRecorder<Report>) {
    let (queue, reports) = (OperationQueue(limit: limit), EventRecorder<Report>())
    queue.failureHandler = { [unowned queue] operation, error in
      let name =
        (error as? Mishap)?.name ?? (error as? DependencyError).map { "by \($0.failedDependency.label)" } ?? "\(error)"
      reports.record(
        Report(
          name: operation.name ?? "", error: name, isHeld: queue.operations.contains { $0 === operation },
          isFinished: operation.isFinished))
    }
    return (queue, reports)
  }

  @Test("B5: an error of a block is reported once, after its operation has left the queue", arguments: [1, 10, 500])
  func blocks(count: Int) {
    let (queue, reports) = reportingQueue()
    queue.isSuspended = true
    for number in 0..<count {
      queue.addOperation { if number % 2 == 0 { throw Mishap(name: "\(number)") } }
    }
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    let expected = (0..<count).filter { $0 % 2 == 0 }.map { "\($0)" }.sorted()
    #expect(eventually { reports.count >= expected.count })
    #expect(reports.events.map(\.error).sorted() == expected)
    #expect(reports.events.allSatisfy { !$0.isHeld && $0.isFinished })
  }

  @Test("B5: every kind of operation reports its first error, once") func kinds() {
    let (queue, reports) = reportingQueue(limit: 1)
    final class Later: AsynchronousOperation, @unchecked Sendable {}
    let later = Later()
    later.name = "asynchronous"
    let recorded = SelfAware { operation in
      operation.recordError(Mishap(name: "first"))
      throw Mishap(name: "second")
    }
    recorded.name = "recorded"
    let observed = BlockOperation(name: "observed") { throw Mishap() }
    let token = observed.observe(\.isFinished) { _, _ in }
    queue.addOperations([recorded, observed, later], waitUntilFinished: false)
    queue.addBarrierBlock { throw Mishap(name: "of the barrier") }
    #expect(eventually { later.isExecuting })
    later.finish(throwing: Mishap(name: "late"))
    later.finish(throwing: Mishap(name: "later"))
    queue.waitUntilAllOperationsAreFinished()
    #expect(eventually { reports.count >= 4 })
    // Each by the thread that ended it: the next can have ended before that thread reports.
    #expect(
      reports.events.sorted { $0.error < $1.error } == [
        Report(name: "recorded", error: "first"), Report(name: "asynchronous", error: "late"),
        Report(name: "observed", error: "mishap"), Report(name: "", error: "of the barrier"),
      ])
    token.invalidate()
  }

  @Test("B5: successes and cancellations are not reported, whatever was thrown") func notReported() {
    let (queue, reports) = reportingQueue(limit: 1)
    let throwsCancelled = SelfAware { operation in
      operation.cancel()
      throw Mishap()
    }
    let waiting = BlockOperation { throw Mishap() }
    let dependent = BlockOperation { throw Mishap() }
    dependent.addDependency(waiting, requiring: .success)
    let end = queue.occupy()
    queue.addOperations([throwsCancelled, waiting, dependent], waitUntilFinished: false)
    waiting.cancel()
    end.open()
    queue.waitUntilAllOperationsAreFinished()
    for operation in [throwsCancelled, waiting, dependent] { operation.waitUntilFinished() }
    #expect(throwsCancelled.outcome.isCancelled && dependent.outcome.isCancelled)
    #expect(reports.events == [])
  }

  @Test("B5, D3: an operation that did not run because another failed is reported, too, with the failed dependency")
  func dependents() {
    let (queue, reports) = reportingQueue(limit: 1)
    let operations = ["a", "b", "c"].map { name in BlockOperation(name: name) { throw Mishap() } }
    for (one, next) in zip(operations, operations.dropFirst()) { next.addDependency(one, requiring: .success) }
    queue.addOperations(operations, waitUntilFinished: true)
    #expect(eventually { reports.count >= 3 })
    #expect(reports.events.map(\.name).sorted() == ["a", "b", "c"])
    #expect(reports.events.filter { $0.error == "by “a”" }.map(\.name).sorted() == ["b", "c"])
  }

  @Test(
    "C4, D3: an operation that is added after its dependency has failed is reported, once", arguments: [true, false])
  func refused(isAddedBefore: Bool) async throws {
    let (queue, reports) = reportingQueue()
    let (failed, dependent) = (BlockOperation(name: "failed") { throw Mishap() }, BlockOperation(name: "dependent"))
    if !isAddedBefore {
      queue.addOperation(failed)
      try await queue.untilAllOperationsAreFinished()
    }
    dependent.addDependency(failed, requiring: .success)
    queue.addOperation(dependent)
    if isAddedBefore { queue.addOperation(failed) }
    try await queue.untilAllOperationsAreFinished()
    // In any order: different threads report the two.
    #expect(reports.events.map(\.name).sorted() == ["dependent", "failed"])
    guard !isAddedBefore else { return }
    // A cancelled one is not, and nothing is reported twice.
    let cancelled = BlockOperation(name: "cancelled")
    cancelled.cancel()
    queue.addOperations([cancelled, dependent], waitUntilFinished: true)
    let (other, others) = reportingQueue()
    other.addOperation(dependent)
    try await queue.untilAllOperationsAreFinished()
    try await other.untilAllOperationsAreFinished()
    #expect(reports.count == 2 && others.count == 0)
  }

  @Test(
    "C4, B4, D3: an operation that is added after its dependency has failed also fails its scope",
    arguments: [true, false])
  func refusedInScope(isGroup: Bool) async throws {
    let failed = BlockOperation { throw Mishap() }
    failed.start()
    let (dependent, reports) = (BlockOperation {}, EventRecorder<String>())
    dependent.addDependency(failed, requiring: .success)
    await #expect(throws: DependencyError.self) {
      if isGroup {
        let group = GroupOperation { queue in
          queue.failureHandler = { _, _ in reports.record("dependent") }
          queue.addOperation(dependent)
        }
        try await OperationQueue().run(group)
      } else {
        try await withOperationQueue { queue in
          queue.failureHandler = { _, _ in reports.record("dependent") }
          queue.addOperation(dependent)
        }
      }
    }
    try? await dependent.untilFinished()
    #expect(reports.count == 1)
  }

  @Test("B5: the handler can call anything: add, wait, cancel, replace itself") func reentrant() {
    let queue = OperationQueue(limit: 1)
    let calls = EventRecorder<String>()
    queue.failureHandler = { [unowned queue] operation, _ in
      calls.record("first")
      operation.waitUntilFinished()
      queue.failureHandler = { _, _ in calls.record("second") }
      let again = BlockOperation { throw Mishap() }
      queue.addOperations([again], waitUntilFinished: true)
    }
    queue.addOperations([BlockOperation { throw Mishap() }], waitUntilFinished: true)
    #expect(eventually { calls.count == 2 })
    #expect(calls.events == ["first", "second"])
    queue.failureHandler = nil
    queue.addOperations([BlockOperation { throw Mishap() }], waitUntilFinished: true)
    #expect(calls.count == 2)
  }
}
