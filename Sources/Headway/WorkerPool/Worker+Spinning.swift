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
  /// For how long a worker that has found nothing more to do in a queue looks for it, in nanoseconds, before it sleeps:
  /// about what it takes to fall asleep and to be woken.
  static let spinTime: UInt64 = 50_000

  /// Whether it would spin at this moment, as far as can be seen at a glance: no other worker does, and no other work
  /// waits.
  var maySpin: Bool { !pool.workWaits.load(ordering: .relaxed) && pool.spinning.mayBegin }

  /// Spins until there is something to do, or time is up, or other work waits.
  ///
  /// One worker of a pool does that at a time; the others return at once. So do all when it has been in vain the last
  /// times: then work comes too seldom.
  ///
  /// - Parameter spin: Looks for something to do as long as the closure that it is given returns true.
  func spin(_ spin: (_ goesOn: () -> Bool) -> Void) {
    guard pool.spinning.begins() else { return }
    let end = DispatchTime.now().uptimeNanoseconds + Self.spinTime
    var isInVain = false
    spin {
      for _ in 0..<16 { headway_pause() }
      // A thread that was woken by the end of the last operation may wait for this very processor.
      sched_yield()
      isInVain = DispatchTime.now().uptimeNanoseconds >= end
      return !isInVain && !pool.workWaits.load(ordering: .relaxed)
    }
    pool.spinning.ends(isInVain: isInVain)
  }
}

/// Whether it is worth while for a worker of a pool to spin.
///
/// A worker whose spinning was in vain makes the next ones skip theirs, once, then twice, and so on up to
/// ``mostSkipped`` times; one that was not in vain begins anew. So work that comes at longer intervals costs the pool
/// little, and work that comes at short ones is soon expected again.
final class SpinPolicy: Sendable {
  private static let mostSkipped = 16

  // Relaxed, but for the exchange that lets in one at a time: the counts are hints.
  private let isSpinning = Atomic<Bool>(false)
  private let skipped = Atomic<Int>(0)
  private let toSkip = Atomic<Int>(0)

  /// A hint whether ``begins()`` is worth a try.
  var mayBegin: Bool { !isSpinning.load(ordering: .relaxed) }

  /// Whether the calling worker may spin; if so, it calls ``ends(isInVain:)`` afterwards.
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
