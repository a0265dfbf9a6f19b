extension Workload {
  /// One queue in a steady state, for `count` operations or as many as the time limit allows.
  ///
  /// Operations are added in batches of 10,000. The next batch is added while the last one runs. One sample per second,
  /// or per hundredth of the limit: operations added so far, resident bytes, allocated bytes.
  static let soak = Workload(name: "soak") { rival, count in
    guard let rival = rival as? any QueueRival else { return nil }
    let queue = rival.makeQueue()
    let counter = Counter()
    let lot = min(count, 10_000)
    let start = ContinuousClock.now
    let done = Semaphore()
    var (added, inFlight) = (0, 0)
    var series: [[Double]] = []
    var next = 0.0
    while added < count {
      for position in 1...lot {
        if position == lot {
          queue.add {
            counter.increment()
            done.signal()
          }
        } else {
          queue.add { counter.increment() }
        }
      }
      added += lot
      inFlight += 1
      if inFlight == 2 {
        done.wait()
        inFlight -= 1
      }
      let seconds = Stopwatch.seconds(since: start)
      if seconds >= next {
        series.append([seconds, Double(added), Double(Memory.residentBytes), Double(Memory.allocatedBytes)])
        next = seconds + min(1, TimeLimit.seconds / 100)
      }
      if seconds >= TimeLimit.seconds { break }
    }
    queue.waitUntilEmpty()
    counter.require(added)
    let seconds = Stopwatch.seconds(since: start)
    return Report(samples: [seconds / Double(added) * 1e9], figures: ["operations": Double(added)], series: series)
  }
}
