import Glibc

extension Workload {
  /// The same queue for as many operations as asked for, or as many as `HEADWAY_SOAK_SECONDS` allow: lots of 10,000 with
  /// the next lot added while the last one runs. A sample a second: operations done, resident bytes, allocated bytes.
  static let soak = Workload(name: "soak") { rival, count in
    guard let rival = rival as? any QueueRival else { return nil }
    let limit = getenv("HEADWAY_SOAK_SECONDS").flatMap { Double(String(cString: $0)) } ?? 60
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
        next = seconds + min(1, limit / 100)
      }
      if seconds >= limit { break }
    }
    queue.waitUntilEmpty()
    counter.require(added)
    let seconds = Stopwatch.seconds(since: start)
    return Report(samples: [seconds / Double(added) * 1e9], figures: ["operations": Double(added)], series: series)
  }
}
