import Synchronization

/// Who waits for whom: dependencies, barriers, queues that run one at a time, and threads that block inside operations.
///
/// Nothing is kept: the graph is read from the operations when somebody asks, one lock at a time, so what it says
/// can be past when it is said. A circle does not pass by itself, though, so one that is found is there.
struct WaitGraph {
  private enum Colour {
    case onPath(position: Int)
    case done(isStuck: Bool)
  }

  private struct Step {
    let operation: Operation
    let obstacles: [Operation]
    var next = 0
    var isStuck = false
  }

  private var colours: [Operation: Colour] = [:]

  /// The first circle that was found: each waits for the next, and the last for the first.
  private(set) var cycle: [Operation]?

  /// The operations that must finish before this one can: all of them.
  static func obstacles(of operation: Operation) -> [Operation] {
    let word = operation.state.current
    switch word.phase {
    case .finished:
      return []
    case .starting, .executing:
      return operation.links.withLock { $0.details?.waitsFor }.map { [$0] } ?? []
    case .pending:
      guard !word.isCancelled else { return [] }
      let queue = operation.queue
      let unfinished = word.unfinishedDependencies > 0 ? operation.unfinishedDependencies : []
      return unfinished + (word.isEnqueued ? queue?.obstacles(of: operation) ?? [] : [])
    }
  }

  /// Whether the operation can never run, since it waits for a circle, directly or through others.
  ///
  /// O(vertices and edges that were not looked at before).
  mutating func isStuck(_ start: Operation) -> Bool {
    if case .done(let isStuck)? = colours[start] { return isStuck }
    var path: [Step] = []
    func enter(_ operation: Operation, _ colours: inout [Operation: Colour]) {
      colours[operation] = .onPath(position: path.count)
      path.append(Step(operation: operation, obstacles: Self.obstacles(of: operation)))
    }
    enter(start, &colours)
    while let step = path.last {
      let top = path.count - 1
      guard step.next < step.obstacles.count else {
        colours[step.operation] = .done(isStuck: step.isStuck)
        path.removeLast()
        if path.isEmpty { return step.isStuck }
        path[top - 1].isStuck = path[top - 1].isStuck || step.isStuck
        continue
      }
      path[top].next += 1
      let obstacle = step.obstacles[step.next]
      switch colours[obstacle] {
      case nil:
        enter(obstacle, &colours)
      case .onPath(let position):
        path[top].isStuck = true
        if cycle == nil { cycle = path[position...].map(\.operation) }
      case .done(let isStuck):
        path[top].isStuck = path[top].isStuck || isStuck
      }
    }
    return false
  }

  /// The way from `start` to an operation for which `isGoal` holds, each waiting for the next; or nil.
  static func path(from start: Operation, to isGoal: (Operation) -> Bool) -> [Operation]? {
    var seen: Set<Operation> = [start]
    var path = [Step(operation: start, obstacles: obstacles(of: start))]
    if isGoal(start) { return [start] }
    while let step = path.last {
      guard step.next < step.obstacles.count else {
        path.removeLast()
        continue
      }
      path[path.count - 1].next += 1
      let obstacle = step.obstacles[step.next]
      if isGoal(obstacle) { return path.map(\.operation) + [obstacle] }
      if seen.insert(obstacle).inserted {
        path.append(Step(operation: obstacle, obstacles: obstacles(of: obstacle)))
      }
    }
    return nil
  }
}

extension Collection where Element == Operation {
  /// The names of operations each of which waits for the next.
  var waitingChain: String { map(\.label).joined(separator: " waits for ") }
}

extension Operation {
  /// The dependencies for which this operation waits.
  final var unfinishedDependencies: [Operation] { dependencies.filter { $0.state.current.phase != .finished } }
}

extension OperationExtensions {
  /// A circle of operations, each of which waits for the next and the last for the first, for which this operation
  /// waits; or nil if there is none.
  ///
  /// Operations of a circle never run, until one of them is cancelled or one of the dependencies removed. Barriers
  /// count like dependencies, on what was added before them and of what was added after them.
  ///
  /// - Returns: The circle, in the order of waiting.
  /// - Complexity: O(*n*) in the number of operations and dependencies that this one waits for.
  public func dependencyCycle() -> [Operation]? {
    var graph = WaitGraph()
    return graph.isStuck(self) ? graph.cycle : nil
  }
}
