import Glibc
import Synchronization

extension Workload {
  /// The share of `count` operations that start within a millisecond of when they may start, in a queue that limits its
  /// rate to 10,000 starts per second.
  ///
  /// The figures are the longest and the median delay in microseconds, and the number of operations that started early.
  /// Operation *n* is early if it starts before *n* intervals have passed since the first was added. An operation may
  /// start an interval after the previous one could; or after the previous one has started, if that one was late by a
  /// millisecond or more.
  static let rateLimited = Workload(name: "rate-limited") { rival, count in
    guard let rival = rival as? any PolicyRival else { return nil }
    let rate = 10_000
    let interval = Duration.seconds(1) / rate
    let starts = StartTimes(count: count)
    let queue = rival.makeQueue(startsPerSecond: rate)
    usleep(10_000)
    let begin = ContinuousClock.now
    for _ in 0..<count { queue.add { starts.note() } }
    queue.waitUntilEmpty()
    var (due, lateness, earlyCount) = (begin, [Double](), 0)
    for (number, start) in starts.sorted.enumerated() {
      if start < begin + interval * number { earlyCount += 1 }
      lateness.append((start - due) / .microseconds(1))
      due = (start - due < .milliseconds(1) ? due : start) + interval
    }
    let share = Double(lateness.count { $0 <= 1000 }) / Double(count)
    return Report(
      samples: [share],
      figures: ["latest": lateness.max() ?? 0, "median": lateness.median, "early": Double(earlyCount)])
  }

  /// The start times of the operations, stored without a lock.
  private final class StartTimes: @unchecked Sendable {  // Each operation writes its own element.
    private let times: UnsafeMutableBufferPointer<ContinuousClock.Instant>
    private let count = Atomic(0)

    init(count: Int) {
      times = .allocate(capacity: count)
      times.initialize(repeating: .now)
    }

    deinit { times.deallocate() }

    func note() {
      let now = ContinuousClock.now
      times[count.wrappingAdd(1, ordering: .relaxed).oldValue] = now
    }

    /// The times in order, after all operations have finished.
    var sorted: [ContinuousClock.Instant] {
      precondition(count.load(ordering: .acquiring) == times.count, "Not every operation has run.")
      return times.sorted()
    }
  }
}
