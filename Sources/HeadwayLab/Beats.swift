import Synchronization

/// The last beats of the heart, for viewers.
final class Beats: Sendable {
  private struct State {
    /// Milliseconds since the lab began, one a beat.
    var times: [Double] = []
    var lastNumber = 0
  }

  /// Ten seconds of them.
  private static let limit = 600
  // Protected by its lock.
  private let state = Mutex(State())

  /// Notes a beat.
  ///
  /// - Parameter time: Milliseconds since the lab began.
  /// - Returns: How many there have been.
  func note(_ time: Double) -> Int {
    state.withLock { state in
      state.lastNumber += 1
      state.times.append(time)
      if state.times.count >= 2 * Self.limit { state.times.removeFirst(Self.limit) }
      return state.lastNumber
    }
  }

  /// The beats after one, ten seconds of them at most.
  ///
  /// - Parameter number: The number of the beat.
  /// - Returns: The times, in milliseconds since the lab began, and the number of the last.
  func times(after number: Int) -> (times: [Double], last: Int) {
    state.withLock { state in
      let count = min(state.lastNumber - number, state.times.count, Self.limit)
      return (Array(state.times.suffix(max(0, count))), state.lastNumber)
    }
  }
}
