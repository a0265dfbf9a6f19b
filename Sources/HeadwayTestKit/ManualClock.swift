import Synchronization

/// A clock that stands still until a test moves it on.
///
/// ```swift
/// let clock = ManualClock()
/// async let woken: Void = clock.sleep(for: .seconds(5))
/// await clock.sleeping(1)
/// clock.advance(by: .seconds(5))
/// try await woken
/// ```
public final class ManualClock: Clock, Sendable {
  /// A moment of the clock, as the time since it was created.
  public struct Instant: InstantProtocol, Sendable {
    /// The time since the clock was created.
    public let offset: Duration

    /// Creates a moment.
    ///
    /// - Parameter offset: The time since the clock was created.
    public init(offset: Duration) { self.offset = offset }

    /// A later moment.
    ///
    /// - Parameter duration: How much later.
    /// - Returns: That moment.
    public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

    /// The time from this moment to another.
    ///
    /// - Parameter other: The other moment.
    /// - Returns: The time, negative if the other was before.
    public func duration(to other: Instant) -> Duration { other.offset - offset }

    /// Compares by time.
    ///
    /// - Parameters:
    ///   - left: A moment.
    ///   - right: Another.
    /// - Returns: Whether `left` is before `right`.
    public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  private struct Sleeper {
    let identifier: UInt64
    let deadline: Instant
    let continuation: UnsafeContinuation<Void, any Error>
  }

  private struct State {
    var now = Instant(offset: .zero)
    /// By their identifiers.
    var sleepers: [UInt64: Sleeper] = [:]
    var lastIdentifier: UInt64 = 0
    /// Those who wait for so many sleepers.
    var watchers: [(count: Int, continuation: UnsafeContinuation<Void, Never>)] = []

    mutating func takeWatchers() -> [UnsafeContinuation<Void, Never>] {
      let woken = watchers.filter { $0.count <= sleepers.count }
      watchers.removeAll { $0.count <= sleepers.count }
      return woken.map(\.continuation)
    }
  }

  private let state = Mutex(State())

  /// Creates a clock that shows zero.
  public init() {}

  /// The moment that the clock shows.
  public var now: Instant { state.withLock { $0.now } }

  /// The smallest step of the clock.
  public var minimumResolution: Duration { .nanoseconds(1) }

  /// How many tasks sleep.
  public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

  /// Moves the clock on, and wakes the tasks whose time has come, the earliest first.
  ///
  /// Returns when they have been woken; they go on where their own executors run them.
  ///
  /// - Parameter duration: By how much.
  /// - Precondition: `duration` is not negative.
  /// - Complexity: O(*n*) in the number of tasks that sleep.
  public func advance(by duration: Duration) {
    precondition(duration >= .zero, "A clock does not go back: advance it by zero or more.")
    let woken = state.withLock { state in
      state.now = state.now.advanced(by: duration)
      let now = state.now
      let woken = state.sleepers.values.filter { $0.deadline <= now }
      for sleeper in woken { state.sleepers[sleeper.identifier] = nil }
      return woken.sorted { ($0.deadline, $0.identifier) < ($1.deadline, $1.identifier) }
    }
    for sleeper in woken { sleeper.continuation.resume() }
  }

  /// Suspends the task until the clock shows `deadline` or later.
  ///
  /// - Parameters:
  ///   - deadline: The moment.
  ///   - tolerance: Ignored: the clock is exact.
  /// - Throws: `CancellationError` when the task is cancelled first.
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
        // A cancellation before the sleeper was in the list found nothing to take out.
        if Task.isCancelled { cancel() }
      }
    } onCancel: {
      cancel()
    }
  }

  /// Suspends the task until so many others sleep: then advancing the clock wakes them.
  ///
  /// Cancelling the task does not end the wait.
  ///
  /// - Parameter count: How many.
  public func sleeping(_ count: Int) async {
    await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
      let isReached = state.withLock { state in
        if state.sleepers.count < count { state.watchers.append((count, continuation)) }
        return state.sleepers.count >= count
      }
      if isReached { continuation.resume() }
    }
  }
}
