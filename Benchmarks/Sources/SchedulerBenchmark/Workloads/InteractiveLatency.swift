import Glibc
import Synchronization

extension Workload {
  /// The time from adding a user-interactive operation until it starts, while background operations occupy all
  /// processors, divided by the same time on an idle machine.
  ///
  /// The result is the ratio of the medians.
  ///
  /// The figures are in microseconds.
  static let interactiveLatency = Workload(name: "interactive-latency") { rival, count in
    guard let rival = rival as? any QueueRival, !(rival is ThreadPoolRival) else { return nil }
    let interactive = rival.makeQueue(width: .many, urgency: .interactive)
    let idle = latencies(of: interactive, count: count)
    let stop = Flag()
    let background = rival.makeQueue(width: .many, urgency: .background)
    for _ in 0..<Processors.count * 2 {
      background.add { while !stop.isSet { Spinning.turn(1000) } }
    }
    usleep(200_000)
    let burning = latencies(of: interactive, count: count)
    stop.set()
    background.waitUntilEmpty()
    let figures = [
      "idle": idle.median, "idle95": idle.quantile(0.95),
      "burning": burning.median, "burning95": burning.quantile(0.95),
    ]
    return Report(samples: [burning.median / idle.median], figures: figures)
  }

  /// Returns the microseconds from adding an operation until it starts, with two milliseconds of rest in between.
  private static func latencies(of queue: any WorkQueue, count: Int) -> [Double] {
    let started = Mutex(ContinuousClock.now)
    let done = Semaphore()
    return (0..<count).map { _ in
      usleep(2000)
      let added = ContinuousClock.now
      queue.add {
        let now = ContinuousClock.now
        started.withLock { $0 = now }
        done.signal()
      }
      done.wait()
      return (started.withLock { $0 } - added) / .microseconds(1)
    }
  }

  private final class Flag: Sendable {
    private let value = Atomic(false)
    var isSet: Bool { value.load(ordering: .relaxed) }
    func set() { value.store(true, ordering: .relaxed) }
  }
}
