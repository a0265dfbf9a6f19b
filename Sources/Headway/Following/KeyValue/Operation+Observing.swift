import Synchronization

extension Operation {
  /// Adds an observer.
  ///
  /// - Returns: The list that contains the observer, and its number there; nil if the operation has finished. In that
  ///   case, the observer has been notified of the final state, and is not notified again.
  final func add(_ observer: Observer) -> (list: ObserverList, number: UInt64)? {
    // Announce the observer before it reads the state. Then each change is in the state that it reads, or the observer
    // is notified of it, or both. In the last case, the equal value is not reported twice.
    let word = state.announceObserver(skipsStart: observer.skipsStart)
    observer.prepare(with: self)
    let observers = links.withLock { links -> ObserverList? in
      guard word.phase != .finished, !links.isClosed else { return nil }
      if let observers = links.observers { return observers }
      let made = ObserverList(of: self)
      links.observers = made
      return made
    }
    guard let observers else {
      observer.begin(with: self, nil)
      return nil
    }
    return (observers, observers.add(observer, beginningWith: self))
  }

  /// Releases the observers of an operation that is about to be freed.
  ///
  /// Their tokens still refer to the list.
  final func removeObservers() {
    if state.current.isObserved { links.withLock { $0.observers }?.operationIsFreed() }
  }

  /// Notifies the observers with the option ``KeyValueObservingOptions/prior`` of an announced change that has not
  /// happened yet.
  ///
  /// Called with no lock held.
  final func notifyIfObserved(before key: @autoclosure () -> ObservedKey) {
    guard state.current.isObserved else { return }
    guard let observers = links.withLock({ $0.observers }) else { return }
    if observers.append(before: key()) { observers.notify(of: self) }
  }

  /// Notifies the observers of changes that have happened.
  ///
  /// Called with no lock held.
  final func notify(_ changes: [ObservedChange]) {
    guard let observers = links.withLock({ $0.observers }) else { return }
    observers.notify(of: self) { changes.forEach($0) }
  }
}
