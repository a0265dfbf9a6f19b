import Headway
import Synchronization

/// A clock that does not advance until a test advances it.
///
/// ```swift
/// let clock = ManualClock()
/// async let woken: Void = clock.sleep(for: .seconds(5))
/// await clock.waitForSleeper(for: .seconds(5))
/// clock.advance(by: .seconds(5))
/// try await woken
/// ```
///
/// To test policies, set it as the `clock` of a queue. The queue then sleeps until the earliest time when a delay, a
/// pause between attempts, a time limit or a wait for a rate limit ends. A time limit is a sleeper like any other, so
/// wait for the deadline that you need with ``waitForSleeper(for:)``, not for a number of sleepers. If several
/// operations of a queue wait, wait for their deadlines in chronological order.
public final class ManualClock: Clock, Sendable {
  /// A moment of the clock, as the time since it was created.
  public struct Instant: InstantProtocol, Sendable {
    /// The time since the clock was created.
    public let offset: Duration

    /// Creates a moment.
    ///
    /// - Parameter offset: The time since the clock was created.
    public init(offset: Duration) { self.offset = offset }

    /// Returns a later moment.
    ///
    /// - Parameter duration: The time between the moments.
    /// - Returns: The moment `duration` after this one.
    public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

    /// Returns the time from this moment to another.
    ///
    /// - Parameter other: The moment to measure to.
    /// - Returns: The time; negative if the other moment is earlier.
    public func duration(to other: Instant) -> Duration { other.offset - offset }

    /// Returns whether a moment is earlier than another.
    ///
    /// - Parameters:
    ///   - left: A moment to compare.
    ///   - right: Another moment.
    /// - Returns: True if `left` is earlier than `right`.
    public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  private struct Sleeper {
    let identifier: UInt64
    let deadline: Instant
    let continuation: UnsafeContinuation<Void, any Error>
  }

  private struct State {
    var now = Instant(offset: .zero)
    /// The sleeping tasks by their identifiers.
    var sleepers: [UInt64: Sleeper] = [:]
    var lastIdentifier: UInt64 = 0
    /// Tasks that wait for sleepers.
    var watchers: [(isReached: @Sendable (State) -> Bool, continuation: UnsafeContinuation<Void, Never>)] = []

    mutating func takeWatchers() -> [UnsafeContinuation<Void, Never>] {
      let current = self
      let woken = watchers.filter { $0.isReached(current) }
      watchers.removeAll { $0.isReached(current) }
      return woken.map(\.continuation)
    }
  }

  private let state = Mutex(State())

  /// Creates a clock that starts at zero.
  public init() {}

  /// The current moment of the clock.
  public var now: Instant { state.withLock { $0.now } }

  /// The smallest step of the clock.
  public var minimumResolution: Duration { .nanoseconds(1) }

  /// The number of sleeping tasks.
  public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

  /// The earliest deadline of a sleeping task; nil if no task sleeps.
  ///
  /// - Complexity: O(*n*) in the number of sleeping tasks.
  public var nextDeadline: Instant? { state.withLock { $0.sleepers.values.lazy.map(\.deadline).min() } }

  /// Advances the clock and wakes the tasks whose deadlines have passed, the earliest first.
  ///
  /// This method returns when they have been woken; they continue on their own executors.
  ///
  /// - Parameter duration: The time to add to the clock.
  /// - Precondition: `duration` is not negative.
  /// - Complexity: O(*n*) in the number of sleeping tasks.
  public func advance(by duration: Duration) {
    require(duration >= .zero, "A manual clock was advanced by \(duration): use zero or more.")
    let woken = state.withLock { state in
      state.now = state.now.advanced(by: duration)
      let now = state.now
      let woken = state.sleepers.values.filter { $0.deadline <= now }
      for sleeper in woken { state.sleepers[sleeper.identifier] = nil }
      return woken.sorted { ($0.deadline, $0.identifier) < ($1.deadline, $1.identifier) }
    }
    for sleeper in woken { sleeper.continuation.resume() }
  }

  /// Suspends the task until the clock reaches `deadline`.
  ///
  /// - Parameters:
  ///   - deadline: The moment to wait for.
  ///   - tolerance: Ignored, because the clock is exact.
  /// - Throws: `CancellationError` if the task is cancelled before then.
  public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    let identifier = state.withLock { state in
      state.lastIdentifier += 1
      return state.lastIdentifier
    }
    let cancel: @Sendable () -> Void = {
      let sleeper = self.state.withLock { $0.sleepers.removeValue(forKey: identifier) }
      sleeper?.continuation.resume(throwing: CancellationError())
    }
    try await withTaskCancellationHandler {
      try await withUnsafeThrowingContinuation { (continuation: UnsafeContinuation<Void, any Error>) in
        let (sleeps, watchers) = state.withLock { state -> (Bool, [UnsafeContinuation<Void, Never>]) in
          guard state.now < deadline else { return (false, []) }
          state.sleepers[identifier] = Sleeper(identifier: identifier, deadline: deadline, continuation: continuation)
          return (true, state.takeWatchers())
        }
        for watcher in watchers { watcher.resume() }
        if !sleeps { return continuation.resume() }
        // A cancellation before the sleeper was in the list found nothing to remove.
        if Task.isCancelled { cancel() }
      }
    } onCancel: {
      cancel()
    }
  }

  /// Advances the clock to a given instant, like ``advance(by:)``.
  ///
  /// - Parameter moment: The new time of the clock, for example ``nextDeadline``.
  /// - Precondition: `moment` is not in the past.
  /// - Complexity: O(*n*) in the number of sleeping tasks.
  public func advance(to moment: Instant) { advance(by: now.duration(to: moment)) }

  /// Suspends the task until a number of other tasks sleep, so that advancing the clock wakes them.
  ///
  /// Cancelling the task does not stop the wait.
  ///
  /// - Parameter count: The number of sleeping tasks to wait for.
  public func waitForSleepers(count: Int) async { await wait { $0.sleepers.count >= count } }

  /// Suspends the task until another task sleeps with a deadline that is exactly `duration` from now.
  ///
  /// Use this method to wait until an operation pauses: pass the length of its delay or its pause.
  ///
  /// Cancelling the task does not stop the wait.
  ///
  /// - Parameter duration: The time from now to the deadline of the other task.
  /// - Precondition: `duration` is positive.
  public func waitForSleeper(for duration: Duration) async { await waitForSleeper(until: now.advanced(by: duration)) }

  /// Suspends the task until another task sleeps until exactly the given deadline.
  ///
  /// Cancelling the task does not stop the wait.
  ///
  /// - Parameter deadline: The instant that the other task sleeps until.
  /// - Precondition: `deadline` is in the future, because no task sleeps until an instant in the past.
  public func waitForSleeper(until deadline: Instant) async {
    require(now < deadline, "No task sleeps until \(deadline.offset), which is not in the future.")
    await wait { state in state.sleepers.values.contains { $0.deadline == deadline } }
  }

  private func wait(until isReached: @escaping @Sendable (State) -> Bool) async {
    await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
      let isReachedNow = state.withLock { state in
        let isReachedNow = isReached(state)
        if !isReachedNow { state.watchers.append((isReached, continuation)) }
        return isReachedNow
      }
      if isReachedNow { continuation.resume() }
    }
  }
}
