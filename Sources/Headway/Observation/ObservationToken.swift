import Synchronization

/// Keeps an observation alive: releasing the token, or ``invalidate()``, ends it.
///
/// Keep it in a property, or in a variable that lives as long as you want to be notified.
public final class ObservationToken: Sendable {
  private enum End {
    case call(@Sendable () -> Void)
    /// The list holds nothing any more once its object has ended, or is freed.
    case removal(from: ObserverList, number: UInt64)
  }

  private let end: Mutex<End?>

  init(end: @escaping @Sendable () -> Void) { self.end = Mutex(.call(end)) }

  /// Creates a token that removes an observer from a list; or one for which nothing is to be done.
  init(_ place: (list: ObserverList, number: UInt64)?) {
    end = Mutex(place.map { .removal(from: $0.list, number: $0.number) })
  }

  deinit { invalidate() }

  /// Ends the observation.
  ///
  /// May be called from any thread, even from the observer itself. A call that is under way on another thread may still
  /// finish. Doing it again changes nothing.
  public func invalidate() {
    let end = end.withLock { $0.take() }
    switch end {
    case .call(let body): body()
    case .removal(let list, let number): list.remove(number)
    case nil: break
    }
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
