import Synchronization

/// A clock that never waits: a sleep returns immediately, and advances the clock by its duration.
final class SteppingClock: Clock, Sendable {
  struct Instant: InstantProtocol {
    var offset: Duration

    func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    func duration(to other: Instant) -> Duration { other.offset - offset }
    static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  // Protected by its lock; nothing is called while the lock is held.
  private let state = Mutex((now: Instant(offset: .zero), sleeps: [Duration]()))
  private let onSleep: @Sendable (Int) async throws -> Void

  /// - Parameter onSleep: Called in each sleep with its number, from 1.
  init(onSleep: @escaping @Sendable (Int) async throws -> Void = { _ in }) { self.onSleep = onSleep }

  var now: Instant { state.withLock { $0.now } }
  var minimumResolution: Duration { .zero }
  var sleeps: [Duration] { state.withLock { $0.sleeps } }

  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    let number = state.withLock { state in
      state.sleeps.append(state.now.duration(to: deadline))
      state.now = deadline
      return state.sleeps.count
    }
    try await onSleep(number)
  }
}
