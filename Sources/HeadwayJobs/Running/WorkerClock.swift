/// The type-erased clock of a worker.
struct WorkerClock: Sendable {
  let sleep: @Sendable (Duration) async throws -> Void
  /// The time since this value was created.
  let elapsed: @Sendable () -> Duration

  init<ClockType: Clock>(_ clock: ClockType) where ClockType.Duration == Duration {
    let start = clock.now
    // More than a century makes no difference, and could overflow.
    sleep = { try await clock.sleep(for: min($0, .seconds(100 * 365 * 86_400))) }
    elapsed = { start.duration(to: clock.now) }
  }
}
