import Glibc

extension Workload {
  /// Processor time of the whole process per operation while one operation arrives every 150 µs, in microseconds, minus
  /// the cost of sleeping for that long.
  ///
  /// The interval is long enough that a thread has nothing to do in between, and short enough that the thread might
  /// spin for the next operation. The time that it spins is included. The cost of sleeping alone is measured before and
  /// after.
  static let arrivals = Workload(name: "arrivals") { rival, count in
    guard let rival = rival as? any QueueRival else { return nil }
    let queue = rival.makeQueue()
    let counter = Counter()
    let body: Body = { counter.increment() }
    paced(200) { queue.add(body) }
    let before = paced(count / 2) {}
    let busy = paced(count) {
      queue.add(body)
    }
    queue.waitUntilEmpty()
    let after = paced(count / 2) {}
    counter.require(200 + count)
    return Report(samples: [busy - (before + after) / 2], figures: ["withSleeping": busy])
  }

  /// Calls `work` every 150 µs on average and returns the microseconds of processor time per turn.
  @discardableResult private static func paced(_ turns: Int, _ work: () -> Void) -> Double {
    let interval = 150_000
    let start = now(CLOCK_PROCESS_CPUTIME_ID)
    var next = now(CLOCK_MONOTONIC)
    for _ in 0..<turns {
      next += interval
      var time = timespec(tv_sec: next / 1_000_000_000, tv_nsec: next % 1_000_000_000)
      clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil)
      work()
    }
    return Double(now(CLOCK_PROCESS_CPUTIME_ID) - start) / Double(turns) / 1000
  }

  private static func now(_ clock: clockid_t) -> Int {
    var time = timespec()
    clock_gettime(clock, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
  }
}
