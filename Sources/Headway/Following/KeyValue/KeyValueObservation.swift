import Synchronization

/// Keeps an observation alive.
///
/// Releasing the token, or calling ``invalidate()``, ends it.
///
/// Store it in a property, or in a variable that lives as long as you want to be notified.
public final class KeyValueObservation: Sendable {
  private enum End {
    case call(Calls)
    /// The list is empty once its object has finished or is freed.
    case removal(from: ObserverList, number: UInt64)
  }

  /// The functions that the token of a queue or a progress calls.
  ///
  /// They are in a separate object, so that the tokens of operations are small.
  private final class Calls: Sendable {
    let addingWaiter: @Sendable (Waiter) -> Bool
    let end: @Sendable () -> Void

    init(_ addingWaiter: @escaping @Sendable (Waiter) -> Bool, _ end: @escaping @Sendable () -> Void) {
      (self.addingWaiter, self.end) = (addingWaiter, end)
    }
  }

  private let end: Mutex<End?>

  /// Creates a token.
  ///
  /// - Parameters:
  ///   - addingWaiter: Registers a waiter until the observer has been called for everything that has happened, and
  ///     returns false if it already has been. Captures only weak references, because an observer can refer to its
  ///     token.
  ///   - end: Ends the observation. Called once, with no lock held.
  init(addingWaiter: @escaping @Sendable (Waiter) -> Bool, end: @escaping @Sendable () -> Void) {
    self.end = Mutex(.call(Calls(addingWaiter, end)))
  }

  /// Creates a token that removes an observer from a list, or that does nothing if `place` is nil.
  init(_ place: (list: ObserverList, number: UInt64)?) {
    end = Mutex(place.map { .removal(from: $0.list, number: $0.number) })
  }

  deinit { invalidate() }

  /// Ends the observation.
  ///
  /// You can call this from any thread, even from the observer itself. A call of the observer that is in progress on
  /// another thread may still finish. Calling this again has no effect.
  public func invalidate() {
    let end = end.withLock { $0.take() }
    switch end {
    case .call(let calls): calls.end()
    case .removal(let list, let number): list.remove(number)
    case nil: break
    }
  }
}

extension KeyValueObservation {
  /// Suspends the task until the observer has been called for all changes so far.
  ///
  /// ```swift
  /// let token = queue.observe(\.operationCount) { queue, _ in print(queue.operationCount) }
  /// queue.addOperation { print("work") }
  /// try await queue.untilAllOperationsAreFinished()
  /// await token.untilDelivered()
  /// ```
  ///
  /// Observers are notified after a change, so a thread or task that has waited for an operation or a queue can
  /// continue before an observer has been called for the end. This function returns immediately if the observation has
  /// ended. It blocks no thread and does not return early when the task is cancelled.
  ///
  /// The observer must not block until this function returns, because it returns after the observer.
  public func untilDelivered() async { await WaiterList.suspend { addWaiter($0) } }

  /// Blocks the calling thread until the observer has been called, as ``untilDelivered()`` suspends the task.
  package func waitUntilDelivered() { WaiterList.block { addWaiter($0) } }

  private func addWaiter(_ waiter: Waiter) -> Bool {
    let end = end.withLock { $0 }
    return switch end {
    case .call(let calls): calls.addingWaiter(waiter)
    case .removal(let list, _): list.addWaiter(waiter)
    case nil: false
    }
  }
}

extension KeyValueObservation: Hashable {
  /// Two tokens are equal when they are the same object.
  ///
  /// - Parameters:
  ///   - left: A token to compare.
  ///   - right: Another token.
  /// - Returns: Whether they are the same object.
  public static func == (left: KeyValueObservation, right: KeyValueObservation) -> Bool { left === right }

  /// Hashes the identity of the object.
  ///
  /// - Parameter hasher: The hasher to feed.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
