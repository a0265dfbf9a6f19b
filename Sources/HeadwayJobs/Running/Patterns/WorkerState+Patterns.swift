import Headway

extension WorkerState {
  /// Replaces a queue that is no longer used.
  private static let noQueue = OperationQueue()

  /// Notes queues that match a pattern.
  ///
  /// - Returns: Whether any of them is new.
  mutating func noteQueues(_ names: [String]) -> Bool {
    guard !isStopping else { return false }
    let count = newQueues.count
    for name in names where !claimer.isServing(name) { newQueues.insert(name) }
    return newQueues.count > count
  }

  /// Returns the queues that were noted since the last call and are not served yet.
  mutating func takeNewQueues() -> Set<String> {
    defer { newQueues = [] }
    // A queue is noted again if a hint arrives while the operation queue for it is created.
    return isStopping ? [] : newQueues.filter { !claimer.isServing($0) }
  }

  /// Begins to serve a queue that matches a pattern.
  ///
  /// - Returns: Whether the operation queue runs no jobs of other queues of this worker.
  mutating func serve(_ queue: String, on operationQueue: OperationQueue, at time: Duration) -> Bool {
    let used = operationQueues.firstIndex { $0 === operationQueue }
    let group = used ?? claimer.groups.firstIndex { $0.laneCount == 0 } ?? operationQueues.count
    if group == operationQueues.count {
      operationQueues.append(operationQueue)
    } else {
      operationQueues[group] = operationQueue
    }
    claimer.serve(queue, group: group, at: time)
    return used == nil
  }

  /// Stops serving queues that match a pattern and have had no jobs for a while.
  ///
  /// A drain serves all of its queues until it ends.
  ///
  /// - Returns: The operation queues that are no longer used.
  mutating func removeIdleQueues(at time: Duration) -> [OperationQueue] {
    guard !isDraining else { return [] }
    let unused = claimer.removeIdleLanes(at: time).map { group in
      defer { operationQueues[group] = Self.noQueue }
      return operationQueues[group]
    }
    if !unused.isEmpty { operationQueues.removeSubrange(claimer.removeUnusedGroups()...) }
    return unused
  }

  /// The operation queue that runs the jobs of a queue of the store.
  func operationQueue(ofLane lane: Int) -> OperationQueue { operationQueues[claimer.lanes[lane].group] }
}
