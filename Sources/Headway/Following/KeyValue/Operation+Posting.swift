extension Operation {
  /// Announces that a property that the subclass overrides is about to change.
  ///
  /// Notifies the observers of the property that requested ``KeyValueObservingOptions/prior``. Other observers are
  /// notified by ``didChangeValue(forKey:)``.
  ///
  /// - Parameter key: The name of the property, for instance `isFinished`.
  public final func willChangeValue(forKey key: String) { announce(ObservedKey(name: key), named: key) }

  /// Announces that a property that the subclass overrides has changed.
  ///
  /// Observers are notified before this method returns, even if the value is the same. If another thread is notifying
  /// them at this moment, that thread also delivers this change. Three properties also advance the operation:
  /// - `isExecuting`, now true: The operation is executing.
  /// - `isFinished`, now true: The operation has finished. Its dependents no longer wait for it, it leaves its queue,
  ///   its completion block is sent to the pool, observers are notified, and waiting threads and tasks wake. Later
  ///   announcements have no effect.
  /// - `isReady`: The queue evaluates again whether the operation can start.
  ///
  /// The same happens for each property that depends on this one, as declared by
  /// ``keyPathsForValuesAffectingValue(forKey:)``.
  ///
  /// A name does not identify a property that a subclass has added. If several such properties are observed, an
  /// observer of one is notified only if its value differs. ``didChangeValue(for:)`` always notifies it.
  ///
  /// - Parameter key: The name of the property, for instance `isFinished` or `finished`.
  public final func didChangeValue(forKey key: String) { post(ObservedKey(name: key), named: key) }

  /// Announces that a property that the subclass overrides is about to change.
  ///
  /// Has the same effect as ``willChangeValue(forKey:)``.
  ///
  /// - Parameter keyPath: The property, for instance `\.isFinished`.
  public final func willChangeValue<Value>(for keyPath: KeyPath<Operation, Value>) {
    announce(ObservedKey(keyPath, of: Operation.self))
  }

  /// Announces that a property that the subclass overrides has changed.
  ///
  /// Has the same effect as ``didChangeValue(forKey:)``.
  ///
  /// - Parameter keyPath: The property, for instance `\.isFinished`.
  public final func didChangeValue<Value>(for keyPath: KeyPath<Operation, Value>) {
    post(ObservedKey(keyPath, of: Operation.self))
  }

  /// Notifies the observers that requested prior notification of a change that a subclass has announced.
  final func announce(_ key: ObservedKey, named name: String? = nil) {
    guard state.current.isObserved else { return }
    notifyIfObserved(before: key)
    for dependent in keysAffected(by: key, named: name) { notifyIfObserved(before: dependent) }
  }

  /// Notifies observers of a change that a subclass has posted, and advances the operation.
  ///
  /// - Parameters:
  ///   - key: The property that has changed.
  ///   - name: The name of the property, if the change was posted by name.
  final func post(_ key: ObservedKey, named name: String? = nil) {
    post(only: key)
    for dependent in keysAffected(by: key, named: name) { post(only: dependent) }
  }

  /// The properties of the base class that depend on `key`.
  ///
  /// The last property is `isFinished`, because observers are released when the operation ends.
  private final func keysAffected(by key: ObservedKey, named name: String?) -> [ObservedKey] {
    let type = type(of: self)
    guard OperationOverrides.hasDependentKeys(type) else { return [] }
    return DependentKeys(pathsAffecting: type.keyPathsForValuesAffectingValue(forKey:)).keys(
      of: [
        .isReady, .isExecuting, .isCancelled, .isAsynchronous, .dependencies, .queuePriority, .completionBlock, .name,
        .isFinished,
      ], affectedBy: key, named: name)
  }

  private final func post(only key: ObservedKey) {
    switch key {
    case .isExecuting:
      let isExecuting = isExecuting
      if isExecuting { state.announceExecuting() }
      notifyIfObserved([ObservedChange(.isExecuting, isExecuting).posted()])
    case .isFinished:
      if isFinished {
        end()  // This notifies the observers.
      } else {
        notifyIfObserved([ObservedChange(.isFinished, false).posted()])
      }
    case .isReady:
      reconsiderReadiness()
      // Evaluates other operations that hold themselves back, as when an operation is added.
      if let queue { queue.reevaluateReadiness(queue.update { $0.admission.nextHeldBack() }) }
      notifyIfObserved([ObservedChange(.isReady).posted()])
    default:
      notifyIfObserved([ObservedChange(key).posted()])
    }
  }
}
