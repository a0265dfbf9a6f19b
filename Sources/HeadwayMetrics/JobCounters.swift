#if Observability && Jobs
import HeadwayJobs
import Metrics

/// The metrics of the jobs of this process, which are counted from events.
struct JobCounters {
  private let factory: any MetricsFactory
  private let rescued: Counter
  private let crashed: Counter

  init(factory: any MetricsFactory) {
    self.factory = factory
    func rescues(_ status: String) -> Counter {
      Counter(label: "headway.jobs.rescues", dimensions: [("status", status)], factory: factory)
    }
    (rescued, crashed) = (rescues("rescued"), rescues("crashed"))
  }

  /// Counts events until the task is cancelled.
  func count(_ events: JobEvents.Iterator) async {
    var events = events
    /// The counters of all kinds and statuses that there have been.
    var attempts: [[String]: Counter] = [:]
    while let event = await events.next() {
      switch event {
      case .rescued: rescued.increment()
      case .crashed: crashed.increment()
      case .ended(let attempt, let action): count(attempt, action.status, &attempts)
      case .leaseLost(let attempt): count(attempt, "refused", &attempts)
      default: break
      }
    }
  }

  private func count(_ attempt: JobAttempt, _ status: String, _ counters: inout [[String]: Counter]) {
    let key = [attempt.kind.rawValue, status]
    let counter =
      counters[key]
      ?? Counter(
        label: "headway.jobs.attempts", dimensions: [("kind", attempt.kind.rawValue), ("status", status)],
        factory: factory)
    counters[key] = counter
    counter.increment()
  }
}
#endif
