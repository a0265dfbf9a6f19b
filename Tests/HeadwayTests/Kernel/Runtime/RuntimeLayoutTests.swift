import HeadwayTestKit
import HeadwayTestSupport
import Testing

@testable import Headway

/// The layout of the Swift runtime's objects that Headway reads, and how Headway works without it.
///
/// With a new toolchain, run this first.
@Suite("Layout of the runtime", .hangLimit) struct RuntimeLayoutTests {
  private class NoOverride: Headway.Operation, @unchecked Sendable {
    override func main() {}
  }

  private class Starting: Headway.Operation, @unchecked Sendable {
    override func start() { super.start() }
  }

  private class Finishing: Headway.Operation, @unchecked Sendable {
    override var isFinished: Bool { super.isFinished }
  }

  private class Holding: Headway.Operation, @unchecked Sendable {
    override var isReady: Bool { super.isReady }
  }

  private final class HeirOfStarting: Starting, @unchecked Sendable {
    override func main() {}
  }

  private final class Generic<Value>: AsynchronousOperation, @unchecked Sendable {
    var value: Value?
    override var isFinished: Bool { value != nil && super.isFinished }
    override var isReady: Bool { true }
  }

  private final class Block: BlockOperation, @unchecked Sendable {
    override func start() { super.start() }
  }

  private func overrides(of type: Headway.Operation.Type) -> [Bool] {
    [OperationOverrides.hasStart(type), OperationOverrides.hasIsFinished(type), OperationOverrides.hasIsReady(type)]
  }

  @Test("C5, O3: the members that a subclass overrides are detected") func found() {
    #expect(overrides(of: Headway.Operation.self) == [false, false, false])
    #expect(overrides(of: BlockOperation.self) == [false, false, false])
    #expect(overrides(of: AsynchronousOperation.self) == [false, false, false])
    #expect(overrides(of: InvocationOperation<OverrideTarget, Int, Void>.self) == [false, false, false])
    #expect(overrides(of: NoOverride.self) == [false, false, false])
    #expect(overrides(of: Starting.self) == [true, false, false])
    #expect(overrides(of: Finishing.self) == [false, true, false])
    #expect(overrides(of: Holding.self) == [false, false, true])
  }

  @Test("C5, O3: overridden members are also detected through several classes, and in generic classes") func inherited()
  {
    #expect(overrides(of: HeirOfStarting.self) == [true, false, false])
    #expect(overrides(of: Generic<Int>.self) == [false, true, true])
    #expect(overrides(of: Generic<String>.self) == [false, true, true])
    #expect(overrides(of: Block.self) == [true, false, false])
  }

  @Test("O8: an operation with any other reference is not reused") func references() {
    let owned = OperationReference.passRetained(BlockOperation {})
    #expect(ReferenceCounts.hasNoOtherReference(owned))
    do {
      let strong = owned.takeUnretainedValue()
      #expect(!ReferenceCounts.hasNoOtherReference(owned))
      withExtendedLifetime(strong) {}
    }
    #expect(ReferenceCounts.hasNoOtherReference(owned))
    do {
      unowned let reference = owned.takeUnretainedValue()
      #expect(!ReferenceCounts.hasNoOtherReference(owned))
      _ = reference
    }
    #expect(ReferenceCounts.hasNoOtherReference(owned))
    do {
      weak let reference = owned.takeUnretainedValue()
      #expect(!ReferenceCounts.hasNoOtherReference(owned))
      _ = reference
    }
    // Its references are counted in a table from then on.
    #expect(!ReferenceCounts.hasNoOtherReference(owned))
    owned.release()
  }

  @Test("a field that is read without a reference to the operation has the expected offset") func layout() {
    let operation = BlockOperation {}
    let reference = OperationReference(operation)
    #expect(withUnsafePointer(to: operation.state) { $0 } == OperationLayout.state(of: reference))
    #expect(withUnsafePointer(to: operation.firstSlot) { $0 } == OperationLayout.slot(0, of: reference))
    #expect(withUnsafePointer(to: operation.secondSlot) { $0 } == OperationLayout.slot(1, of: reference))
    #expect(withUnsafePointer(to: operation.thirdSlot) { $0 } == OperationLayout.slot(2, of: reference))
    operation.completionBlock = {}
    #expect(operation.links.withLock { $0.details } == OperationLayout.details(of: reference))
  }

  @Test("P5: the task of a job is known") func job() async throws {
    let queue = OperationQueue()
    let level = await Task(executorPreference: queue) { ThreadContext.operations.first?.levelOfTask }.value
    #expect(level != nil)
  }

  @Test("O3, O8, C5, P5: without part of the layout, everything runs once and ends") func without() async {
    await #expect(processExitsWith: .success) {
      RuntimeLayout.methodTables.makeUnknown()
      RuntimeLayout.referenceCounts.makeUnknown()
      RuntimeLayout.jobs.makeUnknown()
      #expect(OperationOverrides.hasStart(NoOverride.self))
      let (queue, runs) = (OperationQueue(), EventRecorder<Int>())
      for _ in 0..<2 {
        for number in 0..<1_000 { queue.addOperation { runs.record(number) } }
        try await queue.untilAllOperationsAreFinished()
      }
      #expect(runs.events.count == 2_000)
      queue.isSuspended = true
      let operations = [NoOverride(), Starting(), Finishing(), Holding()]
      let dependent = BlockOperation {}
      for operation in operations { dependent.addDependency(operation) }
      let cancelled = [NoOverride(), Starting(), Finishing(), Holding()]
      for operation in operations + cancelled + [dependent] { queue.addOperation(operation) }
      for operation in cancelled { operation.cancel() }
      queue.isSuspended = false
      try await queue.untilAllOperationsAreFinished()
      #expect((operations + [dependent]).allSatisfy(\.outcome.isSuccess) && cancelled.allSatisfy(\.outcome.isCancelled))
      let level = await Task(executorPreference: queue) { ThreadContext.operations.first?.levelOfTask }.value
      #expect(level == nil)
    }
  }

  @Test("O1: with another order of an operation's properties, the first queue stops the program") func stops() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      RuntimeLayout.operations.makeUnknown()
      _ = OperationQueue()
    }
    let message = result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) }
    #expect(message?.contains("does not work with this version of Swift") == true)
  }
}

private final class OverrideTarget: Sendable {}
