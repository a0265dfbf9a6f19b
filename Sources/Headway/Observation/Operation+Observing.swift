import Synchronization

extension Operation {
  /// Adds an observer.
  ///
  /// - Returns: The list in which it is, and its number there; or nil when the operation has finished: then the
  ///   observer has been notified of the last state, and that was all.
  final func add(_ observer: any Observer) -> (list: ObserverList, number: UInt64)? {
    // Announced before the observer reads the state: a change is in what it reads, or it is notified of it, or both,
    // and the same value comes once.
    let word = state.announceObserver(skipsStart: observer.skipsStart)
    observer.prepare(with: self)
    let observers = links.withLock { links -> ObserverList? in
      guard word.phase != .finished, !links.isClosed else { return nil }
      if let observers = links.details?.observers { return observers }
      let made = ObserverList(of: self)
      links.detailsCreatedIfNeeded.observers = made
      return made
    }
    guard let observers else {
      observer.begin(with: self, nil)
      return nil
    }
    return (observers, observers.add(observer, beginningWith: self))
  }

  /// Releases the observers of an operation that is freed: their tokens know the list.
  final func removeObservers() {
    if state.current.isObserved { links.withLock { $0.details?.observers }?.operationIsFreed() }
  }

  /// Notifies the observers, if there are any, of changes that have happened.
  ///
  /// Called with no lock held.
  final func notifyIfObserved(_ changes: @autoclosure () -> [ObservedChange]) {
    if state.current.isObserved { notify(changes()) }
  }

  /// Notifies those observers that want to hear of it of a change that is still to come.
  ///
  /// Called with no lock held.
  final func notifyIfObserved(before key: @autoclosure () -> ObservedKey) {
    guard state.current.isObserved, let observers = links.withLock({ $0.details?.observers }) else { return }
    if observers.append(before: key()) { observers.notify(of: self) }
  }

  /// Notifies the observers of changes that have happened.
  ///
  /// Called with no lock held.
  final func notify(_ changes: [ObservedChange]) {
    guard let observers = links.withLock({ $0.details?.observers }) else { return }
    observers.notify(of: self) { changes.forEach($0) }
  }
}
