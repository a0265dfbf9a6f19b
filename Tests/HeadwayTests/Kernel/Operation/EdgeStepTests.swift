import HeadwayTestKit
import Synchronization
import Testing

@testable import Headway

/// The steps that add edges, remove them and count them down, in the order that the test examines.
@Suite("Individual steps of edges", .hangLimit) struct EdgeStepTests {
  private func slotWord(of operation: Headway.Operation) -> UInt {
    operation.firstSlot.dependency.load(ordering: .acquiring)
  }

  private func hasNoEdge(_ dependency: Headway.Operation) -> Bool { dependency.dependents.isEmpty }

  /// Another thread is adding a dependency: it has counted and listed it, and has not pushed the edge.
  private func beginAdding(_ dependency: Headway.Operation, to operation: Headway.Operation) -> Edge {
    _ = dependency.state.announceEdges()
    guard case .slot(0, _) = operation.state.claimSlot(isCounted: true) else {
      Issue.record("the slot has been given out")
      return Edge(slot: 0, of: operation)
    }
    let address = UInt(bitPattern: OperationReference(dependency).retain().toOpaque())
    operation.firstSlot.dependency.store(address, ordering: .releasing)
    return Edge(slot: 0, of: operation)
  }

  @Test(
    "D4: after an edge was removed, the operation's end finds the remaining edges in their new place", arguments: 2...3)
  func movedEdges(count: Int) {
    let dependency = BlockOperation {}
    let dependents = (0..<count).map { _ in BlockOperation {} }
    for dependent in dependents { dependent.addDependency(dependency) }
    dependents[0].removeDependency(dependency)
    #expect(dependency.state.current.isLinked && !dependency.state.current.endsByEdgesAlone)
    dependency.start()
    #expect(dependents.allSatisfy { $0.isReady })
  }

  @Test("D8: an operation that is freed unfinished is no longer in any stack") func freed() {
    let dependency = BlockOperation {}
    do {
      let dependent = BlockOperation {}
      dependent.addDependency(dependency)
      #expect(!hasNoEdge(dependency))
    }
    #expect(hasNoEdge(dependency))
    dependency.start()
  }

  @Test("C1, D8: an operation that ends early does not touch a dependency that another thread is adding")
  func endsWhileAdding() {
    let (dependency, operation) = (BlockOperation {}, BlockOperation {})
    let edge = beginAdding(dependency, to: operation)
    operation.cancel()
    #expect(operation.isFinished && slotWord(of: operation) & ~1 != 0)
    // The other thread continues, and finds that the operation has ended.
    let isPushed = dependency.dependents.push(edge)
    #expect(isPushed && operation.state.current.dependenciesWereRead)
    operation.leave(dependency, edge)
    #expect(slotWord(of: operation) == 0 && hasNoEdge(dependency))
    dependency.start()
  }

  @Test("D4: a dependency that another thread is adding is not removed") func removedWhileAdding() {
    let (dependency, operation) = (BlockOperation {}, BlockOperation {})
    let edge = beginAdding(dependency, to: operation)
    operation.removeDependency(dependency)
    #expect(operation.dependencies == [dependency])
    let isPushed = dependency.dependents.push(edge)
    #expect(isPushed)
    dependency.start()
    #expect(operation.isReady)
  }

  #if os(Linux)
  @Test("D4, D8: a dependency that has ended is removed after its end has counted down") func removedWhileCountingDown()
  {
    let (dependency, operation) = (BlockOperation {}, BlockOperation {})
    operation.addDependency(dependency)
    _ = dependency.state.finish()
    let thread = WatchedThread()
    onThreads(2) { number in
      guard number == 0 else { return thread.run { operation.removeDependency(dependency) } }
      #expect(thread.waits)
      dependency.dependents.close { edge in edge.state.pointee.dependencyFinished { _ in } }
    }
    #expect(operation.isReady && operation.dependencies.isEmpty)
  }
  #endif

  @Test("D5: a dependency that had finished when it was added is listed as unlinked") func finishedBefore() {
    let (dependency, operation) = (BlockOperation {}, BlockOperation {})
    dependency.start()
    operation.addDependency(dependency)
    #expect(slotWord(of: operation) & 1 == 1)
  }

  // Another thread, X, cancels an operation that has two unfinished dependencies:
  //
  //     X: takes the edge out of the first
  //                                        the first ends, and is removed: its place is empty
  //     X: takes the edge out of the second
  //     X: marks the places
  @Test("C1, D4: an operation that ends early marks no slot that another thread has emptied in the meantime")
  func emptiedMeanwhile() {
    let (first, second, operation) = (BlockOperation {}, BlockOperation {}, BlockOperation {})
    operation.addDependency(first)
    operation.addDependency(second)
    let isCancelled = Gate()
    onThreads(2) { number in
      guard number == 0 else {
        isCancelled.wait()
        operation.cancel()
        return
      }
      // The thread that cancels leaves the first dependency before the second.
      second.links.withLock { _ in
        isCancelled.open()
        let isLeft = eventually { first.dependents.isEmpty && first.links.withLock { !$0.isClosed } }
        #expect(isLeft)
        first.start()
        operation.removeDependency(first)
      }
    }
    #expect(slotWord(of: operation) == 0)
    second.start()
  }

  @Test("D2, D8: the next edge is read before an edge is counted down, because its memory might be freed then")
  func readBefore() {
    let dependency = BlockOperation {}
    let operations = (0..<3).map { _ in BlockOperation {} }
    let edges = operations.map { Edge(slot: 0, of: $0) }
    for edge in edges { _ = dependency.dependents.push(edge) }
    let counted = EventRecorder<Edge>()
    dependency.dependents.close { edge in
      counted.record(edge)
      edge.next = 0
    }
    #expect(counted.events == edges)
    withExtendedLifetime(operations) {}
  }

  @Test("D1: an operation with a dependent has the mark for dependents when it ends, however it ends") func marked() {
    let queue = OperationQueue()
    queue.executor = VisitExecutor()
    let (dependency, dependent) = (BlockOperation {}, BlockOperation {})
    dependent.addDependency(dependency)
    queue.addOperation(dependency)
    let thread = SteppedBatch(of: queue, atMost: 1)
    thread.begin(dependency)
    thread.end(dependency)
    thread.close()
    #expect(dependent.isReady)
    // No thread closes the stack that contains it, so the thread that frees it would wait forever.
    if !dependent.isReady { _ = Unmanaged.passRetained(dependent) }
  }

  @Test("D8: the thread that ends an operation acquires the lock if another thread has read the dependencies")
  func seen() {
    let (dependency, operation) = (BlockOperation {}, BlockOperation {})
    operation.addDependency(dependency)
    dependency.start()
    #expect(operation.state.current.endsByEdgesAlone)
    #expect(operation.dependencies == [dependency])
    #expect(!operation.state.current.endsByEdgesAlone)
  }
}
