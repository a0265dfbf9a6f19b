import Synchronization

/// The part of a run that one thread has to itself.
///
/// Other threads read it when they have no nodes.
struct GraphLane: ~Copyable {
  /// Nodes that can begin.
  ///
  /// This thread or another thread takes the nodes.
  let stack = GraphStack()

  /// Whether a thread has the lane.
  ///
  /// A thread takes a free lane by an exchange. There are as many lanes as threads that can participate, so one is
  /// free.
  let isTaken = Atomic(false)

  /// How many nodes the threads that had this lane have executed.
  ///
  /// Only the thread that has the lane writes it. Relaxed: the end of the run orders it. Before that, it is used only
  /// for progress.
  let executedCount = Atomic(0)

  /// Puts the lanes of different threads in different cache lines, and in different pairs of lines, because processors
  /// fetch a pair together.
  private let padding: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0, 0)
  private let morePadding: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0)

  /// Prepares the lane for the next run.
  func reset() {
    stack.reset(to: GraphLayout.none)
    executedCount.store(0, ordering: .relaxed)
  }
}

/// The lanes of a run.
struct GraphLanes: @unchecked Sendable {  // Atomic. The run owns the memory, and all threads that use it hold the run.
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
  /// - Parameter limit: The number of lanes to choose from. There can be more, from an earlier run with a higher limit.
  /// - Returns: The position of the lane.
  func take(of limit: Int) -> Int {
    while true {
      for position in 0..<limit {
        // Acquires the release of the lane by the previous thread, so this thread sees its count.
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
