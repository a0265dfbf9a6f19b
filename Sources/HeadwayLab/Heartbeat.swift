import Dispatch
import Synchronization

/// Sixty beats a second on the main queue; while that does something else for long, they do not come.
///
/// What a user interface is to an app, this is to the lab. The process must serve its main queue.
final class Heartbeat: @unchecked Sendable {  // `timer` is written by the initialiser alone; it may be used anywhere.
  /// How far apart the beats are that come on time.
  static let interval = Duration.seconds(1) / 60

  private let timer: any DispatchSourceTimer
  // Protected by its lock: when the last beat came.
  private let last = Mutex<ContinuousClock.Instant?>(nil)
  private let beat: @Sendable (ContinuousClock.Instant, Duration) -> Void

  /// Creates a heartbeat that has not begun.
  ///
  /// - Parameter beat: Is called on the main queue with the time of a beat, and how long after the last one it came.
  init(beat: @escaping @Sendable (ContinuousClock.Instant, Duration) -> Void) {
    self.beat = beat
    timer = DispatchSource.makeTimerSource(queue: .main)
  }

  /// Begins; it is called once.
  func start() {
    timer.schedule(deadline: .now(), repeating: 1.0 / 60, leeway: .milliseconds(1))
    timer.setEventHandler { [weak self] in self?.beatNow() }
    timer.resume()
  }

  /// Ends it, after it was started: no more beats come.
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
