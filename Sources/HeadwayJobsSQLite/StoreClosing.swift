#if Jobs
import Synchronization

/// Tracks whether a store has ended, and the tasks that wait for it.
final class StoreClosing: Sendable {
  /// The waiting tasks; nil if the store has ended.
  private let waiters = Mutex<[CheckedContinuation<Void, Never>]?>([])

  func end() { for waiter in waiters.withLock({ $0.take() }) ?? [] { waiter.resume() } }

  func wait() async {
    await withCheckedContinuation { waiter in
      let hasEnded = waiters.withLock { waiters in
        waiters?.append(waiter)
        return waiters == nil
      }
      if hasEnded { waiter.resume() }
    }
  }
}
#endif
