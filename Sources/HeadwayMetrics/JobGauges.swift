#if Observability && Jobs
import HeadwayJobs
import Metrics

/// The metrics of a store, which are set from snapshots and from the facts of its health.
struct JobGauges {
  private struct Key: Hashable {
    let label: String
    let dimensions: [String]
  }

  private let factory: any MetricsFactory
  /// The meters that there have been, with their dimensions.
  private var meters: [Key: Meter] = [:]
  /// The queues, kinds, and checks that there have been.
  ///
  /// Those without jobs are not in a snapshot.
  private var (queues, kinds, checks) = (Set<String>(), Set<JobKind>(), Set<String>())

  private static let states: [JobState] = [.held, .scheduled, .retrying, .waiting, .running, .failed]

  init(factory: any MetricsFactory) { self.factory = factory }

  mutating func set(_ snapshot: JobsSnapshot) {
    let current = Dictionary(uniqueKeysWithValues: snapshot.queues.map { ($0.name, $0) })
    queues.formUnion(current.keys)
    for name in queues {
      for state in Self.states {
        meter("depth", ("queue", name), ("status", state.name)).set(current[name]?.counts[state] ?? 0)
      }
      let age = current[name]?.oldestWaitStartTime.map { max(0, (snapshot.time - $0) / .seconds(1)) }
      meter("oldest.waiting.duration", ("queue", name)).set(age ?? 0)
    }
    meter("workers").set(snapshot.workers.count(where: \.isWorking))
    meter("dead.workers").set(snapshot.workers.count { !$0.isAlive })
  }

  mutating func set(_ facts: HealthFacts) {
    let health = facts.health
    checks.formUnion(health.findings.map(\.name))
    for name in checks {
      let level = health.findings.filter { $0.name == name }.map(\.level).max() ?? .good
      meter("health", ("check", name)).set(level.rank)
    }
    kinds.formUnion(facts.rates.kinds.keys)
    for kind in kinds {
      let activity = facts.rates.kinds[kind] ?? JobActivity()
      func recent(_ status: String) -> Meter { meter("recent.attempts", ("kind", kind.rawValue), ("status", status)) }
      recent("succeeded").set(activity.succeeded)
      recent("failed").set(activity.failedAttempts)
    }
    meter("late.schedules").set(facts.lateSchedules.count)
  }

  private mutating func meter(_ name: String, _ dimensions: (String, String)...) -> Meter {
    let key = Key(label: "headway.jobs.\(name)", dimensions: dimensions.map(\.1))
    if let meter = meters[key] { return meter }
    let meter = Meter(label: key.label, dimensions: dimensions, factory: factory)
    meters[key] = meter
    return meter
  }
}
#endif
