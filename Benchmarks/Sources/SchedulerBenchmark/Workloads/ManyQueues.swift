extension Workload {
  /// A thousand queues.
  ///
  /// A thousandth of the operations is added to each queue in turn. The result is in nanoseconds per operation.
  static let manyQueues = Workload(name: "many-queues") { rival, count in
    // A thousand thread pools would be a thousand threads per processor, which no program intends.
    guard let rival = rival as? any QueueRival, !(rival is ThreadPoolRival) else { return nil }
    let counter = Counter()
    let queueCount = 1000
    let seconds = Stopwatch.seconds {
      let queues = (0..<queueCount).map { _ in rival.makeQueue() }
      for _ in 0..<count / queueCount {
        for queue in queues { queue.add { counter.increment() } }
      }
      for queue in queues { queue.waitUntilEmpty() }
    }
    counter.require(count / queueCount * queueCount)
    return Report(samples: [seconds / Double(count) * 1e9])
  }
}
