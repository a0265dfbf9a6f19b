extension Workload {
  /// Two queues, each with that many operations of 20 µs, are let go at once: how many the slower one has done when the
  /// faster one has done all, as a part of one.
  ///
  /// 1 is fair.
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
