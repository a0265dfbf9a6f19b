/// The state of a store and what has happened in the last hour, which the checks of its health compare.
///
/// A caller that needs these numbers, too, reads them once and passes them to the checks.
package struct StoreReading: Sendable {
  /// The queues, workers and latest endings.
  package let overview: JobsOverview
  /// The time of this process when the overview was read.
  let clock: StoreTime
  /// What has happened in the last hour.
  package let statistics: JobStatistics

  /// Reads the numbers by index, counting only up to a limit.
  ///
  /// - Parameters:
  ///   - store: The store to read.
  ///   - limit: Jobs are counted up to this number; positive.
  /// - Throws: ``JobError``.
  package init(_ store: any JobStoreBackend, countingTo limit: Int = HealthFacts.countLimit) async throws {
    overview = try await store.overview(countingTo: limit)
    clock = .now()
    statistics = try await store.statistics(over: .hour, queue: nil)
  }
}
