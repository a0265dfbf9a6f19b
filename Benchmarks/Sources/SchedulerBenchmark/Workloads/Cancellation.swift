extension Workload {
  /// Cancels all operations that wait in a suspended queue, then waits until the queue is empty.
  ///
  /// In nanoseconds per operation.
  ///
  /// The time to fill the queue is not included.
  static let cancellation = Workload(name: "cancellation") { rival, count in
    guard let rival = rival as? any CancellingRival else { return nil }
    let queue = rival.makeCancellableQueue()
    let counter = Counter()
    queue.suspend()
    for _ in 0..<count { queue.add { counter.increment() } }
    let seconds = Stopwatch.seconds {
      queue.cancelAll()
      queue.resume()
      queue.waitUntilEmpty()
    }
    counter.require(0)
    return Report(samples: [seconds / Double(count) * 1e9])
  }
}
