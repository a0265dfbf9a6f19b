/// Queues that are found by patterns while a worker runs.
extension Claimer {
  /// How long a queue that was found by a pattern is served while it has no jobs.
  static let maxIdleTime = Duration.seconds(60)

  /// Whether jobs of a queue are claimed.
  ///
  /// Stores in databases compare names by their bytes, so names that are equal in Swift can belong to two queues.
  func isServing(_ queue: String) -> Bool {
    indices[queue]?.contains { lanes[$0].queue.utf8.elementsEqual(queue.utf8) } ?? false
  }

  /// Adds a queue that was found by a pattern.
  ///
  /// - Parameters:
  ///   - queue: The name of the queue.
  ///   - group: The index of its slots: the slots of other queues, unused slots, or the next index.
  ///   - time: The time of the worker's clock.
  mutating func serve(_ queue: String, group: Int, at time: Duration) {
    guard !isServing(queue) else { return }
    if groups.indices.contains(group), groups[group].laneCount == 0 { groups[group] = Group() }
    add(queue, group, isTemporary: true, time)
  }

  /// Removes the queues that were found by a pattern and had no jobs for ``maxIdleTime``.
  ///
  /// No request may be in progress.
  ///
  /// - Returns: The indices of slots that are no longer used.
  mutating func removeIdleLanes(at time: Duration) -> [Int] {
    var unused: [Int] = []
    for (queue, places) in indices where places.allSatisfy({ lanes[$0].isIdle(at: time) }) {
      indices[queue] = nil
      for index in places {
        lanes[index].isServed = false
        groups[lanes[index].group].laneCount -= 1
        if groups[lanes[index].group].laneCount == 0 { unused.append(lanes[index].group) }
      }
    }
    // If the places of many former queues remained, they would cost time in each exchange.
    while lanes.last?.isServed == false { lanes.removeLast() }
    return unused
  }

  /// Removes the slots after the last slots that are used.
  ///
  /// - Returns: The number of remaining slots.
  mutating func removeUnusedGroups() -> Int {
    while groups.last?.laneCount == 0 { groups.removeLast() }
    return groups.count
  }
}
