extension Workload {
  /// Two queues, each with `count` operations of 20 µs, are resumed at the same time.
  ///
  /// The result is the fraction that the slower queue has done when the faster one has done all.
  ///
  /// The value 1 is fair.
  static let fairness = Workload(name: "fairness") { rival, count in
    guard let rival = rival as? any QueueRival, !(rival is ThreadPoolRival) else { return nil }
    let turns = Spinning.turns(microseconds: 20)
    let queues = [rival.makeQueue(), rival.makeQueue()]
    let counters = [Counter(), Counter()]
    let first = Semaphore()
    for (queue, counter) in zip(queues, counters) {
      queue.suspend()
      for position in 1...count {
        queue.add {
          Spinning.turn(turns)
          counter.increment()
          if position == count { first.signal() }
        }
      }
    }
    for queue in queues { queue.resume() }
    first.wait()
    let done = counters.map { Double($0.value) }
    for queue in queues { queue.waitUntilEmpty() }
    for counter in counters { counter.require(count) }
    return Report(samples: [(done.min() ?? 0) / (done.max() ?? 1)])
  }
}
