extension Workload {
  /// Fills a suspended queue, resumes it and waits until it is empty.
  ///
  /// In nanoseconds per operation.
  ///
  /// The cost of one operation should not depend on how many wait.
  static let growth = Workload(name: "growth") { rival, count in
    guard let rival = rival as? any QueueRival else { return nil }
    func run(_ count: Int) {
      let queue = rival.makeQueue()
      let counter = Counter()
      queue.suspend()
      for _ in 0..<count { queue.add { counter.increment() } }
      queue.resume()
      queue.waitUntilEmpty()
      counter.require(count)
    }
    run(10_000)
    return Report(samples: Stopwatch.nanosecondsEach(count: count) { run(count) })
  }
}
