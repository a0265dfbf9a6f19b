#if Observability && Jobs
import HeadwayJobs
import Metrics

/// The metrics of a store, which are set from snapshots.
struct JobGauges {
  private struct Key: Hashable {
    let queue: String
    let state: JobState?
  }

  private let factory: any MetricsFactory
  private let workers: Meter
  /// The meters of all queues that there have been.
  ///
  /// Those without a state are the ages.
  private var meters: [Key: Meter] = [:]

  private static let states: [JobState] = [.held, .scheduled, .retrying, .waiting, .running, .failed]

  init(factory: any MetricsFactory) {
    self.factory = factory
    workers = Meter(label: "headway.jobs.workers", factory: factory)
  }

  mutating func set(_ snapshot: JobsSnapshot) {
    workers.set(snapshot.workers.count(where: \.isWorking))
    let queues = Dictionary(uniqueKeysWithValues: snapshot.queues.map { ($0.name, $0) })
    // Queues without jobs are not in the snapshot.
    for name in Set(queues.keys).union(meters.keys.map(\.queue)) {
      for state in Self.states { meter(name, state).set(queues[name]?.counts[state] ?? 0) }
      let age = queues[name]?.oldestWaitStartTime.map { max(0, (snapshot.time - $0) / .seconds(1)) }
      meter(name, nil).set(age ?? 0)
    }
  }

  private mutating func meter(_ queue: String, _ state: JobState?) -> Meter {
    let key = Key(queue: queue, state: state)
    if let meter = meters[key] { return meter }
    let dimensions = [("queue", queue)] + (state.map { [("status", $0.name)] } ?? [])
    let label = state == nil ? "headway.jobs.oldest.waiting.duration" : "headway.jobs.depth"
    let meter = Meter(label: label, dimensions: dimensions, factory: factory)
    meters[key] = meter
    return meter
  }
}
#endif
