extension Operation {
  /// Announces that a property that the subclass overrides is about to change.
  ///
  /// Nothing happens yet: observers are told by ``didChangeValue(forKey:)``. It stands here so that subclasses written
  /// for key-value observing keep their pairs of calls.
  ///
  /// - Parameter key: The name of the property, for instance `isFinished`.
  public final func willChangeValue(forKey key: String) {}

  /// Announces that a property that the subclass overrides has changed.
  ///
  /// Observers are told before it returns (unless another thread is telling them something at this moment, which then
  /// tells them this as well). Three properties also move the operation itself on:
  /// - `isExecuting`, now true: the operation is executing.
  /// - `isFinished`, now true: the operation has finished, and all that follows happens: dependents are released, the
  ///   queue is left, those who wait wake, the completion block runs. Later announcements change nothing.
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
  public final func willChangeValue<Value>(for keyPath: KeyPath<Operation, Value>) {}

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
      if state.current.isObserved { tell([ObservedChange(.isExecuting, isExecuting)]) }
    case .isFinished:
      if isFinished {
        end()  // Which tells.
      } else if state.current.isObserved {
        tell([ObservedChange(.isFinished, false)])
      }
    case .isReady:
      reconsiderReadiness()
      if state.current.isObserved { tell([ObservedChange(.isReady)]) }
    default:
      if state.current.isObserved { tell([ObservedChange(key)]) }
    }
  }
}
