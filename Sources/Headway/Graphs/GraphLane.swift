import Synchronization

/// What one thread of a run has to itself; other threads look at it when they are out of work.
struct GraphLane: ~Copyable {
  /// Nodes that could begin, and that this thread or another takes.
  let stack = GraphStack()

  /// A thread has the lane.
  ///
  /// A thread takes a free lane by an exchange. There are as many as threads may take part, so there is one.
  let isTaken = Atomic(false)

  /// How many nodes the threads that had the lane have executed.
  ///
  /// Only the thread that has the lane writes it. Relaxed: the end of the run orders it; before that it is for
  /// progress alone.
  let executedCount = Atomic(0)

  /// So that lanes of different threads are in different cache lines, and in different pairs of them, which processors
  /// fetch together.
  private let padding: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0, 0)
  private let morePadding: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0)

  /// For the next run.
  func reset() {
    stack.reset(to: GraphLayout.none)
    executedCount.store(0, ordering: .relaxed)
  }
}

/// The lanes of a run.
struct GraphLanes: @unchecked Sendable {  // Atomic; the run that owns the memory holds it for all who use it.
  private let lanes: UnsafeMutablePointer<GraphLane>
  let count: Int

  init(count: Int) {
    lanes = .allocate(capacity: count)
    for position in 0..<count { (lanes + position).initialize(to: GraphLane()) }
    self.count = count
  }

  func deallocate() { lanes.deallocate() }

  @inline(__always)
  subscript(position: Int) -> GraphLane {
    @inline(__always) unsafeAddress { UnsafePointer(lanes + position) }
  }

  /// Takes a free lane.
  ///
  /// - Parameter limit: Of so many, since of a run before, with a higher limit, there may be more.
  /// - Returns: Its position.
  func take(of limit: Int) -> Int {
    while true {
      for position in 0..<limit {
        // With the release of the lane by the thread before: its count is seen.
        if !self[position].isTaken.exchange(true, ordering: .acquiring) { return position }
      }
    }
  }

  /// Whether a thread has nodes for others.
  @inline(__always)
  var hasNodes: Bool {
    for position in 0..<count where !self[position].stack.isEmpty { return true }
    return false
  }

  /// How many nodes have been executed.
  var executedCount: Int {
    var sum = 0
    for position in 0..<count { sum += self[position].executedCount.load(ordering: .relaxed) }
    return sum
  }
}
