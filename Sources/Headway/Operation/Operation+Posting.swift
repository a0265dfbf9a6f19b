extension Operation {
  /// Announces that a property that the subclass overrides is about to change.
  ///
  /// Notifies those observers of the property that asked for ``ObservationOptions/prior``. Otherwise nothing happens
  /// yet: ``didChangeValue(forKey:)`` notifies observers.
  ///
  /// - Parameter key: The name of the property, for instance `isFinished`.
  public final func willChangeValue(forKey key: String) {
    notifyIfObserved(before: ObservedKey(name: key))
  }

  /// Announces that a property that the subclass overrides has changed.
  ///
  /// Observers are notified before it returns (unless another thread is notifying them at this moment, which then
  /// notifies them of this as well). Three properties also move the operation itself on:
  /// - `isExecuting`, now true: the operation is executing.
  /// - `isFinished`, now true: the operation has finished, and all that follows happens: dependents are released, the
  ///   queue is left, the completion block is sent to the pool, observers are notified, and those that wait wake. Later
  ///   announcements change nothing.
  /// - `isReady`: its queue asks again whether it may start.
  ///
  /// - Parameter key: The name of the property, as `isFinished` or as `finished`. For a name that is none of the
  ///   operation's own properties, observers of the subclass's properties are asked to look.
  public final func didChangeValue(forKey key: String) { post(ObservedKey(name: key)) }

  /// Announces that a property that the subclass overrides is about to change.
  ///
  /// As ``willChangeValue(forKey:)``.
  ///
  /// - Parameter keyPath: The property, for instance `\.isFinished`.
  public final func willChangeValue<Value>(for keyPath: KeyPath<Operation, Value>) {
    notifyIfObserved(before: ObservedKey(keyPath, of: Operation.self))
  }

  /// Announces that a property that the subclass overrides has changed.
  ///
  /// As ``didChangeValue(forKey:)``.
  ///
  /// - Parameter keyPath: The property, for instance `\.isFinished`.
  public final func didChangeValue<Value>(for keyPath: KeyPath<Operation, Value>) {
    post(ObservedKey(keyPath, of: Operation.self))
  }

  /// What follows when a subclass has announced a change of its own.
  final func post(_ key: ObservedKey) {
    switch key {
    case .isExecuting:
      let isExecuting = isExecuting
      if isExecuting { state.announceExecuting() }
      notifyIfObserved([ObservedChange(.isExecuting, isExecuting)])
    case .isFinished:
      if isFinished {
        end()  // Which notifies.
      } else {
        notifyIfObserved([ObservedChange(.isFinished, false)])
      }
    case .isReady:
      reconsiderReadiness()
      // As when another operation is added.
      if let queue { queue.askAgain(queue.update { $0.admission.nextHeldBack() }) }
      notifyIfObserved([ObservedChange(.isReady)])
    default:
      notifyIfObserved([ObservedChange(key)])
    }
  }
}
