import Synchronization

/// Which operations wait for which: dependencies, barriers, queues all of whose places are taken, groups that have not
/// started, and threads that block inside operations.
///
/// Nothing is kept: the graph is read from the operations when it is asked for, one lock at a time. What was read first
/// may be past when the last is read, so that no cycle may be there though each part of it was. Therefore what seems to
/// be stuck is read once more, and counts only if it still waits for the same and nothing that it waited for has been
/// withdrawn in between: then all of it was true at once, between the end of the first look and the beginning of the
/// second. A cycle is missed while what its operations wait for is being changed.
///
/// O(vertices and edges) in all.
struct WaitGraph {
  private struct Vertex {
    let operation: Operation
    /// All of these must finish first.
    var all: [Int] = []
    /// One of these must finish first, if there are any.
    var any: [Int] = []
    /// How much of what it waits for had been withdrawn before it was read.
    var withdrawals = 0
    /// Those that have this one among their obstacles, with whether it is one of which any will do.
    var waiting: [(vertex: Int, isAny: Bool)] = []
    var unfinishedObstacles = 0
    /// It can never run, as far as can be seen.
    var isStuck = true
  }

  private var vertices: [Vertex] = []
  private var numbers: [ObjectIdentifier: Int] = [:]

  /// The graph of all that some operations wait for, directly or through others.
  init(of operations: some Sequence<Operation>) {
    for operation in operations { _ = number(of: operation) }
    var position = 0
    while position < vertices.count {
      let operation = vertices[position].operation
      let withdrawals = operation.withdrawnWaits
      let obstacles = Self.obstacles(of: operation)
      vertices[position].withdrawals = withdrawals + obstacles.limitChanges
      vertices[position].all = obstacles.all.map { number(of: $0) }
      vertices[position].any = obstacles.any.map { number(of: $0) }
      position += 1
    }
    release()
    if vertices.contains(where: \.isStuck) {
      readAgain()
      release()
    }
  }

  /// Leaves of what those that are stuck wait for what they still wait for.
  private mutating func readAgain() {
    for position in vertices.indices where vertices[position].isStuck {
      let operation = vertices[position].operation
      let obstacles = Self.obstacles(of: operation)
      guard operation.withdrawnWaits + obstacles.limitChanges == vertices[position].withdrawals else {
        (vertices[position].all, vertices[position].any) = ([], [])
        continue
      }
      let all = Set(obstacles.all.map(ObjectIdentifier.init))
      let any = Set(obstacles.any.map(ObjectIdentifier.init))
      vertices[position].all = vertices[position].all.filter { all.contains(ObjectIdentifier(vertices[$0].operation)) }
      // Another place may have become free.
      if any != Set(vertices[position].any.map { ObjectIdentifier(vertices[$0].operation) }) {
        vertices[position].any = []
      }
    }
  }

  private mutating func number(of operation: Operation) -> Int {
    if let known = numbers[ObjectIdentifier(operation)] { return known }
    numbers[ObjectIdentifier(operation)] = vertices.count
    vertices.append(Vertex(operation: operation))
    return vertices.count - 1
  }

  /// Finds out which can go on: those that nothing keeps, and those that wait for such ones alone.
  private mutating func release() {
    for position in vertices.indices { vertices[position].waiting = [] }
    for position in vertices.indices where vertices[position].isStuck {
      let (all, any) = (vertices[position].all, vertices[position].any)
      for obstacle in all { vertices[obstacle].waiting.append((position, false)) }
      for obstacle in any { vertices[obstacle].waiting.append((position, true)) }
      vertices[position].unfinishedObstacles = all.count + (any.isEmpty ? 0 : 1)
    }
    var free = vertices.indices.filter { !vertices[$0].isStuck || vertices[$0].unfinishedObstacles == 0 }
    while let position = free.popLast() {
      vertices[position].isStuck = false
      for (waiting, isAny) in vertices[position].waiting where vertices[waiting].isStuck {
        // Of those of which any will do, the first one counts.
        if isAny {
          guard !vertices[waiting].any.isEmpty else { continue }
          vertices[waiting].any = []
        }
        vertices[waiting].unfinishedObstacles -= 1
        if vertices[waiting].unfinishedObstacles == 0 { free.append(waiting) }
      }
    }
  }

  /// Whether the operation can never run, since it waits for a cycle, directly or through others.
  func isStuck(_ operation: Operation) -> Bool {
    numbers[ObjectIdentifier(operation)].map { vertices[$0].isStuck } ?? false
  }

  /// A cycle for which an operation waits: each waits for the next, and the last for the first.
  func cycle(from operation: Operation) -> [Operation]? {
    guard let start = numbers[ObjectIdentifier(operation)], vertices[start].isStuck else { return nil }
    var path: [Int] = []
    var positions: [Int: Int] = [:]
    var current = start
    // One that is stuck waits for one that is stuck; so this comes back to where it has been.
    while positions[current] == nil {
      positions[current] = path.count
      path.append(current)
      guard let next = (vertices[current].all + vertices[current].any).first(where: { vertices[$0].isStuck }) else {
        return nil
      }
      current = next
    }
    return path[(positions[current] ?? 0)...].map { vertices[$0].operation }
  }

  /// The operations that must finish before this one can.
  private static func obstacles(of operation: Operation) -> AdmissionObstacles {
    let word = operation.state.current
    switch word.phase {
    case .finished:
      return AdmissionObstacles()
    case .starting, .executing:
      let parts = operation.queueOfParts?.operations ?? []
      return AdmissionObstacles(all: operation.waits.flatMap(\.operations) + parts)
    case .pending:
      // A cancelled one may wait for a place.
      let queue = word.isEnqueued || word.isCancelled ? operation.queue : nil
      var obstacles = queue?.obstacles(of: operation) ?? AdmissionObstacles()
      // A group that has not started holds its operations back. Once it has, it waits for them, and they for it no
      // more: read before and after that, the graph has a cycle, which is gone when it is read again.
      if !word.isCancelled || operation.hasCodeForCancelled, let group = queue?.operationOfParts,
        group.state.current.phase == .pending
      {
        obstacles.all.append(group)
      }
      guard !word.isCancelled else { return obstacles }
      if word.unfinishedDependencies > 0 { obstacles.all = operation.unfinishedDependencies + obstacles.all }
      return obstacles
    }
  }
}

extension Collection where Element == Operation {
  /// The names of operations each of which waits for the next.
  var waitingChain: String { map(\.label).joined(separator: " waits for ") }

  /// The same for a cycle: the last waits for the first.
  var waitingCycle: String { (Array(self) + Array(prefix(1))).waitingChain }
}

extension Operation {
  /// The dependencies for which this operation waits.
  final var unfinishedDependencies: [Operation] { dependencies.filter { $0.state.current.phase != .finished } }
}

extension OperationExtensions {
  /// A cycle of operations, each of which waits for the next and the last for the first, for which this operation
  /// waits; or nil if there is none.
  ///
  /// Operations of a cycle never run, until one of them is cancelled or one of the dependencies removed. Barriers
  /// count like dependencies, on what was added before them and of what was added after them.
  ///
  /// - Returns: The cycle, in the order of waiting.
  /// - Complexity: O(*n*) in the number of operations and dependencies that this one waits for.
  @_disfavoredOverload
  public func dependencyCycle() -> [Operation]? { WaitGraph(of: [self]).cycle(from: self) }
}
