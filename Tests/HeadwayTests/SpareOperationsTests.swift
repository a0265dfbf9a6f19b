import HeadwayTestKit
import Synchronization
import Testing

@testable import Headway

/// Operations of added blocks are used again only if nobody can know.
@Suite("Spare operations", .hangLimit) struct SpareOperationsTests {
  private let queue = OperationQueue()
  private let executor = VisitExecutor()

  init() { queue.executor = executor }

  @Test("O8: an operation of which there is any other reference is not used again") func known() {
    let owned = OperationReference.passRetained(BlockOperation {})
    #expect(SpareOperations.isUnknown(owned))
    do {
      let strong = owned.takeUnretainedValue()
      #expect(!SpareOperations.isUnknown(owned))
      withExtendedLifetime(strong) {}
    }
    #expect(SpareOperations.isUnknown(owned))
    do {
      unowned let reference = owned.takeUnretainedValue()
      #expect(!SpareOperations.isUnknown(owned))
      _ = reference
    }
    #expect(SpareOperations.isUnknown(owned))
    do {
      weak let reference = owned.takeUnretainedValue()
      #expect(!SpareOperations.isUnknown(owned))
      _ = reference
    }
    // Its references are counted in a table from then on.
    #expect(!SpareOperations.isUnknown(owned))
    owned.release()
  }

  @Test("O8, Q1: what somebody holds on to stays what it was, whatever is added later") func heldOnTo() {
    final class Held: @unchecked Sendable {  // Used by one thread at a time.
      var strong: [Headway.Operation] = []
      var weak: [WeakOperation] = []
    }
    let (held, order) = (Held(), EventRecorder<Int>())
    for round in 0..<20 {
      for number in 0..<40 {
        queue.addOperation {
          order.record(round * 40 + number)
          let current = ThreadContext.operations[0]
          if number % 5 == 0 { held.strong.append(current) }
          if number % 7 == 0 { held.weak.append(WeakOperation(current)) }
        }
      }
      executor.run()
    }
    #expect(order.events == Array(0..<800))
    #expect(Set(held.strong).count == 160 && held.strong.allSatisfy { $0.isFinished && $0.queue == nil })
    // Each that is left is one that is held.
    let left = held.weak.compactMap(\.operation)
    #expect(left.count == 20 * 2 && Set(left).isSubset(of: held.strong))
  }

  @Test("O6, O7, C1: one that is used again is new") func isNew() async {
    // Enough for chains to be taken, whatever other tests take.
    for round in 0..<10 {
      for _ in 0..<64 { queue.addOperation {} }
      executor.run()
      queue.isSuspended = true
      for _ in 0..<64 { queue.addOperation {} }
      let operations = queue.operations
      #expect(Set(operations).count == 64)
      for operation in operations {
        #expect(!operation.isFinished && !operation.isCancelled && !operation.isExecuting && operation.isReady)
        #expect(operation.name == nil && operation.error == nil && operation.completionBlock == nil)
        #expect(operation.queuePriority == .normal && operation.qualityOfService == .default)
        #expect(operation.dependencies.isEmpty && (operation as? BlockOperation)?.executionBlocks.count == 1)
      }
      if round % 2 == 0 { queue.cancelAllOperations() }
      queue.isSuspended = false
      executor.run()
      #expect(
        queue.operationCount == 0 && operations.allSatisfy { $0.isFinished && $0.isCancelled == (round % 2 == 0) })
    }
  }

  @Test("O7, D1: one that had a name, or whose links are closed, is not used again", arguments: [false, true])
  func touchedLinks(isTracked: Bool) {
    if isTracked { queue.progress.totalUnitCount = 10 }
    let (plain, named) = (BlockOperation {}, BlockOperation {})
    named.name = "import of customer 1"
    for operation in [plain, named] { queue.addOperation(operation) }
    executor.run()
    #expect(plain.isFinished && named.isFinished)
    // With a progress, more is done at the end, by which the links are closed.
    #expect(plain.canBeUsedAgain == !isTracked && !named.canBeUsedAgain)
  }
}
