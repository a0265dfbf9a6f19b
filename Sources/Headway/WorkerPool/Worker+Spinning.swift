import CHeadway
import Dispatch
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

extension Worker {
  /// How long a worker that has found nothing to do in a queue spins before it sleeps, in nanoseconds.
  ///
  /// This is about the time that it takes to fall asleep and to be woken.
  static let spinTime: UInt64 = 50_000

  /// A hint whether the worker would spin at this moment: no other worker spins, and no other work waits.
  var maySpin: Bool { !pool.workWaits.load(ordering: .relaxed) && pool.spinning.mayBegin }

  /// Spins until there is something to do, the time is up, or other work waits.
  ///
  /// One worker per pool spins at a time. For others, this returns immediately. It also returns immediately for all
  /// workers if spinning was in vain the last times, because work arrives too rarely.
  ///
  /// - Parameter spin: Checks for something to do as long as its argument returns true.
  func spin(_ spin: (_ mayContinue: () -> Bool) -> Void) {
    guard pool.spinning.begins() else { return }
    let end = DispatchTime.now().uptimeNanoseconds + Self.spinTime
    var isInVain = false
    spin {
      for _ in 0..<16 { headway_pause() }
      // A thread that was woken by the end of the last operation might wait for this very processor.
      sched_yield()
      isInVain = DispatchTime.now().uptimeNanoseconds >= end
      return !isInVain && !pool.workWaits.load(ordering: .relaxed)
    }
    pool.spinning.ends(isInVain: isInVain)
  }
}

/// Decides whether it is worthwhile for a worker of a pool to spin.
///
/// After a worker has spun in vain, the next ones skip spinning: once, then twice, and so on up to ``mostSkipped``
/// times. A worker that finds work resets this. So work that arrives at longer intervals costs the pool little, and
/// work that arrives at short intervals is soon expected again.
final class SpinPolicy: Sendable {
  private static let mostSkipped = 16

  // Relaxed, except for the exchange that admits one worker at a time: the counts are hints.
  private let isSpinning = Atomic<Bool>(false)
  private let skipped = Atomic<Int>(0)
  private let toSkip = Atomic<Int>(0)

  /// A hint whether ``begins()`` might return true.
  var mayBegin: Bool { !isSpinning.load(ordering: .relaxed) }

  /// Whether the calling worker can spin.
  ///
  /// If so, it must call ``ends(isInVain:)`` afterwards.
  func begins() -> Bool {
    if skipped.load(ordering: .relaxed) < toSkip.load(ordering: .relaxed) {
      skipped.add(1, ordering: .relaxed)
      return false
    }
    return !isSpinning.exchange(true, ordering: .acquiringAndReleasing)
  }

  func ends(isInVain: Bool) {
    let old = toSkip.load(ordering: .relaxed)
    toSkip.store(isInVain ? min(max(1, old * 2), Self.mostSkipped) : 0, ordering: .relaxed)
    skipped.store(0, ordering: .relaxed)
    isSpinning.store(false, ordering: .releasing)
  }
}
