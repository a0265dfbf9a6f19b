import Synchronization

/// A pool as you would write it without a library: one thread per processor, a mutex, a condition and a list.
struct ThreadPoolRival: IndependentRival, OperationKindRival, GraphRival, FanRival, QueueRival {
  let name = "pool"

  func run(count: Int, body: @escaping Body) {
    let pool = ThreadPool()
    for _ in 0..<count { pool.add(body) }
    pool.waitUntilEmpty()
  }

  /// A node counts down its dependencies and is added to the pool at zero.
  func run(_ graph: DependencyGraph, body: (Int) -> Body) {
    let pool = ThreadPool()
    var nodes: [Node] = []
    nodes.reserveCapacity(graph.nodeCount)
    for position in 0..<graph.nodeCount {
      let dependencies = graph.dependencies(of: position)
      let node = Node(body(position), dependencies: dependencies.count)
      for dependency in dependencies { nodes[Int(dependency)].dependents.append(node) }
      nodes.append(node)
    }
    let done = Semaphore()
    let rest = Rest(nodes.count, done)
    for (position, node) in nodes.enumerated() where graph.dependencies(of: position).isEmpty {
      pool.add { node.run(on: pool, rest) }
    }
    done.wait()
    // A long chain of nodes that own each other would overflow the stack when it is freed.
    for node in nodes { node.dependents = [] }
  }

  private final class Rest: Sendable {
    private let count: Atomic<Int>
    private let done: Semaphore

    init(_ count: Int, _ done: Semaphore) {
      self.count = Atomic(count)
      self.done = done
    }

    func countDown() {
      if count.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { done.signal() }
    }
  }

  /// Its list is complete before any node runs and does not change until all have run.
  private final class Node: @unchecked Sendable {
    private let body: Body
    private let dependencies: Atomic<Int>
    var dependents: [Node] = []

    init(_ body: @escaping Body, dependencies: Int) {
      self.body = body
      self.dependencies = Atomic(dependencies)
    }

    func run(on pool: ThreadPool, _ rest: Rest) {
      body()
      for dependent in dependents
      where dependent.dependencies.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 {
        pool.add { dependent.run(on: pool, rest) }
      }
      rest.countDown()
    }
  }

  func makeQueue(width: QueueWidth, urgency: Urgency) -> any WorkQueue {
    ThreadPool(threads: width == .many ? Processors.count : 1)
  }
}
