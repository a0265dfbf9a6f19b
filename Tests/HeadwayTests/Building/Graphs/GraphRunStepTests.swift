import Testing

@testable import Headway

/// The steps of the threads that take part in a run of a graph, in the order that the test examines.
@Suite("Individual steps of graph runs", .hangLimit) struct GraphRunStepTests {
  private let executor = GatedExecutor()
  private let graph: OperationGraph
  private let operation: GraphOperation
  private let run: GraphRun

  /// The first participant is busy, and one node is on its stack.
  init() throws {
    let queue = OperationQueue()
    queue.executor = executor
    graph = try OperationGraph { $0.addNode {} }
    (operation, run) = (graph.makeOperation(), GraphRun(nodeCount: 1, laneCount: 2))
    ThreadContext.run(operation, in: queue) { [graph, operation, run] in
      run.begin(operation, limit: 2, home: graph.recycledRuns)
    }
  }

  /// The first participant takes the node, finds no other node, and completes the run.
  private func finish() {
    #expect(run.lanes[0].stack.pop(run.slots) == 0)
    #expect(run.becomeIdle() == .last)
    let comesBack = run.leave()
    #expect(!comesBack)
  }

  @Test("T2: the last thread that stops being busy searches for remaining nodes") func lastLook() {
    #expect(run.becomeIdle() == .busy)
    finish()
  }

  @Test("T2: a thread counts as busy before it takes nodes of other threads") func countsFirst() {
    let isFound = run.search()
    #expect(isFound)
    #expect(run.becomeIdle() == .idle)
    finish()
  }

  @Test("T2: a thread that leaves searches for nodes once more") func secondLook() {
    let isCounted = run.addParticipant()
    #expect(isCounted)
    let comesBack = run.leave()
    #expect(comesBack)
    #expect(run.lanes[0].stack.pop(run.slots) == 0)
    let comesBackLater = run.leave()
    #expect(!comesBackLater)
    #expect(run.becomeIdle() == .last)
    _ = run.leave()
  }

  @Test("T2: the thread that completes a run withdraws its requests") func withdraws() {
    let isCounted = run.addParticipant()
    #expect(isCounted)
    run.send(1, from: executor)
    #expect(executor.waitingCount == 1)
    finish()
    #expect(executor.waitingCount == 0)
  }

  @Test("T2: a helper that makes way for other work leaves no request behind if the run ends in the meantime")
  func makesWay() {
    let (isCounted, isBusy) = (run.addParticipant(), run.becomeBusy())
    #expect(isCounted && isBusy)
    executor.beforeNextRequest { [run] in
      _ = run.lanes[0].stack.pop(run.slots)
      #expect(run.becomeIdle() == .last)
      _ = run.leave()
    }
    let hasMadeWay = run.makeWay(from: 1)
    #expect(hasMadeWay && executor.waitingCount == 0)
  }
}
