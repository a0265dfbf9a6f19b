#if Observability
import Metrics

/// The metrics of one queue, which are created once, because the backend looks up each metric when it is created.
///
/// They are never destroyed. See `Docs/decisions/0036-observability.md`.
///
/// `@unchecked Sendable`, because the classes of swift-metrics are not marked as sendable. They are immutable, and
/// their handlers are sendable.
struct QueueMetrics: @unchecked Sendable {
  let waiting: Meter
  let running: Meter
  let oldestWait: Meter
  let waitTime: Timer
  let retries: Counter
  let succeeded: (count: Counter, runTime: Timer)
  let failed: (count: Counter, runTime: Timer)
  let cancelled: (count: Counter, runTime: Timer)

  init(queueName: String, factory: any MetricsFactory) {
    let queue = ("queue", queueName)
    func meter(_ label: String, _ dimensions: [(String, String)] = []) -> Meter {
      Meter(label: label, dimensions: [queue] + dimensions, factory: factory)
    }
    func timer(_ label: String, _ dimensions: [(String, String)] = []) -> Timer {
      Timer(
        label: label, dimensions: [queue] + dimensions, preferredDisplayUnit: .seconds, factory: factory)
    }
    func end(_ status: String) -> (Counter, Timer) {
      let dimensions = [queue, ("status", status)]
      return (
        Counter(label: "headway.operations", dimensions: dimensions, factory: factory),
        timer("headway.operation.duration", [("status", status)])
      )
    }
    waiting = meter("headway.queue.depth", [("status", "waiting")])
    running = meter("headway.queue.depth", [("status", "running")])
    oldestWait = meter("headway.queue.oldest.waiting.duration")
    waitTime = timer("headway.operation.waiting.duration")
    retries = Counter(label: "headway.operation.retries", dimensions: [queue], factory: factory)
    succeeded = end("succeeded")
    failed = end("failed")
    cancelled = end("cancelled")
  }
}
#endif
