import Synchronization

extension Operation {
  /// Adds an observer.
  ///
  /// - Returns: The list in which it stands, or nil when the operation has finished: then the observer has been told
  ///   the last state, and that was all.
  final func add(_ observer: any Observer) -> ObserverList? {
    // Announced before the observer reads the state: a change is in what it reads, or is told, or both, and the same
    // value is not told twice.
    let word = state.announceObserver()
    let observers = links.withLock { links -> ObserverList? in
      guard word.phase != .finished, !links.isClosed else { return nil }
      if let observers = links.details?.observers { return observers }
      let made = ObserverList()
      links.madeDetails.observers = made
      return made
    }
    guard let observers else {
      observer.begin(with: self, nil)
      return nil
    }
    observers.add(observer)
    observers.tell(of: self)
    return observers
  }

  /// Tells the observers of changes that have happened.
  ///
  /// Called with no lock held.
  final func tell(_ changes: [ObservedChange]) {
    guard let observers = links.withLock({ $0.details?.observers }) else { return }
    for change in changes { observers.append(change) }
    observers.tell(of: self)
  }
}
