import Headway

/// The state of a queue that the rules use.
struct ModelQueue {
  /// Q5: the operations that have not finished, in insertion order.
  var operations: [Int] = []
  let order: QueueOrder
  var isSuspended = false
  var limit: Int
  /// Q10: nothing is tracked without a total.
  var total: Int64 = 0
  var completed: Int64 = 0
  /// The completion blocks to call, with their operations.
  var completionBlocks: [(operation: Int, label: Int)] = []
  var observation = Observation()
}

extension Model {
  /// The operation that the queue starts now, if any.
  func next(of queue: Int) -> Int? {
    let queue = queues[queue]
    // C5: cancelled operations leave unconditionally, unless they have cancellation code to run.
    let cancelled = queue.operations.filter { isWaiting($0) && operations[$0].isCancelled }
    if let first = cancelled.first(where: { operations[$0].kind != .posting }) { return first }
    // Q3, Q4.
    let running = queue.operations.count { operations[$0].phase == .executing }
    guard !queue.isSuspended, queue.limit == -1 || running < queue.limit else { return nil }
    if let first = cancelled.first { return first }
    // P2: the highest priority, and among equals the operation that was added first.
    let candidates = queue.operations.filter { isWaiting($0) && mayStart($0) && !isBehindOthers($0) }
    let highest = candidates.map { operations[$0].priority }.max()
    return candidates.first { operations[$0].priority == highest }
  }

  private func isWaiting(_ operation: Int) -> Bool { operations[operation].phase == .pending }

  /// Only the queue keeps it from starting.
  private func mayStart(_ operation: Int) -> Bool { isReady(operation) || operations[operation].isCancelled }

  /// Q8: a barrier waits for all operations before it, and others for the barriers before them; Q12: or for all before
  /// them.
  private func isBehindOthers(_ operation: Int) -> Bool {
    operations[operation].queue.map { queue in
      let before = queues[queue].operations.prefix { $0 != operation }
      return operations[operation].kind == .barrier || queues[queue].order == .fifo
        ? !before.isEmpty : before.contains { operations[$0].kind == .barrier }
    } ?? false
  }

  // MARK: Cycles

  /// D6: the operations that never run on their own.
  ///
  /// The operations that each wait for another of them: the remainder when all that need not wait forever are removed,
  /// again and again.
  var stuck: Set<Int> {
    var stuck = Set(operations.indices)
    while true {
      let left = stuck.filter { operation in obstacles(of: operation).contains(where: stuck.contains) }
      if left == stuck { return stuck }
      stuck = left
    }
  }

  /// The operations that must finish before the operation can start.
  func obstacles(of number: Int) -> [Int] {
    let operation = operations[number]
    guard operation.phase == .pending, !operation.isCancelled else { return [] }
    let dependencies = operation.dependencies.filter { operations[$0].phase != .finished }
    guard let queue = operation.queue.map({ queues[$0] }) else { return dependencies }
    // Cancelled operations delay nothing.
    let before = queue.operations.prefix { $0 != number }.filter {
      operations[$0].phase == .executing || !operations[$0].isCancelled
    }
    return dependencies
      + before.filter { queue.order == .fifo || operation.kind == .barrier || operations[$0].kind == .barrier }
  }
}
