import Dispatch
import Synchronization

/// Sixty beats per second on the main queue.
///
/// While the main queue does something else for a long time, there are no beats.
///
/// The heartbeat is to the lab what a user interface is to an app. The process must serve its main queue.
final class Heartbeat: @unchecked Sendable {  // Only the initializer writes `timer`; it can be used on any thread.
  /// The interval between beats that are on time.
  static let interval = Duration.seconds(1) / 60

  private let timer: any DispatchSourceTimer
  // The time of the last beat. Protected by its lock.
  private let last = Mutex<ContinuousClock.Instant?>(nil)
  private let beat: @Sendable (ContinuousClock.Instant, Duration) -> Void

  /// Creates a heartbeat that has not started.
  ///
  /// - Parameter beat: Called on the main queue with the time of a beat, and the time since the last one.
  init(beat: @escaping @Sendable (ContinuousClock.Instant, Duration) -> Void) {
    self.beat = beat
    timer = DispatchSource.makeTimerSource(queue: .main)
  }

  /// Starts the heartbeat.
  ///
  /// Must be called once.
  func start() {
    timer.schedule(deadline: .now(), repeating: 1.0 / 60, leeway: .milliseconds(1))
    timer.setEventHandler { [weak self] in self?.beatNow() }
    timer.resume()
  }

  /// Stops the heartbeat after it was started.
  ///
  /// No beats follow.
  func stop() { timer.cancel() }

  private func beatNow() {
    let now = ContinuousClock.now
    let gap = last.withLock { last in
      defer { last = now }
      return last.map { now - $0 } ?? Self.interval
    }
    beat(now, gap)
  }
}
