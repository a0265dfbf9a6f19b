import Dispatch
import HeadwayTestKit
import Synchronization
import Testing

@testable import Headway

/// The nodes that a graph runs, and their order.
@Suite("Operation graphs", .hangLimit) struct OperationGraphTests {
  /// Runs an operation in a separate queue and returns it when it has ended.
  @discardableResult
  private func run(_ operation: GraphOperation) -> GraphOperation {
    OperationQueue().addOperations([operation], waitUntilFinished: true)
    return operation
  }

  @Test("a graph runs each node once, after its predecessors") func order() throws {
    let record = EventRecorder<String>()
    let graph = try OperationGraph { graph in
      let load = graph.addNode("load") { record.record("load") }
      let left = graph.addNode("left", after: [load]) { record.record("left") }
      let right = graph.addNode("right") { record.record("right") }
      let save = graph.addNode("save", after: [left, right]) { record.record("save") }
      graph.addEdge(from: load, to: right)
      #expect([load, left, right, save].map(\.index) == [0, 1, 2, 3])
      #expect(graph.nodeCount == 4)
    }
    #expect(graph.nodeCount == 4 && graph.edgeCount == 4)
    #expect(graph.description == "graph of 4 nodes and 4 edges")
    let operation = run(graph.makeOperation())
    #expect(operation.outcome.isSuccess)
    #expect(record.events.first == "load" && record.events.last == "save")
    #expect(Set(record.events) == ["load", "left", "right", "save"] && record.count == 4)
  }

  @Test("a node's block can read its name, its number and the operation") func context() throws {
    let seen = EventRecorder<String>()
    let operations = Mutex<[ObjectIdentifier]>([])
    var nodes: [OperationGraph.Node] = []
    let graph = try OperationGraph { graph in
      for name in ["load", nil, "save"] {
        let node = graph.addNode(name) { context in
          seen.record("\(context.nodeName) \(context.node.index)")
          operations.withLock { $0.append(ObjectIdentifier(context.operation)) }
          #expect(!context.isCancelled)
          try context.checkCancellation()
        }
        nodes.append(node)
      }
    }
    #expect(graph.name(of: nodes[1]) == "node 1")
    let operation = run(graph.makeOperation(maxConcurrentNodeCount: 1))
    #expect(Set(seen.events) == ["load 0", "node 1 1", "save 2"])
    #expect(operations.withLock { $0 } == Array(repeating: ObjectIdentifier(operation), count: 3))
  }

  @Test("graphs without nodes, and with one node, run") func small() throws {
    let none = try OperationGraph { _ in }
    #expect(run(none.makeOperation()).outcome.isSuccess)
    let ran = Atomic(0)
    let one = try OperationGraph { graph in graph.addNode { ran.add(1, ordering: .relaxed) } }
    #expect(run(one.makeOperation()).outcome.isSuccess)
    #expect(ran.load(ordering: .relaxed) == 1)
  }

  @Test("adding an edge a second time changes nothing") func doubleEdge() throws {
    let record = EventRecorder<Int>()
    let graph = try OperationGraph { graph in
      let first = graph.addNode { record.record(0) }
      let second = graph.addNode(after: [first, first]) { record.record(1) }
      graph.addEdge(from: first, to: second)
    }
    run(graph.makeOperation())
    #expect(record.events == [0, 1])
  }

  @Test("a node can have an edge to a node that was added earlier") func backwards() throws {
    let record = EventRecorder<Int>()
    let graph = try OperationGraph { graph in
      let nodes = (0..<100).map { number in graph.addNode { record.record(number) } }
      for number in 1..<100 { graph.addEdge(from: nodes[number], to: nodes[number - 1]) }
    }
    run(graph.makeOperation())
    #expect(record.events == (0..<100).reversed())
  }

  // MARK: Cycles

  @Test("a cycle is rejected with the names of its nodes") func cycle() throws {
    let error = try #require(throws: OperationGraphError.self) {
      try OperationGraph { graph in
        let before = graph.addNode("before") {}
        let first = graph.addNode("first", after: [before]) {}
        let second = graph.addNode("second", after: [first]) {}
        let third = graph.addNode(after: [second]) {}
        graph.addEdge(from: third, to: first)
        graph.addNode("after", after: [third]) {}
      }
    }
    #expect(error.code == .cycle && error.underlyingError == nil)
    #expect(error.nodes.map(\.index) == [1, 2, 3])
    #expect(error.nodeNames == ["first", "second", "node 3"])
    #expect(
      "\(error)" == "The nodes wait for each other in a cycle: “first” → “second” → “node 3” → “first”.")
  }

  @Test("a node that waits for itself is a cycle") func selfEdge() throws {
    let error = try #require(throws: OperationGraphError.self) {
      try OperationGraph { graph in
        let node = graph.addNode("alone") {}
        graph.addEdge(from: node, to: node)
      }
    }
    #expect(error.nodeNames == ["alone"])
  }

  @Test("an error of the block that builds a graph is rethrown") func buildError() {
    #expect(throws: Mishap()) { try OperationGraph { _ in throw Mishap() } }
  }

  // MARK: Sizes

  @Test("a chain of 1,000,000 nodes runs in order") func deep() throws {
    let count = 1_000_000
    let last = Mutex(-1)
    let graph = try OperationGraph { graph in
      graph.reserveCapacity(nodes: count, edges: count)
      var before: OperationGraph.Node?
      for number in 0..<count {
        let node = graph.addNode { last.withLock { if $0 == number - 1 { $0 = number } } }
        if let before { graph.addEdge(from: before, to: node) }
        before = node
      }
    }
    run(graph.makeOperation())
    #expect(last.withLock { $0 } == count - 1)
  }

  @Test("a graph that is 100,000 wide runs every node", arguments: [1, 2, 7]) func wide(_ limit: Int) throws {
    let count = 100_000
    let sum = Atomic(0)
    let isLast = Atomic(false)
    let graph = try OperationGraph { graph in
      let first = graph.addNode {}
      let parts = (1...count).map { number in
        graph.addNode(after: [first]) { sum.add(number, ordering: .relaxed) }
      }
      graph.addNode(after: parts) {
        isLast.store(sum.load(ordering: .relaxed) == count * (count + 1) / 2, ordering: .relaxed)
      }
    }
    run(graph.makeOperation(maxConcurrentNodeCount: limit))
    let wasLast = isLast.load(ordering: .relaxed)
    #expect(wasLast)
  }

  @Test("random graphs run every node once, after its predecessors") func random() throws {
    var seeds = SystemRandomNumberGenerator()
    for _ in 0..<(environmentNumber("HEADWAY_GRAPHS") ?? 60) {
      let seed = seeds.next()
      let graph = try RandomGraph(seed: seed)
      for limit in [1, 2, 3, 8] {
        let operation = run(graph.graph.makeOperation(maxConcurrentNodeCount: limit))
        #expect(operation.outcome.isSuccess)
        if let fault = graph.fault() {
          Issue.record("Seed \(seed), limit \(limit): \(fault)")
          return
        }
      }
    }
  }

  // MARK: Running again

  @Test("a graph runs 1,000 times, with the same counters") func again() throws {
    let graph = try RandomGraph(seed: 7)
    let queue = OperationQueue()
    for _ in 0..<1_000 {
      queue.addOperations([graph.graph.makeOperation()], waitUntilFinished: true)
      #expect(graph.fault() == nil)
    }
  }

  @Test("a run reuses the counters of a run that has ended") func reuse() throws {
    let graph = try OperationGraph { graph in graph.addNode {} }
    graph.makeOperation(maxConcurrentNodeCount: 1).start()
    let first = try #require(graph.recycledRuns.take())
    graph.recycledRuns.put(first)
    graph.makeOperation(maxConcurrentNodeCount: 1).start()
    #expect(graph.recycledRuns.take() === first)
    #expect(graph.recycledRuns.take() == nil)
  }

  @Test("several runs of a graph can run concurrently") func sideBySide() throws {
    let meeting = Meeting(of: 3)
    let ran = Atomic(0)
    let graph = try OperationGraph { graph in
      let first = graph.addNode { meeting.attend() }
      for _ in 0..<10 { graph.addNode(after: [first]) { ran.add(1, ordering: .relaxed) } }
    }
    let operations = (0..<3).map { _ in graph.makeOperation() }
    OperationQueue().addOperations(operations, waitUntilFinished: true)
    #expect(ran.load(ordering: .relaxed) == 30)
    #expect(operations.allSatisfy { $0.outcome.isSuccess })
  }

  @Test("100 concurrent runs of a graph run every node") func manySideBySide() throws {
    let ran = Atomic(0)
    let graph = try OperationGraph { graph in
      var row = [graph.addNode { ran.add(1, ordering: .relaxed) }]
      for _ in 0..<20 {
        row = (0..<10).map { _ in graph.addNode(after: row) { ran.add(1, ordering: .relaxed) } }
      }
    }
    OperationQueue().addOperations((0..<100).map { _ in graph.makeOperation() }, waitUntilFinished: true)
    #expect(ran.load(ordering: .relaxed) == 100 * graph.nodeCount)
  }

  // MARK: Limits

  @Test("exactly as many nodes run at the same time as the limit allows", arguments: [1, 2, 3])
  func limit(_ limit: Int) throws {
    let crowd = Crowd()
    let meeting = Meeting(of: limit)
    let attending = Atomic(0)
    let graph = try OperationGraph { graph in
      for _ in 0..<50 {
        graph.addNode {
          crowd.enter()
          if attending.add(1, ordering: .relaxed).newValue <= limit { meeting.attend() }
          crowd.leave()
        }
      }
    }
    #expect(graph.makeOperation(maxConcurrentNodeCount: limit).maxConcurrentNodeCount == limit)
    run(graph.makeOperation(maxConcurrentNodeCount: limit))
    #expect(crowd.most == limit)
  }

  @Test("with a limit of 1, all nodes run on the thread that starts the operation") func serial() throws {
    let thread = ThreadIdentity()
    let elsewhere = Atomic(0)
    let graph = try OperationGraph { graph in
      let first = graph.addNode { if !thread.isCurrent { elsewhere.add(1, ordering: .relaxed) } }
      for _ in 0..<100 {
        graph.addNode(after: [first]) { if !thread.isCurrent { elsewhere.add(1, ordering: .relaxed) } }
      }
    }
    let operation = graph.makeOperation(maxConcurrentNodeCount: 1)
    operation.start()
    #expect(operation.isFinished)
    #expect(elsewhere.load(ordering: .relaxed) == 0)
  }

  @Test("a node that becomes ready while all other nodes wait for it runs on another thread") func waiting() throws {
    for _ in 0..<200 {
      let opened = Gate()
      let graph = try OperationGraph { graph in
        let first = graph.addNode {}
        // Takes part but finds nothing to do for a while.
        graph.addNode {}
        let second = graph.addNode(after: [first]) {}
        graph.addNode(after: [second]) { opened.wait() }
        graph.addNode(after: [second]) { opened.open() }
      }
      #expect(run(graph.makeOperation(maxConcurrentNodeCount: 2)).outcome.isSuccess)
    }
  }

  enum ForeignUse: String, CaseIterable, Codable, Sendable { case predecessor, edge, name, description }

  @Test("using a node of another graph is a programming error", arguments: ForeignUse.allCases)
  func foreignNode(use: ForeignUse) async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [use] in
      var nodes: [OperationGraph.Node] = []
      let first = try OperationGraph { graph in nodes.append(graph.addNode("load") {}) }
      let recording = first.makeOperation(recordingTimes: true)
      recording.start()
      let second = try OperationGraph { graph in
        let own = graph.addNode("unrelated") {}
        switch use {
        case .predecessor: graph.addNode("use", after: nodes) {}
        case .edge: graph.addEdge(from: own, to: nodes[0])
        default: break
        }
      }
      switch use {
      case .name: _ = second.name(of: nodes[0])
      default: _ = second.graphvizDescription(timings: recording.nodeTimings)
      }
    }
    #expect(result.message.contains("node 0 of another graph"))
  }

  @Test("nodes of two graphs are never equal") func nodesOfTwoGraphs() throws {
    var nodes: Set<OperationGraph.Node> = []
    for _ in 0..<3 { _ = try OperationGraph { graph in nodes.insert(graph.addNode {}) } }
    #expect(nodes.count == 3)
  }
}
