extension Clock where Duration == Swift.Duration {
  /// Sleeps for at most a century, because a duration that exceeds the range of the clock would trap.
  ///
  /// - Parameter duration: How long to sleep.
  /// - Throws: `CancellationError` if the task is cancelled.
  package func sleepAtMostCentury(for duration: Duration) async throws {
    try await sleep(for: min(duration, .seconds(100 * 365 * 86_400)))
  }
}
