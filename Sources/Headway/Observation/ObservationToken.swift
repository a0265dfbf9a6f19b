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
  /// Registers a waiter, as below; nil if the list that has the observer does that.
  private let addingWaiter: (@Sendable (Waiter) -> Bool)?

  /// Creates a token.
  ///
  /// - Parameters:
  ///   - addingWaiter: Registers a waiter until the observer has been called for everything that has happened, and
  ///     returns false if it has been. An observer may refer to its token: what it captures it holds weakly.
  ///   - end: Ends the observation.
  init(addingWaiter: @escaping @Sendable (Waiter) -> Bool, end: @escaping @Sendable () -> Void) {
    self.end = Mutex(.call(end))
    self.addingWaiter = addingWaiter
  }

  /// Creates a token that removes an observer from a list; or one for which nothing is to be done.
  init(_ place: (list: ObserverList, number: UInt64)?) {
    end = Mutex(place.map { .removal(from: $0.list, number: $0.number) })
    addingWaiter = nil
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
  /// Suspends the task until the observer has been called for everything that has happened.
  ///
  /// ```swift
  /// let token = queue.observe(\.operationCount) { queue, _ in print(queue.operationCount) }
  /// queue.addOperation { print("work") }
  /// try await queue.finished()
  /// await token.delivered()
  /// ```
  ///
  /// Observers are notified after a change, so a thread or task that has waited for an operation or a queue may
  /// continue before an observer has been called for the end. Returns immediately when the observation has ended. Holds
  /// no thread, and does not end when the task is cancelled.
  ///
  /// The observer must not block until this returns, since this returns after the observer has.
  public func delivered() async { await WaiterList.suspend { addWaiter($0) } }

  /// Blocks the calling thread as ``delivered()`` suspends the task.
  package func waitUntilDelivered() { WaiterList.block { addWaiter($0) } }

  private func addWaiter(_ waiter: Waiter) -> Bool {
    let end = end.withLock { $0 }
    return switch end {
    case .call: addingWaiter?(waiter) ?? false
    case .removal(let list, _): list.addWaiter(waiter)
    case nil: false
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
