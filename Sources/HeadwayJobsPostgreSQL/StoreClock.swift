#if PostgreSQL
@_spi(JobStore) import HeadwayJobs
import Synchronization

/// The server's time, which determines when jobs are due.
///
/// Between the answers of the server, the time is computed with a monotonic clock. Therefore, jumps of this machine's
/// wall clock have no effect.
final class StoreClock: Sendable {
  private struct Reading {
    let server: StoreTime
    let local: ContinuousClock.Instant
  }

  /// A clock for tests, instead of the server's clock.
  let custom: (@Sendable () -> StoreTime)?
  private let reading = Mutex(Reading(server: .now(), local: .now))

  init(custom: (@Sendable () -> StoreTime)?) { self.custom = custom }

  /// Notes the time that the server has just answered.
  func note(_ server: StoreTime) {
    let reading = Reading(server: server, local: .now)
    self.reading.withLock { $0 = reading }
  }

  /// The time, as precisely as it is known without asking the server.
  var now: StoreTime {
    if let custom { return custom() }
    let reading = reading.withLock { $0 }
    return reading.server + (ContinuousClock.now - reading.local)
  }
}
#endif
