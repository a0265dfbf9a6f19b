import Glibc

extension Workload {
  /// One operation on an idle queue: adding it, running it, and waking the thread that waits.
  ///
  /// Nanoseconds, one operation after another.
  static let oneOperation = Workload(name: "one-operation") { rival, count in
    one(rival, count, restMicroseconds: 0)
  }

  /// The same after a millisecond of rest, so that all threads sleep.
  static let oneAfterRest = Workload(name: "one-after-rest") { rival, count in
    one(rival, count, restMicroseconds: 1000)
  }

  private static func one(_ rival: any Rival, _ count: Int, restMicroseconds: UInt32) -> Report? {
    guard let rival = rival as? any QueueRival else { return nil }
    let queue = rival.makeQueue()
    let counter = Counter()
    let body: Body = { counter.increment() }
    let warmUp = min(200, count)
    let times = (0..<warmUp + count).map { _ in
      if restMicroseconds > 0 { usleep(restMicroseconds) }
      return Stopwatch.seconds {
        queue.add(body)
        queue.waitUntilEmpty()
      } * 1e9
    }.dropFirst(warmUp)
    counter.require(warmUp + count)
    let figures = ["p95": times.quantile(0.95), "p99": times.quantile(0.99)]
    return Report(samples: [times.median], figures: figures)
  }
}
