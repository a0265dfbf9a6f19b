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
    /// The queue is to be looked at for a stall.
    var isLookingForStall = false
    /// The stall has been reported, and nothing has moved since.
    var hasReportedStall = false
  }

  /// What an observer wants to hear of.
  enum Interest {
    case value(ObservedKey), events

    /// What the observer begins with is in the queue's state.
    fileprivate var isCarried: Bool {
      switch self {
      case .value(.own), .value(.unknown): false
      default: true
      }
    }
  }

  final func add(_ observer: any Observer, interest: Interest) -> ObserverList {
    if !interest.isCarried { observer.prepare(with: self) }
    let observers = update(collectingBatches: true) { state in
      state.admission.reclaimBatches()
      state.admission.batches.forEach { $0.watch() }
      let observers = state.observers ?? ObserverList()
      state.observers = observers
      state.observation.count(interest, 1)
      // Under the lock: changes that follow may be in the list before the observer begins.
      observers.add(observer, state.change(for: interest))
      return observers
    }
    observers.notify(of: self)
    lookForStallIfIdle()
    return observers
  }

  final func remove(_ observer: any Observer, from observers: ObserverList, interest: Interest) {
    observers.remove(observer)
    state.withLock { state in
      state.observation.count(interest, -1)
      // The caller has it, too: nothing is dropped under the lock.
      if state.observation.observers == 0 { state.observers = nil }
    }
  }

  /// Notifies the observers of a change that was posted, and of what depends on it.
  ///
  /// Called with no lock held.
  final func post(_ key: ObservedKey, named name: String? = nil) {
    guard let observers = state.withLock({ $0.observers }) else { return }
    observers.append(ObservedChange(key).posted())
    for dependent in keysAffected(by: key, named: name) { observers.append(ObservedChange(dependent).posted()) }
    observers.notify(of: self)
  }

  /// Notifies the observers that asked for it of a change that is still to come, and of what depends on it.
  ///
  /// Called with no lock held.
  final func announce(_ key: ObservedKey, named name: String? = nil) {
    guard let observers = state.withLock({ $0.observers }), observers.append(before: key) else { return }
    for dependent in keysAffected(by: key, named: name) { _ = observers.append(before: dependent) }
    observers.notify(of: self)
  }

  private final func keysAffected(by key: ObservedKey, named name: String?) -> [ObservedKey] {
    DependentKeys(pathsAffecting: type(of: self).keyPathsForValuesAffectingValue(forKey:)).keys(
      of: [.operations, .operationCount, .maxConcurrentOperationCount, .isSuspended, .name],
      affectedBy: key, named: name)
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

extension QueueState {
  /// What an observer begins with; nil for what is not here.
  fileprivate func change(for interest: OperationQueue.Interest) -> ObservedChange? {
    guard case .value(let key) = interest else { return nil }
    return switch key {
    case .operationCount: ObservedChange(key, admission.count)
    case .operations: ObservedChange(key, admission.operations)
    case .maxConcurrentOperationCount: ObservedChange(key, maxConcurrentOperationCount)
    case .isSuspended: ObservedChange(key, admission.isSuspended)
    // No name is a value, too.
    case .name: ObservedChange(key, name as any Sendable)
    default: nil
    }
  }
}
