#if Observability
import Headway
import Metrics

/// The metrics of Headway's threads.
///
/// `@unchecked Sendable` for the same reason as ``QueueMetrics``.
struct ThreadMetrics: @unchecked Sendable {
  private let working: Meter
  private let blocked: Meter
  private let sleeping: Meter

  init(factory: any MetricsFactory) {
    func meter(_ status: String) -> Meter {
      Meter(label: "headway.threads", dimensions: [("status", status)], factory: factory)
    }
    (working, blocked, sleeping) = (meter("working"), meter("blocked"), meter("sleeping"))
  }

  func measure() {
    let threads = OperationQueue.snapshotAll(maxOperationCount: 0).threads
    working.set(threads.count { $0.state == .working || $0.state == .starting })
    blocked.set(threads.count { $0.state == .blocked })
    sleeping.set(threads.count { $0.state == .sleeping })
  }
}
#endif
