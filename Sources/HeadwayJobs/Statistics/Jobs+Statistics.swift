@_spi(JobStore) extension JobStoreBackend {
  /// Returns statistics without activity.
  ///
  /// - Parameters:
  ///   - span: The time that the statistics describe.
  ///   - queue: Only jobs of this queue are counted; nil for all.
  /// - Returns: Periods without activity.
  public func statistics(over span: JobStatistics.Span, queue: String?) -> JobStatistics {
    JobStatistics(span: span, endingAt: now)
  }

  /// False.
  public var keepsStatistics: Bool { false }

  /// Does nothing.
  public func mergeStatistics() {}
}

extension Jobs {
  /// Returns the activity of the jobs in the last hour or day.
  ///
  /// The time that this takes does not grow with the number of jobs. Stores that keep no statistics return periods
  /// without activity.
  ///
  /// - Parameters:
  ///   - span: The time that the statistics describe.
  ///   - queue: Only jobs of this queue are counted; nil for all.
  /// - Returns: The activity in each period, by queue and kind.
  /// - Throws: ``JobError``.
  public func statistics(over span: JobStatistics.Span, queue: String? = nil) async throws -> JobStatistics {
    try await backend.statistics(over: span, queue: queue)
  }
}
