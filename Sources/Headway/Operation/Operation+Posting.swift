extension Operation {
  /// Announces that a property that the subclass overrides is about to change.
  ///
  /// Notifies those observers of the property that asked for ``ObservationOptions/prior``. Otherwise nothing happens
  /// yet: ``didChangeValue(forKey:)`` notifies observers.
  ///
  /// - Parameter key: The name of the property, for instance `isFinished`.
  public final func willChangeValue(forKey key: String) { announce(ObservedKey(name: key), named: key) }

  /// Announces that a property that the subclass overrides has changed.
  ///
  /// Observers are notified before it returns, even if the value is the same (unless another thread is notifying them
  /// at this moment, which then notifies them of this as well). Three properties also advance the operation:
  /// - `isExecuting`, now true: the operation is executing.
  /// - `isFinished`, now true: the operation has finished. Its dependents are released, it leaves its queue, its
  ///   completion block is sent to the pool, observers are notified, and those that wait wake. Later announcements
  ///   change nothing.
  /// - `isReady`: its queue asks again whether it may start.
  ///
  /// The same follows for each property that depends on this one, as
  /// ``keyPathsForValuesAffectingValue(forKey:)`` declares.
  ///
  /// A name does not identify a property that a subclass has added. If several such properties are observed, an
  /// observer of one is notified only if its value differs; ``didChangeValue(for:)`` notifies it always.
  ///
  /// - Parameter key: The name of the property, as `isFinished` or as `finished`.
  public final func didChangeValue(forKey key: String) { post(ObservedKey(name: key), named: key) }

  /// Announces that a property that the subclass overrides is about to change.
  ///
  /// As ``willChangeValue(forKey:)``.
  ///
  /// - Parameter keyPath: The property, for instance `\.isFinished`.
  public final func willChangeValue<Value>(for keyPath: KeyPath<Operation, Value>) {
    announce(ObservedKey(keyPath, of: Operation.self))
  }

  /// Announces that a property that the subclass overrides has changed.
  ///
  /// As ``didChangeValue(forKey:)``.
  ///
  /// - Parameter keyPath: The property, for instance `\.isFinished`.
  public final func didChangeValue<Value>(for keyPath: KeyPath<Operation, Value>) {
    post(ObservedKey(keyPath, of: Operation.self))
  }

  /// Notifies the observers that asked for it of a change that a subclass has announced.
  final func announce(_ key: ObservedKey, named name: String? = nil) {
    guard state.current.isObserved else { return }
    notifyIfObserved(before: key)
    for dependent in keysAffected(by: key, named: name) { notifyIfObserved(before: dependent) }
  }

  /// Notifies observers of a change that a subclass has posted, and advances the operation.
  ///
  /// - Parameters:
  ///   - key: What has changed.
  ///   - name: The name, if the change was posted by name.
  final func post(_ key: ObservedKey, named name: String? = nil) {
    post(only: key)
    for dependent in keysAffected(by: key, named: name) { post(only: dependent) }
  }

  /// The base class's properties that depend on `key`; `isFinished` last, since observers are released with the end.
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
        end()  // Which notifies.
      } else {
        notifyIfObserved([ObservedChange(.isFinished, false).posted()])
      }
    case .isReady:
      reconsiderReadiness()
      // As when another operation is added.
      if let queue { queue.reevaluateReadiness(queue.update { $0.admission.nextHeldBack() }) }
      notifyIfObserved([ObservedChange(.isReady).posted()])
    default:
      notifyIfObserved([ObservedChange(key).posted()])
    }
  }
}
