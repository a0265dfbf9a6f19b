extension Workload {
  /// A queue that runs one operation at a time, from adding the first until the last has finished.
  ///
  /// In nanoseconds per operation.
  static let oneAtATime = oneAfterAnother(name: "one-at-a-time", .one)

  /// The same, strictly in insertion order.
  static let inOrder = oneAfterAnother(name: "in-order", .oneInOrder)

  private static func oneAfterAnother(name: String, _ width: QueueWidth) -> Workload {
    Workload(name: name) { rival, count in
      guard let rival = rival as? any QueueRival else { return nil }
      func run(_ count: Int) {
        let queue = rival.makeQueue(width: width, urgency: .usual)
        let counter = Counter()
        for _ in 0..<count { queue.add { counter.increment() } }
        queue.waitUntilEmpty()
        counter.require(count)
      }
      run(max(1000, count / 10))
      return Report(samples: Stopwatch.nanosecondsEach(count: count) { run(count) })
    }
  }
}
