extension Workload {
  /// Items pass through three queues: a producer with one item at a time, a middle stage with many, and a consumer with
  /// one at a time.
  ///
  /// Nanoseconds per item.
  static let pipeline = Workload(name: "pipeline") { rival, count in
    guard let rival = rival as? any QueueRival else { return nil }
    func run(_ count: Int) {
      let producer = rival.makeQueue(width: .one, urgency: .usual)
      let middle = rival.makeQueue(width: .many, urgency: .usual)
      let consumer = rival.makeQueue(width: .one, urgency: .usual)
      let counter = Counter()
      for _ in 0..<count {
        producer.add {
          middle.add {
            consumer.add { counter.increment() }
          }
        }
      }
      producer.waitUntilEmpty()
      middle.waitUntilEmpty()
      consumer.waitUntilEmpty()
      counter.require(count)
    }
    run(1000)
    return Report(samples: Stopwatch.nanosecondsEach(count: count) { run(count) })
  }
}
