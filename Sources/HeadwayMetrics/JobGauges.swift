#if Observability && Jobs
import HeadwayJobs
import Metrics

/// The metrics of a store, which are set from the facts of its health.
struct JobGauges {
  private struct Key: Hashable {
    let label: String
    let dimensions: [String]
  }

  private let factory: any MetricsFactory
  /// All meters that were created, with their dimensions.
  private var meters: [Key: Meter] = [:]
  /// All queues, kinds, and checks that snapshots have contained.
  ///
  /// An overview does not contain queues and kinds without jobs.
  private var (queues, kinds, checks) = (Set<String>(), Set<JobKind>(), Set<String>())

  private static let states: [JobState] = [.held, .scheduled, .retrying, .waiting, .running]

  init(factory: any MetricsFactory) { self.factory = factory }

  /// Sets the metrics of a store.
  ///
  /// - Parameter facts: The facts of its health; nil if the store can't be read.
  mutating func set(_ facts: HealthFacts?) {
    meter("headway.jobs.store.available").set(facts == nil ? 0 : 1)
    guard let facts else { return }
    set(facts.overview)
    setHealth(facts)
  }

  private mutating func set(_ overview: JobsOverview) {
    let snapshot = overview.snapshot
    let current = Dictionary(uniqueKeysWithValues: snapshot.queues.map { ($0.name, $0) })
    queues.formUnion(current.keys)
    for name in queues {
      for state in Self.states {
        meter("headway.jobs.depth", ("queue", name), ("status", state.name)).set(current[name]?.counts[state] ?? 0)
      }
      let age = current[name]?.oldestWaitStartTime.map { max(0, (snapshot.time - $0) / .seconds(1)) }
      meter("headway.jobs.oldest.waiting.duration", ("queue", name)).set(age ?? 0)
    }
    meter("headway.jobs.failed").set(overview.failedCount)
    meter("headway.jobs.workers").set(snapshot.workers.count(where: \.isWorking))
    meter("headway.jobs.dead.workers").set(snapshot.workers.count { !$0.isAlive })
  }

  private mutating func setHealth(_ facts: HealthFacts) {
    let health = facts.health
    checks.formUnion(health.findings.map(\.name))
    for name in checks {
      let level = health.findings.filter { $0.name == name }.map(\.level).max() ?? .good
      meter("headway.jobs.health", ("check", name)).set(level.rank)
    }
    kinds.formUnion(facts.rates.kinds.keys)
    for kind in kinds {
      let activity = facts.rates.kinds[kind] ?? JobActivity()
      for (status, count) in [("succeeded", activity.succeeded), ("failed", activity.failedAttempts)] {
        meter("headway.jobs.recent.attempts", ("kind", kind.rawValue), ("status", status)).set(count)
      }
    }
    meter("headway.jobs.late.schedules").set(facts.lateSchedules.count)
  }

  private mutating func meter(_ label: String, _ dimensions: (String, String)...) -> Meter {
    let key = Key(label: label, dimensions: dimensions.map(\.1))
    if let meter = meters[key] { return meter }
    let meter = Meter(label: label, dimensions: dimensions, factory: factory)
    meters[key] = meter
    return meter
  }
}
#endif
