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

extension ObservationToken: Hashable {
  /// Two tokens are equal when they are the same object.
  ///
  /// - Parameters:
  ///   - left: A token.
  ///   - right: Another.
  /// - Returns: Whether they are one.
  public static func == (left: ObservationToken, right: ObservationToken) -> Bool { left === right }

  /// Hashes the identity of the object.
  ///
  /// - Parameter hasher: The hasher to feed.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
