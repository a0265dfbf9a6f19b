import Synchronization

/// The graph of operations that wait for others.
///
/// It covers dependencies, barriers, resources, queues, and keys at their limits, and groups that have not started. It
/// also covers threads and tasks that wait inside operations. The graph is not stored: it is read from the operations
/// on each request, one lock at a time. The first part may be out of date when the last part is read. Therefore, a
/// cycle that is found might not exist, even though each part of it existed at some time.
///
/// Therefore, operations that seem to be stuck are read once more. They count only if they still wait for the same
/// operations, and if none of their waits has been withdrawn in between. Then all parts were true together, between the
/// end of the first pass and the beginning of the second. A cycle is missed while the waits of its operations change.
///
/// O(vertices and edges) in all.
///
/// See `Docs/decisions/0010-finding-what-never-runs.md`.
struct WaitGraph {
  private struct Vertex {
    let operation: Operation
    /// All of these operations must finish first.
    var all: [Int] = []
    /// In each of these sets, one operation must finish first.
    ///
    /// A set is empty once one of its operations can finish.
    var any: [[Int]] = []
    /// The number of the operation's waits that had been withdrawn before the operation was read.
    var withdrawals = 0
    /// The vertices that have this vertex among their obstacles, and the index of the set in their `any` that contains
    /// it.
    var waiting: [(vertex: Int, set: Int?)] = []
    var unfinishedObstacles = 0
    /// Whether the operation can never run, as far as can be determined.
    var isStuck = true
  }

  private var vertices: [Vertex] = []
  private var numbers: [ObjectIdentifier: Int] = [:]

  /// Creates the graph of all operations that the given ones wait for, directly or through others.
  init(of operations: some Sequence<Operation>) {
    for operation in operations { _ = number(of: operation) }
    var position = 0
    while position < vertices.count {
      let operation = vertices[position].operation
      let withdrawals = operation.withdrawnWaits
      let obstacles = Self.obstacles(of: operation)
      vertices[position].withdrawals = withdrawals + obstacles.changes
      vertices[position].all = obstacles.all.map { number(of: $0) }
      vertices[position].any = obstacles.any.filter { !$0.isEmpty }.map { $0.map { number(of: $0) } }
      position += 1
    }
    release()
    if vertices.contains(where: \.isStuck) {
      readAgain()
      release()
    }
  }

  /// Reads the obstacles of stuck operations again and removes the obstacles that they no longer wait for.
  private mutating func readAgain() {
    for position in vertices.indices where vertices[position].isStuck {
      let operation = vertices[position].operation
      let obstacles = Self.obstacles(of: operation)
      guard operation.withdrawnWaits + obstacles.changes == vertices[position].withdrawals else {
        (vertices[position].all, vertices[position].any) = ([], [])
        continue
      }
      let all = Set(obstacles.all.map(ObjectIdentifier.init))
      let any = Set(obstacles.any.map { Set($0.map(ObjectIdentifier.init)) })
      vertices[position].all = vertices[position].all.filter { all.contains(ObjectIdentifier(vertices[$0].operation)) }
      // Another concurrency slot may have become free.
      vertices[position].any = vertices[position].any.filter { set in
        any.contains(Set(set.map { ObjectIdentifier(vertices[$0].operation) }))
      }
    }
  }

  private mutating func number(of operation: Operation) -> Int {
    if let known = numbers[ObjectIdentifier(operation)] { return known }
    numbers[ObjectIdentifier(operation)] = vertices.count
    vertices.append(Vertex(operation: operation))
    return vertices.count - 1
  }

  /// Determines which operations can continue: operations without obstacles, and operations that wait only for these.
  private mutating func release() {
    for position in vertices.indices { vertices[position].waiting = [] }
    for position in vertices.indices where vertices[position].isStuck {
      let (all, any) = (vertices[position].all, vertices[position].any)
      for obstacle in all { vertices[obstacle].waiting.append((position, nil)) }
      for (set, obstacles) in any.enumerated() {
        for obstacle in obstacles { vertices[obstacle].waiting.append((position, set)) }
      }
      vertices[position].unfinishedObstacles = all.count + any.count { !$0.isEmpty }
    }
    var free = vertices.indices.filter { !vertices[$0].isStuck || vertices[$0].unfinishedObstacles == 0 }
    while let position = free.popLast() {
      vertices[position].isStuck = false
      for (waiting, set) in vertices[position].waiting where vertices[waiting].isStuck {
        // Only the first operation of a set that becomes free counts.
        if let set {
          guard !vertices[waiting].any[set].isEmpty else { continue }
          vertices[waiting].any[set] = []
        }
        vertices[waiting].unfinishedObstacles -= 1
        if vertices[waiting].unfinishedObstacles == 0 { free.append(waiting) }
      }
    }
  }

  /// Returns whether the operation can never run, because it waits for a cycle, directly or through others.
  func isStuck(_ operation: Operation) -> Bool {
    numbers[ObjectIdentifier(operation)].map { vertices[$0].isStuck } ?? false
  }

  /// Returns a cycle that an operation waits for.
  ///
  /// Each operation in it waits for the next, and the last for the first.
  func cycle(from operation: Operation) -> [Operation]? {
    guard let start = numbers[ObjectIdentifier(operation)], vertices[start].isStuck else { return nil }
    var path: [Int] = []
    var positions: [Int: Int] = [:]
    var current = start
    // Each stuck operation waits for another stuck one, so this walk must return to an operation that it has visited.
    while positions[current] == nil {
      positions[current] = path.count
      path.append(current)
      let obstacles = vertices[current].all + vertices[current].any.joined()
      guard let next = obstacles.first(where: { vertices[$0].isStuck }) else {
        return nil
      }
      current = next
    }
    return path[(positions[current] ?? 0)...].map { vertices[$0].operation }
  }

  /// Returns the operations that must finish before this one can.
  private static func obstacles(of operation: Operation) -> AdmissionObstacles {
    let word = operation.state.current
    switch word.phase {
    case .finished:
      return AdmissionObstacles()
    case .starting, .executing:
      // An operation that pauses between two attempts waits as if it had not begun.
      let queue = operation.hasPause ? operation.queue : nil
      var obstacles = queue?.obstacles(of: operation) ?? AdmissionObstacles()
      for wait in operation.waits { wait.add(to: &obstacles) }
      obstacles.all += operation.queueOfParts?.operations ?? []
      return obstacles
    case .pending:
      // A cancelled operation may wait for a concurrency slot.
      let queue = word.isEnqueued || word.isCancelled ? operation.queue : nil
      var obstacles = queue?.obstacles(of: operation) ?? AdmissionObstacles()
      // A group that has not started holds its operations back. After the group has started, it waits for its
      // operations, and they no longer wait for the group. If its state is read before the start and again after it,
      // the graph contains a cycle that is gone when the graph is read again.
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
  /// The operations in a chain of waits, by name.
  var waitingChain: String { map(\.label).joined(separator: " waits for ") }

  /// The operations in a cycle of waits, by name: the last one waits for the first.
  var waitingCycle: String { (Array(self) + Array(prefix(1))).waitingChain }
}

extension Operation {
  /// The dependencies that this operation waits for.
  final var unfinishedDependencies: [Operation] { dependencies.filter { $0.state.current.phase != .finished } }
}

extension OperationProtocol {
  /// Returns a cycle of operations that this operation waits for, or nil if there is none.
  ///
  /// Each operation in the cycle waits for the next, and the last for the first. Operations of a cycle never run, until
  /// one of them is cancelled or one of the dependencies is removed. Barriers count like dependencies: a barrier
  /// depends on the operations added before it, and the operations added after it depend on the barrier.
  ///
  /// - Returns: The operations of the cycle. Each one waits for the next.
  /// - Complexity: O(*n*) in the number of operations and dependencies that this one waits for.
  @_disfavoredOverload
  public func firstDependencyCycle() -> [Operation]? { WaitGraph(of: [self]).cycle(from: self) }
}
