import Glibc
import Synchronization

extension Workload {
  /// How long one operation of a queue waits while another queue processes `count` short ones.
  ///
  /// Milliseconds, the median of the measured times.
  ///
  /// The one operation is added repeatedly until the busy queue is empty.
  static let holdUp = Workload(name: "hold-up") { rival, count in
    guard let rival = rival as? any QueueRival, !(rival is ThreadPoolRival) else { return nil }
    let (busy, other) = (rival.makeQueue(), rival.makeQueue())
    let counter = Counter()
    busy.suspend()
    for _ in 0..<count { busy.add { counter.increment() } }
    busy.resume()
    var waits: [Double] = []
    let started = Mutex(ContinuousClock.now)
    repeat {
      usleep(1000)
      let added = ContinuousClock.now
      other.add {
        let now = ContinuousClock.now
        started.withLock { $0 = now }
      }
      other.waitUntilEmpty()
      waits.append((started.withLock { $0 } - added) / .milliseconds(1))
    } while counter.value < count && waits.count < 10_000
    busy.waitUntilEmpty()
    counter.require(count)
    return Report(samples: [waits.median], figures: ["longest": waits.max() ?? 0, "times": Double(waits.count)])
  }
}
