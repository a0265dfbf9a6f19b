#if SQLite
import Synchronization

/// Lets each step be told once.
final class LastStep: Sendable {
  private let step = Mutex(0)

  /// Whether `next` is further than any step before.
  func advance(to next: Int) -> Bool {
    step.withLock { step in
      guard next > step else { return false }
      step = next
      return true
    }
  }
}
#endif
