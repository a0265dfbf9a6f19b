import Dispatch
import HeadwayTestKit
import Synchronization
import Testing

@testable import Headway

/// How the operation of a graph runs, ends, fails and is cancelled.
@Suite("Runs of operation graphs", .hangLimit) struct OperationGraphRunTests {
  /// Three rows of four nodes; each waits for all nodes of the row before.
  private func rows(_ body: @escaping @Sendable (OperationGraph.Context) throws -> Void) throws -> OperationGraph {
    try OperationGraph { graph in
      var row: [OperationGraph.Node] = []
      for _ in 0..<3 { row = (0..<4).map { _ in graph.addNode(after: row, block: body) } }
    }
  }

  // MARK: Queues

  enum Kind: CaseIterable {
    case usual, serial, utility, background, underlying, suspended, observed, tracked
  }

  @Test("a graph runs in every kind of queue", arguments: Kind.allCases) func queues(_ kind: Kind) throws {
    let queue = OperationQueue()
    switch kind {
    case .usual: break
    case .serial: queue.maxConcurrentOperationCount = 1
    case .utility: queue.qualityOfService = .utility
    case .background: queue.qualityOfService = .background
    case .underlying: queue.underlyingQueue = DispatchQueue(label: "underlying")
    case .suspended: queue.isSuspended = true
    case .observed: break
    case .tracked: queue.progress.totalUnitCount = 3
    }
    let events = kind == .observed ? queue.events.makeAsyncIterator() : nil
    let ran = Atomic(0)
    let isElsewhere = Atomic(false)
    let graph = try rows { context in
      ran.add(1, ordering: .relaxed)
      if OperationQueue.current !== queue { isElsewhere.store(true, ordering: .relaxed) }
    }
    let operations = (0..<3).map { _ in graph.makeOperation() }
    for operation in operations { queue.addOperation(operation) }
    #expect(kind != .suspended || ran.load(ordering: .relaxed) == 0)
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    #expect(ran.load(ordering: .relaxed) == 36)
    let ranElsewhere = isElsewhere.load(ordering: .relaxed)
    #expect(!ranElsewhere)
    #expect(operations.allSatisfy { $0.outcome.isSuccess })
    #expect(kind != .tracked || queue.progress.fractionCompleted == 1)
    withExtendedLifetime(events) {}
  }

  @Test("a graph runs between barriers") func barriers() throws {
    let queue = OperationQueue()
    let record = EventRecorder<String>()
    let graph = try rows { _ in record.record("node") }
    queue.addBarrierBlock { record.record("before") }
    queue.addOperation(graph.makeOperation())
    queue.addBarrierBlock { record.record("after") }
    queue.waitUntilAllOperationsAreFinished()
    #expect(record.events == ["before"] + Array(repeating: "node", count: 12) + ["after"])
  }

  @Test("a graph in the main queue runs only on the main thread", arguments: [1, 3])
  func mainQueue(_ limit: Int) async throws {
    let ran = Atomic(0)
    let graph = try rows { _ in
      dispatchPrecondition(condition: .onQueue(.main))
      if OperationQueue.current === OperationQueue.main { ran.add(1, ordering: .relaxed) }
    }
    let operation = graph.makeOperation(maxConcurrentNodeCount: limit)
    OperationQueue.main.addOperation(operation)
    try await operation.untilFinished()
    #expect(ran.load(ordering: .relaxed) == 12)
  }

  @Test("a graph that is started manually runs and ends on the thread that finishes last") func byHand() throws {
    let ran = Atomic(0)
    let graph = try rows { _ in ran.add(1, ordering: .relaxed) }
    let operation = graph.makeOperation()
    #expect(operation.isAsynchronous)
    operation.start()
    operation.waitUntilFinished()
    #expect(ran.load(ordering: .relaxed) == 12)
  }

  @Test("a graph counts as one operation in the limit of its queue, until its last node has run")
  func oneInLimit() throws {
    let queue = OperationQueue(limit: 1)
    let (started, end) = (Gate(), Gate())
    let graph = try OperationGraph { graph in
      for _ in 0..<2 {
        graph.addNode {
          started.open()
          end.wait()
        }
      }
    }
    let operation = graph.makeOperation()
    let next = BlockOperation { #expect(operation.isFinished) }
    queue.addOperation(operation)
    queue.addOperation(next)
    started.wait()
    #expect(queue.operationCount == 2 && !next.isExecuting)
    end.open()
    queue.waitUntilAllOperationsAreFinished()
    #expect(next.outcome.isSuccess)
  }

  @Test("in a queue with its own executor, a graph runs all nodes in one step if no helper arrives")
  func executor() throws {
    let executor = StepExecutor()
    let queue = OperationQueue()
    executor.control(queue)
    let ran = Atomic(0)
    let graph = try rows { _ in ran.add(1, ordering: .relaxed) }
    let operation = graph.makeOperation(maxConcurrentNodeCount: 4)
    queue.addOperation(operation)
    #expect(executor.step())
    #expect(operation.isFinished && ran.load(ordering: .relaxed) == 12)
    executor.runSteps()
    #expect(ran.load(ordering: .relaxed) == 12)
  }

  @Test("a graph can have dependencies and dependents") func dependencies() throws {
    let record = EventRecorder<String>()
    let graph = try rows { _ in record.record("node") }
    let (before, operation) = (BlockOperation { record.record("before") }, graph.makeOperation())
    let after = BlockOperation { record.record("after") }
    operation.addDependency(before)
    after.addDependency(operation)
    OperationQueue().addOperations([after, operation, before], waitUntilFinished: true)
    #expect(record.events == ["before"] + Array(repeating: "node", count: 12) + ["after"])
  }

  // MARK: Cancelling

  @Test("a cancellation takes effect between nodes") func cancelling() throws {
    let (started, end) = (Gate(), Gate())
    let record = EventRecorder<String>()
    let graph = try OperationGraph { graph in
      let first = graph.addNode { (context: OperationGraph.Context) in
        started.open()
        end.wait()
        record.record(context.isCancelled ? "cancelled" : "not cancelled")
        try context.checkCancellation()
      }
      graph.addNode(after: [first]) { record.record("second") }
    }
    let operation = graph.makeOperation()
    let queue = OperationQueue()
    queue.addOperation(operation)
    started.wait()
    operation.cancel()
    #expect(!operation.isFinished)
    end.open()
    queue.waitUntilAllOperationsAreFinished()
    #expect(record.events == ["cancelled"])
    #expect(operation.outcome.isCancelled && operation.error == nil)
  }

  @Test("a graph that is cancelled before it starts runs no nodes, and can run again later")
  func cancelledBefore() throws {
    let ran = Atomic(0)
    let graph = try rows { _ in ran.add(1, ordering: .relaxed) }
    let operation = graph.makeOperation()
    operation.cancel()
    let queue = OperationQueue()
    queue.addOperations([operation], waitUntilFinished: true)
    #expect(ran.load(ordering: .relaxed) == 0)
    #expect(operation.outcome.isCancelled)
    queue.addOperations([graph.makeOperation()], waitUntilFinished: true)
    #expect(ran.load(ordering: .relaxed) == 12)
  }

  @Test("with a limit of 1, a node that cancels the operation is the last node to begin")
  func cancellingItself() throws {
    let ran = Atomic(0)
    let graph = try rows { context in if ran.add(1, ordering: .relaxed).newValue == 5 { context.operation.cancel() } }
    for _ in 0..<10 {
      ran.store(0, ordering: .relaxed)
      let operation = graph.makeOperation(maxConcurrentNodeCount: 1)
      operation.start()
      #expect(operation.outcome.isCancelled)
      #expect(ran.load(ordering: .relaxed) == 5)
    }
  }

  // MARK: Errors

  @Test("the first error stops the run and contains the node's name") func failing() throws {
    let record = EventRecorder<String>()
    let graph = try OperationGraph { graph in
      let load = graph.addNode("load") { record.record("load") }
      let parse = graph.addNode("parse", after: [load]) {
        record.record("parse")
        throw Mishap()
      }
      graph.addNode("store", after: [parse]) { record.record("store") }
    }
    let operation = graph.makeOperation()
    OperationQueue().addOperations([operation], waitUntilFinished: true)
    #expect(record.events == ["load", "parse"])
    let error = try #require(operation.error as? OperationGraphError)
    #expect(error.code == .nodeFailed && error.nodeNames == ["parse"] && error.nodes.map(\.index) == [1])
    #expect(error.underlyingError as? Mishap == Mishap())
    #expect("\(error)".hasPrefix("The node “parse” failed: Mishap"))
    if case .failure? = operation.outcome {} else { Issue.record("\(String(describing: operation.outcome))") }
  }

  @Test("a running block can read that another block has failed") func failingBeside() throws {
    let isRunning = Gate()
    let graph = try OperationGraph { graph in
      graph.addNode("slow") { (context: OperationGraph.Context) in
        isRunning.open()
        while !context.isCancelled { yieldThread() }
        try context.checkCancellation()
      }
      graph.addNode("fails") {
        isRunning.wait()
        throw Mishap()
      }
    }
    let operation = graph.makeOperation(maxConcurrentNodeCount: 2)
    OperationQueue().addOperations([operation], waitUntilFinished: true)
    #expect((operation.error as? OperationGraphError)?.nodeNames == ["fails"])
  }

  // MARK: Progress and times

  @Test("the progress counts the nodes") func progress() throws {
    let graph = try rows { context in
      let progress = context.operation.progress
      // Its own node has not been counted, but at some time before, each node of the row before has.
      #expect(progress.completedUnitCount <= 11 && progress.totalUnitCount == 12)
    }
    let fractions = EventRecorder<Double>()
    let operation = graph.makeOperation(maxConcurrentNodeCount: 1)
    #expect(operation.progress.totalUnitCount == 12)
    let token = operation.progress.onChange { fractions.record($0.fractionCompleted) }
    OperationQueue().addOperations([operation], waitUntilFinished: true)
    #expect(operation.progress.isFinished && operation.progress.completedUnitCount == 12)
    let expected: [Double] = (1...12).map { count in Double(count) / 12 }
    #expect(fractions.events == expected)
    let parallel = graph.makeOperation(maxConcurrentNodeCount: 3)
    OperationQueue().addOperations([parallel], waitUntilFinished: true)
    #expect(parallel.progress.completedUnitCount == 12)
    _ = token
  }

  @Test("a progress that is first read after the graph has finished has counted all nodes") func lateProgress() throws {
    let operation = try OperationGraph { graph in
      for _ in 0..<12 { graph.addNode {} }
    }.makeOperation()
    OperationQueue().addOperations([operation], waitUntilFinished: true)
    #expect(operation.progress.isFinished && operation.progress.completedUnitCount == 12)
  }

  @Test("the times of the nodes are recorded if requested") func times() throws {
    let graph = try OperationGraph { graph in
      let first = graph.addNode("first") {}
      graph.addNode("\"second\"\\\n", after: [first]) {}
      graph.addNode(after: [first]) { throw Mishap() }
    }
    let silent = graph.makeOperation(maxConcurrentNodeCount: 1)
    silent.start()
    #expect(silent.nodeTimings.isEmpty && !silent.recordsTimes)
    let operation = graph.makeOperation(maxConcurrentNodeCount: 1, recordingTimes: true)
    #expect(operation.nodeTimings.isEmpty)
    operation.start()
    let times = operation.nodeTimings
    #expect(times.first?.name == "first" && times.allSatisfy { $0.threadIndex == 0 && $0.startOffset >= .zero })
    #expect(times.contains { $0.name == "node 2" })
    #expect(times[0].description == "“first” on thread 0: \(times[0].duration) after \(times[0].startOffset)")
    #expect(
      graph.graphvizDescription() == """
        digraph {
          0 [label="first"]
          1 [label="\\"second\\"\\\\\\n"]
          2 [label="node 2"]
          0 -> 1
          0 -> 2
        }

        """)
    #expect(graph.graphvizDescription(timings: times).contains(#"0 [label="first\nthread 0, "#))
  }

  // MARK: Next to other work

  @Test("workers that are needed elsewhere leave their nodes to others, and every node runs")
  func makingWay() throws {
    let rounds = min(100, environmentNumber("HEADWAY_STRESS_ROUNDS") ?? 100)
    let (queue, others) = (OperationQueue(), OperationQueue())
    let (ran, ranBeside) = (EventRecorder<Int>(), EventRecorder<Int>())
    // After a wait, more workers are active than permitted, and one must leave.
    let graph = try OperationGraph { graph in
      var row: [OperationGraph.Node] = []
      for _ in 0..<10 {
        row = (0..<10).map { column in
          graph.addNode(after: Array(row.prefix(column))) { context in
            ran.record(context.node.index)
            guard column.isMultiple(of: 3) else { return }
            let operation = BlockOperation { ranBeside.record(column) }
            others.addOperation(operation)
            operation.waitUntilFinished()
          }
        }
      }
    }
    for round in 1...rounds {
      let operations = (2...4).map { graph.makeOperation(maxConcurrentNodeCount: $0) }
      queue.addOperations(operations, waitUntilFinished: true)
      #expect(operations.allSatisfy { $0.outcome.isSuccess })
      #expect(ran.count == round * 300 && ranBeside.count == round * 120)
    }
  }

  // MARK: Memory

  @Test("a graph and its runs are freed, with the objects that their blocks captured") func memory() throws {
    let census = Crowd()
    do {
      let graph: OperationGraph = try {
        let members = (0..<10).map { _ in CountedMember(census) }
        return try OperationGraph { graph in
          var row: [OperationGraph.Node] = []
          for member in members { row = [graph.addNode(after: row) { _ = member }, graph.addNode(after: row) {}] }
        }
      }()
      let queue = OperationQueue()
      for _ in 0..<20 { queue.addOperations([graph.makeOperation()], waitUntilFinished: true) }
      #expect(census.now == 10)
    }
    #expect(census.eventuallyEmpty())
  }

  @Test("an operation is freed when its run has completed") func operationMemory() throws {
    let graph = try rows { _ in }
    let queue = OperationQueue()
    weak var last: GraphOperation?
    for _ in 0..<100 {
      let operation = graph.makeOperation()
      last = operation
      queue.addOperations([operation], waitUntilFinished: true)
    }
    #expect(eventually { last == nil })
  }

  // MARK: Stress

  @Test("concurrent runs that are cancelled, fail, and succeed all end") func stress() throws {
    let rounds = environmentNumber("HEADWAY_STRESS_ROUNDS") ?? 200
    let seed = SystemRandomNumberGenerator().seed()
    var generator = SeededGenerator(seed: seed)
    let graph = try RandomGraph(seed: generator.next())
    let (queue, others) = (OperationQueue(), OperationQueue())
    let failsAt = Atomic(-1)
    let failing = try OperationGraph { graph in
      var row: [OperationGraph.Node] = []
      for _ in 0..<10 {
        row = (0..<10).map { _ in
          graph.addNode(after: row) { context in
            if context.node.index == failsAt.load(ordering: .relaxed) { throw Mishap() }
          }
        }
      }
    }
    for round in 0..<rounds {
      failsAt.store(Int.random(in: 0..<200, using: &generator), ordering: .relaxed)
      let whole = graph.graph.makeOperation(maxConcurrentNodeCount: Int.random(in: 1...5, using: &generator))
      let parts = (0..<4).map { _ in
        failing.makeOperation(maxConcurrentNodeCount: Int.random(in: 1...5, using: &generator))
      }
      queue.addOperations([whole] + parts, waitUntilFinished: false)
      let victim = parts[Int.random(in: 0..<4, using: &generator)]
      others.addOperation { victim.cancel() }
      queue.waitUntilAllOperationsAreFinished()
      let fault = graph.fault()
      #expect(fault == nil, "Seed \(seed), round \(round)")
      #expect(whole.outcome.isSuccess && parts.allSatisfy(\.isFinished), "Seed \(seed), round \(round)")
    }
    others.waitUntilAllOperationsAreFinished()
  }
}

extension SystemRandomNumberGenerator {
  /// A seed, for tests that print it.
  fileprivate func seed() -> UInt64 {
    var generator = self
    return generator.next()
  }
}
