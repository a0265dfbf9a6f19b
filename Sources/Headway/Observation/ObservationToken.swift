import Synchronization

/// Keeps an observation alive: releasing the token, or ``invalidate()``, ends it.
///
/// Keep it in a property, or in a variable that lives as long as you want to be notified.
public final class ObservationToken: Sendable {
  private let end: Mutex<(@Sendable () -> Void)?>

  init(end: @escaping @Sendable () -> Void) { self.end = Mutex(end) }

  deinit { invalidate() }

  /// Ends the observation.
  ///
  /// May be called from any thread, even from the observer itself. A call that is under way on another thread may still
  /// finish. Doing it again changes nothing.
  public func invalidate() {
    let end = end.withLock { end in
      defer { end = nil }
      return end
    }
    end?()
  }
}
