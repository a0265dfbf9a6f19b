import Headway

struct HeadwayRival: IndependentRival, GraphRival, FanRival, ReusableGraphRival, QueueRival, CancellingRival {
  let name = "headway"

  func run(count: Int, body: @escaping Body) {
    let queue = OperationQueue()
    for _ in 0..<count { queue.addOperation(body) }
    queue.waitUntilAllOperationsAreFinished()
  }

  func run(_ graph: DependencyGraph, body: (Int) -> Body) {
    var operations: [Operation] = []
    operations.reserveCapacity(graph.nodeCount)
    for node in 0..<graph.nodeCount {
      let operation = BlockOperation(block: body(node))
      for dependency in graph.dependencies(of: node) { operation.addDependency(operations[Int(dependency)]) }
      operations.append(operation)
    }
    OperationQueue().addOperations(operations, waitUntilFinished: true)
  }

  func makeGraph(_ graph: DependencyGraph, body: @escaping Body) -> any ReusableGraph {
    HeadwayGraph(graph, body)
  }

  func makeQueue(width: QueueWidth, urgency: Urgency) -> any WorkQueue { HeadwayQueue(width: width, urgency: urgency) }

  func makeCancellableQueue() -> any CancellableQueue { HeadwayQueue(width: .many, urgency: .usual) }
}

private final class HeadwayGraph: ReusableGraph {
  private let queue = OperationQueue()
  private let graph: OperationGraph

  init(_ description: DependencyGraph, _ body: @escaping Body) {
    let made = try? OperationGraph { graph in
      var nodes: [OperationGraph.Node] = []
      nodes.reserveCapacity(description.nodeCount)
      for number in 0..<description.nodeCount {
        let node = graph.addNode(block: body)
        for dependency in description.dependencies(of: number) { graph.addEdge(from: nodes[Int(dependency)], to: node) }
        nodes.append(node)
      }
    }
    graph = made!  // Nodes wait only for earlier ones, so there is no cycle.
  }

  func run() { queue.addOperations([graph.makeOperation()], waitUntilFinished: true) }
}

final class HeadwayQueue: CancellableQueue {
  private let queue: OperationQueue

  init(_ queue: OperationQueue) { self.queue = queue }

  init(width: QueueWidth, urgency: Urgency) {
    queue = width == .oneInOrder ? OperationQueue(order: .fifo) : OperationQueue()
    if width == .one { queue.maxConcurrentOperationCount = 1 }
    switch urgency {
    case .background: queue.qualityOfService = .background
    case .usual: break
    case .interactive: queue.qualityOfService = .userInteractive
    }
  }

  func add(_ body: @escaping Body) { queue.addOperation(body) }
  func suspend() { queue.isSuspended = true }
  func resume() { queue.isSuspended = false }
  func waitUntilEmpty() { queue.waitUntilAllOperationsAreFinished() }
  func cancelAll() { queue.cancelAllOperations() }
}
