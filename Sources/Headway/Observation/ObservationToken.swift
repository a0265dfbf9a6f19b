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
  /// Gives the list that has the observer of a queue, if it is there.
  private let listOfQueue: (@Sendable () -> ObserverList?)?

  /// - Parameters:
  ///   - list: The list that has the observer.
  ///   - end: What ends the observation.
  init(in list: ObserverList? = nil, end: @escaping @Sendable () -> Void) {
    self.end = Mutex(.call(end))
    // Weakly: an observer may refer to its token.
    if let list { listOfQueue = { [weak list] in list } } else { listOfQueue = nil }
  }

  /// Creates a token that removes an observer from a list; or one for which nothing is to be done.
  init(_ place: (list: ObserverList, number: UInt64)?) {
    end = Mutex(place.map { .removal(from: $0.list, number: $0.number) })
    listOfQueue = nil
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

extension ObservationToken {
  /// Suspends the task until the observer has been called for all that has happened so far.
  ///
  /// Changes are notified of after they are true, so a thread or task that has waited for an operation may go on before
  /// an observer of the queue has heard of its end.
  ///
  /// Returns immediately if the observation has ended, and where another thread is about to make a change that can't be
  /// seen yet. The observer itself must not block until this returns, which is after it has.
  public func delivered() async {
    let list = list
    await WaiterList.suspend { list?.addWaiter($0) ?? false }
  }

  /// Blocks the thread until the observer has been called for all that has happened so far.
  ///
  /// To be called outside of the observer.
  package func waitUntilDelivered() {
    let list = list
    WaiterList.block { list?.addWaiter($0) ?? false }
  }

  private var list: ObserverList? {
    end.withLock { end in
      switch end {
      case .call: listOfQueue?()
      case .removal(let list, _): list
      case nil: nil
      }
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
