import Foundation

struct FoundationRival: IndependentRival, GraphRival, FanRival, QueueRival, CancellingRival {
  let name = "foundation"

  func run(count: Int, body: @escaping Body) {
    let queue = OperationQueue()
    for _ in 0..<count { queue.addOperation(body) }
    queue.waitUntilAllOperationsAreFinished()
  }

  func run(_ graph: DependencyGraph, body: (Int) -> Body) {
    var operations: [BlockOperation] = []
    operations.reserveCapacity(graph.nodeCount)
    for node in 0..<graph.nodeCount {
      let operation = BlockOperation(block: body(node))
      for dependency in graph.dependencies(of: node) { operation.addDependency(operations[Int(dependency)]) }
      operations.append(operation)
    }
    OperationQueue().addOperations(operations, waitUntilFinished: true)
  }

  func makeQueue(width: QueueWidth, urgency: Urgency) -> any WorkQueue {
    FoundationQueue(width: width, urgency: urgency)
  }

  func makeCancellableQueue() -> any CancellableQueue { FoundationQueue(width: .many, urgency: .usual) }
}

private final class FoundationQueue: CancellableQueue {
  private let queue = OperationQueue()

  init(width: QueueWidth, urgency: Urgency) {
    if width != .many { queue.maxConcurrentOperationCount = 1 }
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
