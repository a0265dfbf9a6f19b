import Dispatch
import Synchronization

struct DispatchRival: IndependentRival, OperationKindRival, GraphRival, FanRival, QueueRival, CancellingRival {
  let name = "dispatch"

  func run(count: Int, body: @escaping Body) {
    let (queue, group) = (DispatchQueue.global(), DispatchGroup())
    for _ in 0..<count { queue.async(group: group, execute: body) }
    group.wait()
  }

  /// A node is a dispatch group that each dependency leaves once.
  ///
  /// The group notifies a block that does the node's work.
  func run(_ graph: DependencyGraph, body: (Int) -> Body) {
    let (queue, all) = (DispatchQueue.global(), DispatchGroup())
    var nodes: [Node] = []
    nodes.reserveCapacity(graph.nodeCount)
    for position in 0..<graph.nodeCount {
      let node = Node()
      for dependency in graph.dependencies(of: position) {
        node.group.enter()
        nodes[Int(dependency)].dependents.append(node.group)
      }
      nodes.append(node)
    }
    for (position, node) in nodes.enumerated() {
      let work = body(position)
      all.enter()
      node.group.notify(queue: queue) {
        work()
        for dependent in node.dependents { dependent.leave() }
        all.leave()
      }
    }
    all.wait()
  }

  /// One group for the first block, which notifies the many blocks, and one group for these, which notifies the last
  /// block.
  func runFan(_ graph: DependencyGraph, body: @escaping Body) {
    let (queue, first, many, done) = (DispatchQueue.global(), DispatchGroup(), DispatchGroup(), DispatchGroup())
    first.enter()
    for _ in 2..<graph.nodeCount {
      many.enter()
      first.notify(queue: queue) {
        body()
        many.leave()
      }
    }
    done.enter()
    many.notify(queue: queue) {
      body()
      done.leave()
    }
    queue.async {
      body()
      first.leave()
    }
    done.wait()
  }

  /// It is complete before any node runs and does not change afterward.
  private final class Node: @unchecked Sendable {
    let group = DispatchGroup()
    var dependents: [DispatchGroup] = []
  }

  func makeQueue(width: QueueWidth, urgency: Urgency) -> any WorkQueue {
    PlainDispatchQueue(width: width, urgency: urgency)
  }

  func makeCancellableQueue() -> any CancellableQueue { DispatchItemQueue() }
}

private final class PlainDispatchQueue: WorkQueue {
  private let queue: DispatchQueue
  private let group = DispatchGroup()

  init(width: QueueWidth, urgency: Urgency) {
    let quality: DispatchQoS =
      switch urgency {
      case .background: .background
      case .usual: .default
      case .interactive: .userInteractive
      }
    queue = DispatchQueue(label: "work", qos: quality, attributes: width == .many ? .concurrent : [])
  }

  func add(_ body: @escaping Body) { queue.async(group: group, execute: body) }
  func suspend() { queue.suspend() }
  func resume() { queue.resume() }
  func waitUntilEmpty() { group.wait() }
}

/// Keeps its work items, because a dispatch queue can't cancel waiting items.
private final class DispatchItemQueue: CancellableQueue {
  private let queue = DispatchQueue(label: "work", attributes: .concurrent)
  private let group = DispatchGroup()
  private let items = Mutex(Items())

  /// `DispatchWorkItem` is not marked as sendable, although it can be cancelled from any thread.
  private struct Items: @unchecked Sendable {
    var list: [DispatchWorkItem] = []
  }

  func add(_ body: @escaping Body) {
    let item = DispatchWorkItem(block: body)
    queue.async(group: group, execute: item)
    let items = Items(list: [item])
    self.items.withLock { $0.list += items.list }
  }

  func suspend() { queue.suspend() }
  func resume() { queue.resume() }
  func waitUntilEmpty() { group.wait() }

  func cancelAll() {
    let items = items.withLock { items in
      defer { items.list = [] }
      return items
    }
    for item in items.list { item.cancel() }
  }
}
