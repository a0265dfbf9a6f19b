import Synchronization

/// Somebody who is told of the changes of one object.
///
/// All calls come from the thread that tells at that moment; there is one at a time.
protocol Observer: AnyObject, Sendable {
  /// The observation has ended; nothing more is told.
  var hasEnded: Bool { get }
  /// From now on, changes are told.
  ///
  /// - Parameters:
  ///   - object: The object.
  ///   - state: What the observer begins with, if it was taken down when the observer was added; else it reads the
  ///     object.
  func begin(with object: AnyObject, _ state: ObservedChange?)
  /// Something has changed.
  func receive(_ change: ObservedChange, of object: AnyObject)
}

/// The observers of one object, and what they are still to be told.
///
/// Changes wait in a list and are told one after the other by one thread at a time, outside the lock, so every observer
/// hears of them in the same order. A thread that has something to tell while another is telling leaves it to that one:
/// observers may call anything, also what leads to further changes of the same object.
final class ObserverList: Sendable {
  private enum Item {
    case begin(any Observer, ObservedChange?)
    case change(ObservedChange)
    case call(@Sendable () -> Void)
  }

  private struct State {
    var observers: [any Observer] = []
    var items = FirstInFirstOut<Item>()
    var isTelling = false
  }

  // Protected by its lock, under which nothing is called and no other lock is taken.
  private let state = Mutex(State())

  /// Adds an observer, which is told of what is appended from now on.
  ///
  /// - Parameters:
  ///   - observer: The observer.
  ///   - state: What it begins with; needed where changes carry values that are taken down under another lock.
  func add(_ observer: any Observer, _ state: ObservedChange? = nil) { append(.begin(observer, state)) }

  func append(_ change: ObservedChange) { append(.change(change)) }

  /// Calls `body` when everything that was appended before has been told.
  func append(_ body: @escaping @Sendable () -> Void) { append(.call(body)) }

  private func append(_ item: sending Item) { state.withLock { $0.items.append(item) } }

  /// Tells the observers what waits, or leaves it to the thread that is telling.
  func tell(of object: AnyObject) {
    var isTelling = false
    while let (item, observers) = next(&isTelling) {
      switch item {
      case .begin(let observer, let state):
        if !observer.hasEnded { observer.begin(with: object, state) }
      case .change(let change):
        for observer in observers where !observer.hasEnded { observer.receive(change, of: object) }
      case .call(let body):
        body()
      }
    }
  }

  /// The next item and those to tell; nil when there is none, or when another thread is at it.
  private func next(_ isTelling: inout Bool) -> (Item, [any Observer])? {
    let (next, tells) = state.withLock { state -> ((Item, [any Observer])?, Bool) in
      guard isTelling || !state.isTelling else { return (nil, false) }
      guard let item = state.items.popFirst() else {
        state.isTelling = false
        return (nil, false)
      }
      state.isTelling = true
      if case .begin(let observer, _) = item { state.observers.append(observer) }
      return ((item, state.observers), true)
    }
    isTelling = tells
    return next
  }

  /// Lets go of an observer.
  func remove(_ observer: any Observer) {
    let removed = state.withLock { state -> (any Observer)? in
      state.observers.firstIndex { $0 === observer }.map { state.observers.remove(at: $0) }
    }
    _ = removed  // Let go of after the lock is released.
  }

  /// Lets go of all.
  func removeAll() {
    let removed = state.withLock { state in
      defer { state.observers = [] }
      return state.observers
    }
    _ = removed
  }
}
