import Synchronization

extension OperationQueue {
  /// Counts the observers and listeners of a queue.
  ///
  /// Protected by the queue's lock.
  struct Observation {
    var observers = 0
    /// The observers that require a copy of the list of operations at each change.
    var observersOfOperations = 0
    /// The listeners to events.
    var listeners = 0
    /// A check for a stall has been requested.
    var isLookingForStall = false
    /// The stall has been reported, and nothing has changed since.
    var hasReportedStall = false
  }

  /// The changes that an observer must be notified of.
  enum Interest {
    case value(ObservedKey), events

    /// The value that the observer begins with is in the queue's state.
    fileprivate var isCarried: Bool {
      switch self {
      case .value(.own), .value(.unknown): false
      default: true
      }
    }
  }

  /// Adds an observer, in constant time if every block has its operation.
  ///
  /// - Returns: A token that ends the observation when it is released.
  final func token(for observer: Observer, interest: Interest) -> KeyValueObservation {
    let (observers, number) = add(observer, interest)
    return KeyValueObservation(addingWaiter: { [weak observers] in observers?.addWaiter($0) ?? false }) {
      [weak self, weak observer, weak observers] in
      guard let observer, let observers else { return }
      observer.setEnded()
      self?.remove(number, from: observers, interest)
    }
  }

  private func add(_ observer: Observer, _ interest: Interest) -> (ObserverList, number: UInt64) {
    if !interest.isCarried { observer.prepare(with: self) }
    makeOperations()
    let (observers, number) = update(collectingBatches: true) { state in
      state.admission.makeOperations()
      state.admission.reclaimBatches()
      state.admission.batches.forEach { $0.watch() }
      let observers = state.followers.observers ?? ObserverList()
      state.followers.observers = observers
      state.count(interest, 1, of: self)
      // Under the lock, because later changes can be in the list before the observer begins.
      return (observers, observers.add(observer, state.change(for: interest)))
    }
    notify(observers)
    lookForStallIfIdle()
    return (observers, number)
  }

  private func remove(_ number: UInt64, from observers: ObserverList, _ interest: Interest) {
    observers.remove(number)
    state.withLock { state in
      state.count(interest, -1, of: self)
      // The caller also has a reference to the list, so nothing is released under the lock.
      if !state.isObserved { state.followers.observers = nil }
    }
  }

  /// Notifies the observers of a posted change, and of the properties that depend on the changed one.
  ///
  /// Called with no lock held.
  final func post(_ key: ObservedKey, named name: String? = nil) {
    guard let observers = state.withLock({ $0.followers.observers }) else { return }
    observers.append(ObservedChange(key).posted())
    for dependent in keysAffected(by: key, named: name) { observers.append(ObservedChange(dependent).posted()) }
    notify(observers)
  }

  /// Notifies the observers with the option ``KeyValueObservingOptions/prior`` of an announced change that has not
  /// happened yet, and of the properties that depend on it.
  ///
  /// Called with no lock held.
  final func announce(_ key: ObservedKey, named name: String? = nil) {
    guard let observers = state.withLock({ $0.followers.observers }), observers.append(before: key) else { return }
    for dependent in keysAffected(by: key, named: name) { _ = observers.append(before: dependent) }
    notify(observers)
  }

  /// Notifies the observers of the changes in their list.
  ///
  /// If another thread is already notifying them, leaves it to that thread.
  final func notify(_ observers: ObserverList) { ReportScope.run(for: self) { observers.notify(of: self) } }

  private final func keysAffected(by key: ObservedKey, named name: String?) -> [ObservedKey] {
    DependentKeys(pathsAffecting: type(of: self).keyPathsForValuesAffectingValue(forKey:)).keys(
      of: [.operations, .operationCount, .maxConcurrentOperationCount, .isSuspended, .name],
      affectedBy: key, named: name)
  }
}

extension QueueState {
  fileprivate mutating func count(_ interest: OperationQueue.Interest, _ change: Int, of queue: OperationQueue) {
    followers.observation.observers += change
    switch interest {
    case .value(.operations), .value(.own): followers.observation.observersOfOperations += change
    case .value: break
    case .events: countListeners(change, of: queue)
    }
    setFollowing(.observers, followers.observation.observers > 0, of: queue)
  }

  mutating func countListeners(_ change: Int, of queue: OperationQueue) {
    followers.observation.listeners += change
    setFollowing(.events, followers.observation.listeners > 0, of: queue)
  }

  /// Returns the value that an observer begins with; nil if it is not in the queue's state.
  fileprivate mutating func change(for interest: OperationQueue.Interest) -> ObservedChange? {
    guard case .value(let key) = interest else { return nil }
    return switch key {
    case .operationCount: ObservedChange(key, admission.count)
    case .operations: ObservedChange(key, admission.operations)
    case .maxConcurrentOperationCount: ObservedChange(key, maxConcurrentOperationCount)
    case .isSuspended: ObservedChange(key, admission.isSuspended)
    // The absence of a name is also a value.
    case .name: ObservedChange(key, name as any Sendable)
    default: nil
    }
  }
}
