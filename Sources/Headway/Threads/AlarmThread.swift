#if os(Linux)
import CHeadway
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A thread that sleeps until a moment of `CLOCK_BOOTTIME`, the clock that also advances while the machine sleeps.
///
/// It sleeps in a read of a `timerfd`. Unlike a wait on a semaphore or a condition, such a read returns on time after
/// the machine has slept. The thread starts when it is first needed. It never ends.
final class AlarmThread: Sendable {
  private let timer: Int32
  /// Relaxed: it only decides which caller starts the thread.
  private let hasStarted = Atomic<Bool>(false)

  /// Creates the timer, or returns nil if the process has no file descriptor left.
  init?() {
    timer = headway_make_timer()
    if timer < 0 { return nil }
  }

  /// The time of the clock in nanoseconds.
  static var now: Int64 { headway_timer_now() }

  /// Makes the thread wake at a moment, instead of the moment that was set before.
  ///
  /// - Parameters:
  ///   - time: The moment to wake at. A moment in the past wakes the thread immediately.
  ///   - wake: The function that the thread calls each time that it wakes. Only the function of the first call is used.
  func wake(at time: Int64, _ wake: @escaping @Sendable () -> Void) {
    if headway_set_timer(timer, max(time, 1)) != 0 { misuse("A timer could not be set: error \(errno).") }
    guard !hasStarted.exchange(true, ordering: .relaxed) else { return }
    // A thread that was created by a thread with a raised nice value would inherit that value.
    if Guarded<Void>.isLow { PoolManager.perform { self.start(wake) } } else { start(wake) }
  }

  private func start(_ wake: @escaping @Sendable () -> Void) {
    let timer = timer
    let result = startThread(named: "headway-alarms") {
      var expirations: UInt64 = 0
      while true {
        if read(timer, &expirations, 8) == 8 { wake() }
      }
    }
    // Tried again the next time that an alarm is set.
    if result != 0 { hasStarted.store(false, ordering: .relaxed) }
  }
}
#endif
