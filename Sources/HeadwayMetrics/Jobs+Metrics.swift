#if Observability && Jobs
import Headway
@_spi(JobStore) public import HeadwayJobs
public import Metrics

extension Jobs {
  /// Records metrics of the durable jobs of the store, until the returned task is cancelled.
  ///
  /// ```swift
  /// jobs.recordMetrics()
  /// ```
  ///
  /// - The meter `headway.jobs.depth`, with the dimensions `queue` and `status`, is the number of jobs in the store
  ///   that are `held`, `scheduled`, `retrying`, `waiting` or `running`.
  /// - The meter `headway.jobs.failed` is the number of failed jobs that the store keeps.
  /// - The meter `headway.jobs.oldest.waiting.duration`, with the dimension `queue`, is how many seconds the oldest
  ///   waiting job has waited; 0 if there is none.
  /// - The meter `headway.jobs.workers` is the number of living workers, and `headway.jobs.dead.workers` the number of
  ///   workers whose processes have died, and whose jobs no worker has taken over yet.
  /// - The meter `headway.jobs.recent.attempts`, with the dimensions `kind` and `status`, is the number of attempts of
  ///   all processes that have `succeeded` or `failed` in the last five minutes.
  /// - The meter `headway.jobs.late.schedules` is the number of schedules with a tick that is late.
  /// - The meter `headway.jobs.health`, with the dimension `check`, is the level of the worst finding with this name: 0
  ///   if it is good, 1 for a warning, and 2 if it is bad.
  /// - The meter `headway.jobs.store.available` is 1 if the store could be read, and otherwise 0. The other meters then
  ///   keep their values.
  /// - The counter `headway.jobs.attempts`, with the dimensions `kind` and `status`, counts the attempts of this
  ///   process that have ended: `succeeded`, `retried`, `failed`, `snoozed`, `released`, `cancelled`, or `refused` if
  ///   the attempt no longer ran its job.
  /// - The counter `headway.jobs.rescues`, with the dimension `status`, counts the jobs of dead workers that this
  ///   process has put back, `rescued`, or that have failed because of it, `crashed`.
  ///
  /// The meters describe the whole store, so one process is enough to record them. The counters describe this process.
  /// An attempt is also an operation, so `recordMetrics()` of its queue measures how long attempts wait and run.
  ///
  /// `Examples/Monitoring` has alert rules for Prometheus and a dashboard for Grafana that use these metrics.
  ///
  /// - Parameters:
  ///   - interval: The time between two reads of the store. Each read uses indexes and takes O(*n*) in the number of
  ///     unfinished and failed jobs, up to a million of each. Above that, numbers of jobs are too small.
  ///   - health: The limits beyond which a check has found a problem.
  ///   - factory: Creates the metrics; nil for the factory of the metrics system.
  ///   - clock: Measures the interval.
  /// - Returns: A task that records until it is cancelled. Releasing the task does not cancel it.
  /// - Precondition: `interval` is greater than zero.
  @discardableResult
  public func recordMetrics<ClockType: Clock>(
    every interval: Duration = .seconds(15), health: JobsHealth.Options = JobsHealth.Options(),
    factory: (any MetricsFactory)? = nil, clock: ClockType = ContinuousClock()
  ) -> Task<Void, Never> where ClockType.Duration == Duration {
    require(interval > .zero, "recordMetrics(every: \(interval)) of jobs: use an interval of more than zero.")
    let factory = factory ?? MetricsSystem.factory
    // The iteration begins now, so that no later event is missed.
    let events = events.makeAsyncIterator()
    // The task does not keep the jobs alive, so that the events end with them.
    let access = store.access
    return Task.detached {
      await withTaskGroup(of: Void.self) { group in
        group.addTask { await JobCounters(factory: factory).count(events) }
        group.addTask {
          var gauges = JobGauges(factory: factory)
          repeat {
            // The store might be unavailable for a while.
            gauges.set(try? await facts(of: access, health))
          } while (try? await clock.sleepAtMostCentury(for: interval)) != nil
        }
      }
    }
  }
}

/// Jobs of a store are counted up to this number.
private let countLimit = 1_000_000

/// Reads what the metrics of a store describe.
private func facts(of access: JobStoreAccess, _ options: JobsHealth.Options) async throws -> HealthFacts {
  let reading = try await StoreReading(access.backend, countingTo: countLimit)
  return try await HealthFacts(access, options, measuringCommit: false, reading)
}
#endif
