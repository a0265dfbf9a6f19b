import CHeadway
import Dispatch
import Synchronization

extension Worker {
  /// How long a worker that has found nothing to do in a queue spins before it sleeps, in nanoseconds.
  ///
  /// This is about the time that it takes to fall asleep and to be woken.
  static let spinTime: UInt64 = 50_000

  /// A hint about whether the worker should spin now: no other worker spins, no other work waits, and work is likely to
  /// arrive soon.
  var maySpin: Bool { !pool.workWaits.load(ordering: .relaxed) && pool.spinning.mayBegin }

  /// Spins until there is something to do, the time is up, or other work waits.
  ///
  /// One worker per pool spins at a time. For other workers, this function returns immediately.
  ///
  /// - Parameter spin: Checks for something to do as long as its argument returns true.
  func spin(_ spin: (_ mayContinue: () -> Bool) -> Void) {
    guard pool.spinning.begins() else { return }
    let end = DispatchTime.now().uptimeNanoseconds + Self.spinTime
    var isInVain = false
    spin {
      for _ in 0..<16 { headway_pause() }
      // A thread that was woken by the end of the last operation might wait for this very processor.
      yieldProcessor()
      isInVain = DispatchTime.now().uptimeNanoseconds >= end
      return !isInVain && !pool.workWaits.load(ordering: .relaxed)
    }
    pool.spinning.ends(isInVain: isInVain)
  }
}

/// Decides whether it is worthwhile for a worker of a pool to spin.
///
/// No worker spins while workers usually sleep for longer than ``longestSleep`` before they are woken. In addition,
/// after a worker has spun in vain, the next workers skip spinning: once, then three times, and so on up to
/// ``mostSkipped`` times. A worker that finds work by spinning resets both. As a result, spinning costs the pool little
/// while work arrives at long intervals, and workers soon spin again when work arrives at short intervals.
final class SpinPolicy: Sendable {
  private static let mostSkipped = 15
  /// If workers usually sleep longer than this, in nanoseconds, no worker spins.
  ///
  /// The time includes the time that it takes to wake a worker.
  private static let longestSleep = 2 * Worker.spinTime

  // Relaxed, except for the exchange that admits one worker at a time: the values are hints.
  private let isSpinning = Atomic<Bool>(false)
  private let toSkip = Atomic<Int>(0)
  /// How many workers skip spinning after the next worker has spun in vain.
  private let skippedNext = Atomic<Int>(1)
  /// A moving average of how long workers sleep, in nanoseconds.
  private let usualSleep = Atomic<UInt64>(0)

  /// A hint about whether a worker that finds nothing to do should spin.
  var mayBegin: Bool {
    toSkip.load(ordering: .relaxed) == 0 && usualSleep.load(ordering: .relaxed) <= Self.longestSleep
      && !isSpinning.load(ordering: .relaxed)
  }

  /// Whether the calling worker can spin, because no other worker does.
  ///
  /// If so, it must call ``ends(isInVain:)`` afterwards.
  func begins() -> Bool { !isSpinning.exchange(true, ordering: .acquiringAndReleasing) }

  func ends(isInVain: Bool) {
    let skipped = skippedNext.load(ordering: .relaxed)
    // Plus 1, because `noteSleep(of:)` also counts the sleep that follows.
    toSkip.store(isInVain ? skipped + 1 : 0, ordering: .relaxed)
    skippedNext.store(isInVain ? min(skipped * 2 + 1, Self.mostSkipped) : 1, ordering: .relaxed)
    if !isInVain { usualSleep.store(0, ordering: .relaxed) }
    isSpinning.store(false, ordering: .releasing)
  }

  /// Notes that a worker was woken.
  ///
  /// - Parameter time: How long the worker slept, in nanoseconds.
  func noteSleep(of time: UInt64) {
    let toSkip = toSkip.load(ordering: .relaxed)
    if toSkip > 0 { self.toSkip.store(toSkip - 1, ordering: .relaxed) }
    // The time is limited, so that one long sleep is soon forgotten.
    let usual = usualSleep.load(ordering: .relaxed)
    usualSleep.store(usual - usual / 4 + min(time, 2 * Self.longestSleep) / 4, ordering: .relaxed)
  }
}
