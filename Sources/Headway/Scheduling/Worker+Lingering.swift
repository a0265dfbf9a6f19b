import CHeadway
import Dispatch
import Synchronization

extension Worker {
  /// For how long a worker that has found nothing more to do in a queue looks for it, in nanoseconds, before it sleeps:
  /// about what it takes to fall asleep and to be woken.
  private static let patience: UInt64 = 50_000

  /// Spins until the queue has something to do, or time is up, or other work waits.
  ///
  /// One worker of a pool does that at a time; the others return at once.
  func linger(for queue: OperationQueue) {
    let isFirst = !pool.isLingeredIn.exchange(true, ordering: .acquiringAndReleasing)
    let end = DispatchTime.now().uptimeNanoseconds + (isFirst ? Self.patience : 0)
    queue.linger {
      for _ in 0..<16 { headway_pause() }
      return DispatchTime.now().uptimeNanoseconds < end && !pool.workWaits.load(ordering: .relaxed)
    }
    if isFirst { pool.isLingeredIn.store(false, ordering: .releasing) }
  }
}
