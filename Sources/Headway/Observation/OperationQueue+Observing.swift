import Synchronization

extension OperationQueue {
  /// Who observes.
  ///
  /// Protected by the queue's lock.
  struct Observation {
    var observers = 0
    /// Those for whom the list of operations has to be copied at each change.
    var observersOfOperations = 0
    /// Those who listen to events.
    var listeners = 0
    /// A look whether the queue is stalled is due.
    var isLookingForStall = false
    /// The stall has been told, and nothing has moved since.
    var hasToldStall = false
  }

  /// What an observer wants to hear of.
  enum Interest {
    case value(ObservedKey), events
  }

  final func add(_ observer: any Observer, interest: Interest) -> ObserverList {
    let observers = change(bookingRuns: true) { books in
      books.admission.takeBackRuns()
      let observers = books.observers ?? ObserverList()
      books.observers = observers
      books.observation.count(interest, 1)
      // Under the lock: changes that follow may be in the list before the observer begins.
      observers.add(observer, books.state(for: interest))
      return observers
    }
    observers.tell(of: self)
    lookForStallIfIdle()
    return observers
  }

  final func remove(_ observer: any Observer, from observers: ObserverList, interest: Interest) {
    observers.remove(observer)
    books.withLock { books in
      books.observation.count(interest, -1)
      if books.observation.observers == 0 { books.observers = nil }
    }
  }

  /// Tells the observers of a change that a subclass has announced.
  ///
  /// Called with no lock held.
  final func tell(_ change: ObservedChange) {
    guard let observers = books.withLock({ $0.observers }) else { return }
    observers.append(change)
    observers.tell(of: self)
  }
}

extension OperationQueue.Observation {
  fileprivate mutating func count(_ interest: OperationQueue.Interest, _ change: Int) {
    observers += change
    switch interest {
    case .value(.operations), .value(.own): observersOfOperations += change
    case .value: break
    case .events: listeners += change
    }
  }
}

extension OperationQueue.Books {
  /// What an observer begins with; nil for what is not in the books.
  fileprivate func state(for interest: OperationQueue.Interest) -> ObservedChange? {
    guard case .value(let key) = interest else { return nil }
    return switch key {
    case .operationCount: ObservedChange(key, admission.count)
    case .operations: ObservedChange(key, admission.operations)
    case .maxConcurrentOperationCount: ObservedChange(key, maxConcurrentOperationCount)
    case .isSuspended: ObservedChange(key, admission.isSuspended)
    default: nil
    }
  }
}
