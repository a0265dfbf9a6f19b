import Synchronization

/// That which is notified of the changes of one object.
///
/// All calls come from the thread that notifies at that moment; there is one at a time.
protocol Observer: AnyObject, Sendable {
  /// The observation has ended: there are no more notifications.
  var hasEnded: Bool { get }
  /// From now on, it is notified of changes.
  ///
  /// - Parameters:
  ///   - object: The object.
  ///   - state: What the observer begins with, if it was taken down when the observer was added; else it reads the
  ///     object.
  func begin(with object: AnyObject, _ state: ObservedChange?)
  /// Something has changed.
  func receive(_ change: ObservedChange, of object: AnyObject)
  /// It wants to hear of changes that are still to come.
  var wantsPrior: Bool { get }
  /// A change has been announced, and is still to come.
  func receivePrior(_ key: ObservedKey, of object: AnyObject)
}

extension Observer {
  var wantsPrior: Bool { false }

  func receivePrior(_ key: ObservedKey, of object: AnyObject) {}
}

/// The observers of one object, and the changes of which they are still to be notified.
///
/// Changes wait in a list, and one thread at a time notifies of one after the other, outside the lock, so every
/// observer hears of them in the same order. A thread that has appended a change while another notifies leaves it to
/// that one: observers may call anything, even what leads to further changes of the same object.
final class ObserverList: Sendable {
  private enum Item {
    case begin(any Observer, ObservedChange?)
    case change(ObservedChange)
    case call(@Sendable () -> Void)
  }

  private struct State {
    var observers: [any Observer] = []
    var items = FirstInFirstOut<Item>()
    var isNotifying = false
    /// An observer that wants to hear of changes to come has been added.
    var tellsPrior = false
  }

  // Protected by its lock, under which nothing is called and no other lock is taken.
  private let state = Guarded(State())

  /// Adds an observer, which is notified of what is appended from now on.
  ///
  /// - Parameters:
  ///   - observer: The observer.
  ///   - state: What it begins with; needed where changes carry values that are taken down under another lock.
  func add(_ observer: any Observer, _ state: ObservedChange? = nil) { append(.begin(observer, state)) }

  func append(_ change: ObservedChange) { append(.change(change)) }

  /// Appends a change that is still to come.
  ///
  /// - Returns: Whether an observer wants to hear of it.
  func append(before key: ObservedKey) -> Bool {
    state.withLock { state in
      if state.tellsPrior { state.items.append(.change(ObservedChange(before: key))) }
      return state.tellsPrior
    }
  }

  /// Calls `body` when the observers have been notified of everything that was appended before.
  func append(_ body: @escaping @Sendable () -> Void) { append(.call(body)) }

  private func append(_ item: Item) { state.withLock { $0.items.append(item) } }

  /// Notifies the observers of what waits, or leaves it to the thread that does so already.
  func notify(of object: AnyObject) {
    guard var next = next(hasTurn: false) else { return }
    NotificationContext.run(notifyingOf: object) {
      while true {
        switch next.item {
        case .begin(let observer, let state):
          if !observer.hasEnded { observer.begin(with: object, state) }
        case .change(let change):
          for observer in next.observers where !observer.hasEnded {
            if change.isPrior {
              observer.receivePrior(change.key, of: object)
            } else {
              observer.receive(change, of: object)
            }
          }
        case .call(let body):
          body()
        }
        guard let following = self.next(hasTurn: true) else { return }
        next = following
      }
    }
  }

  /// Takes the next item.
  ///
  /// - Parameter hasTurn: The calling thread is the one that notifies.
  /// - Returns: The item and those to notify; nil when there is none, or when another thread is at it.
  private func next(hasTurn: Bool) -> (item: Item, observers: [any Observer])? {
    state.withLock { state in
      guard hasTurn || !state.isNotifying else { return nil }
      guard let item = state.items.popFirst() else {
        state.isNotifying = false
        return nil
      }
      state.isNotifying = true
      if case .begin(let observer, _) = item {
        state.observers.append(observer)
        if observer.wantsPrior { state.tellsPrior = true }
      }
      return (item, state.observers)
    }
  }

  /// Removes an observer.
  func remove(_ observer: any Observer) {
    let removed = state.withLock { state -> (any Observer)? in
      state.observers.firstIndex { $0 === observer }.map { state.observers.remove(at: $0) }
    }
    _ = removed  // Released after the lock.
  }

  /// Removes all.
  func removeAll() {
    let removed = state.withLock { state in
      defer { state.observers = [] }
      return state.observers
    }
    _ = removed
  }
}
