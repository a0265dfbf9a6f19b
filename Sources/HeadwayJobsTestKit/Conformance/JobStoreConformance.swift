/// The checks of a store: one or more for each rule that a store can violate.
///
/// ```swift
/// @_spi(JobStore) import HeadwayJobsTestKit
///
/// for check in JobStoreConformance.checks { try await check.run(on: fixture) }
/// ```
@_spi(JobStore) public enum JobStoreConformance {
  /// All checks.
  public static let checks: [JobStoreCheck] = [
    enqueueing, keys, claiming, order, fencing, endings, retries, retrying, cancelling, rescuing, stopping, commands,
    retention, errors, limits, severalLimits, queueSettings, waitingQueues, reading, clockJumps, snapshots, overviews,
    graphs, graphFailures, conservation, health, ticks, schedules, backfills, bounds, signals, waits, statistics,
    changes, model,
  ].flatMap(\.self)
}
