import Synchronization

/// The most recent heartbeats, for viewers.
final class Beats: Sendable {
  private struct State {
    /// One time per beat, in milliseconds since the lab began.
    var times: [Double] = []
    var lastNumber = 0
  }

  /// The number of beats in ten seconds.
  private static let limit = 600
  // Protected by its lock.
  private let state = Mutex(State())

  /// Records a beat.
  ///
  /// - Parameter time: Milliseconds since the lab began.
  /// - Returns: The number of beats so far.
  func note(_ time: Double) -> Int {
    state.withLock { state in
      state.lastNumber += 1
      state.times.append(time)
      if state.times.count >= 2 * Self.limit { state.times.removeFirst(Self.limit) }
      return state.lastNumber
    }
  }

  /// Returns the beats after a certain one, up to ten seconds of them.
  ///
  /// - Parameter number: The number of the beat.
  /// - Returns: The times, in milliseconds since the lab began, and the number of the last beat.
  func times(after number: Int) -> (times: [Double], last: Int) {
    state.withLock { state in
      let count = min(state.lastNumber - number, state.times.count, Self.limit)
      return (Array(state.times.suffix(max(0, count))), state.lastNumber)
    }
  }
}
