#if SQLite
import Synchronization

/// Ensures that each step is reported once.
final class LastStep: Sendable {
  private let step = Mutex(0)

  /// Returns whether `next` is further than every earlier step, and remembers it.
  func advance(to next: Int) -> Bool {
    step.withLock { step in
      guard next > step else { return false }
      step = next
      return true
    }
  }
}
#endif
