/// An object whose properties can be observed by key path: ``Operation`` and ``OperationQueue``.
///
/// ```swift
/// let token = operation.observe(\.isFinished, options: [.initial, .new]) { operation, change in
///   print(operation, change.newValue == true ? "is done" : "goes on")
/// }
/// ```
///
/// Observers are notified of each change once, in order, after the property has changed, on the thread that changed it,
/// with no lock held. They can call anything and can even wait for the operation that they observe. They delay neither
/// its dependents nor its queue: when an operation finishes, it releases its dependents and leaves its queue before its
/// observers are notified. While one thread notifies the observers of an object, it also notifies them of changes that
/// other threads make to it. An observer with the option ``KeyValueObservingOptions/prior`` is called once more before
/// each change.
public protocol KeyValueObservable: AnyObject, Sendable {}

extension Operation: KeyValueObservable {}

extension OperationQueue: KeyValueObservable {}

extension KeyValueObservable where Self: Operation {
  /// Calls `changeHandler` when a property of the operation changes.
  ///
  /// You can observe `isCancelled`, `isAsynchronous`, `isExecuting`, `isFinished`, `isReady`, `dependencies`,
  /// `queuePriority` and `completionBlock`. Observers are notified of a value that equals the last value only if a
  /// subclass posts it, or if it overrides `isReady` and its dependencies have finished. The operation releases its
  /// observers once it has finished and they have been notified.
  ///
  /// - Parameters:
  ///   - keyPath: The property to observe.
  ///   - options: The values that a change carries, and whether to call `changeHandler` once at the beginning. The call
  ///     at the beginning occurs before `observe` returns, unless another thread is notifying observers of this
  ///     operation at that moment; then that thread makes the call.
  ///   - changeHandler: The closure to call, on the thread that made the change.
  /// - Returns: A token that ends the observation when it is released.
  public func observe<Value>(
    _ keyPath: KeyPath<Operation, Value>, options: KeyValueObservingOptions = [],
    changeHandler: @escaping @Sendable (Self, KeyValueObservedChange<Value>) -> Void
  ) -> KeyValueObservation {
    let key = ObservedKey(keyPath, of: Operation.self)
    let handler = ChangeHandler(call: changeHandler)
    if Value.self == Bool.self {
      let keyPath = unsafeDowncast(keyPath, to: KeyPath<Operation, Bool>.self)
      return KeyValueObservation(add(FlagObserver(key, keyPath, options, handler.unchecked())))
    }
    return KeyValueObservation(add(KeyPathObserver(key, keyPath, options, handler.unchecked())))
  }

  /// Calls `changeHandler` when a property that a subclass has added changes.
  ///
  /// The subclass posts the changes. Otherwise, this is the same as observing the operation's other properties.
  ///
  /// - Parameters:
  ///   - keyPath: The property to observe.
  ///   - options: The values that a change carries, and whether to call `changeHandler` once at the beginning.
  ///   - changeHandler: The closure to call, on the thread that made the change.
  /// - Returns: A token that ends the observation when it is released.
  @_disfavoredOverload
  public func observe<Value>(
    _ keyPath: KeyPath<Self, Value>, options: KeyValueObservingOptions = [],
    changeHandler: @escaping @Sendable (Self, KeyValueObservedChange<Value>) -> Void
  ) -> KeyValueObservation {
    let handler = ChangeHandler(call: changeHandler)
    return KeyValueObservation(
      add(KeyPathObserver(ObservedKey(keyPath, of: Self.self), keyPath, options, handler.unchecked())))
  }

  /// Announces that a property that the subclass has added is about to change.
  ///
  /// Notifies the observers of the property that have the option ``KeyValueObservingOptions/prior``.
  ///
  /// - Parameter keyPath: The property that is about to change.
  public func willChangeValue<Value>(for keyPath: KeyPath<Self, Value>) {
    announce(ObservedKey(keyPath, of: Self.self))
  }

  /// Announces that a property that the subclass has added has changed, and notifies its observers.
  ///
  /// Observers are notified even if the value is the same.
  ///
  /// - Parameter keyPath: The property that has changed.
  public func didChangeValue<Value>(for keyPath: KeyPath<Self, Value>) { post(ObservedKey(keyPath, of: Self.self)) }
}

extension KeyValueObservable where Self: OperationQueue {
  /// Calls `changeHandler` when a property of the queue changes.
  ///
  /// You can observe `operations`, `operationCount`, `maxConcurrentOperationCount`, `isSuspended`, `name`, and the
  /// properties of a subclass that posts their changes. Observers are notified of a value that equals the last value
  /// only if it is posted.
  ///
  /// - Parameters:
  ///   - keyPath: The property to observe.
  ///   - options: The values that a change carries, and whether to call `changeHandler` once at the beginning. The call
  ///     at the beginning occurs before `observe` returns, unless another thread is notifying observers of this queue
  ///     at that moment; then that thread makes the call.
  ///   - changeHandler: The closure to call, on the thread that made the change.
  /// - Returns: A token that ends the observation when it is released.
  /// - Complexity: While `operations` is observed, each change costs O(*n*) in the number of operations. Prefer
  ///   `operationCount`.
  public func observe<Value>(
    _ keyPath: KeyPath<Self, Value>, options: KeyValueObservingOptions = [],
    changeHandler: @escaping @Sendable (Self, KeyValueObservedChange<Value>) -> Void
  ) -> KeyValueObservation {
    let key = ObservedKey(keyPath, of: Self.self)
    let handler = ChangeHandler(call: changeHandler)
    return token(for: KeyPathObserver(key, keyPath, options, handler.unchecked()), interest: .value(key))
  }

  /// Announces that a property that the subclass has added is about to change.
  ///
  /// Notifies the observers of the property that have the option ``KeyValueObservingOptions/prior``.
  ///
  /// - Parameter keyPath: The property that is about to change.
  public func willChangeValue<Value>(for keyPath: KeyPath<Self, Value>) {
    announce(ObservedKey(keyPath, of: Self.self))
  }

  /// Announces that a property that the subclass has added has changed, and notifies its observers.
  ///
  /// Observers are notified even if the value is the same.
  ///
  /// - Parameter keyPath: The property that has changed.
  public func didChangeValue<Value>(for keyPath: KeyPath<Self, Value>) { post(ObservedKey(keyPath, of: Self.self)) }

  /// Announces that a property is about to change.
  ///
  /// Works like `willChangeValue(for:)`.
  ///
  /// - Parameter key: The name of the property, for instance `isSuspended`.
  public func willChangeValue(forKey key: String) { announce(ObservedKey(name: key), named: key) }

  /// Announces that a property has changed.
  ///
  /// Notifies the observers of this property and of its dependent properties.
  ///
  /// A name does not identify a property that a subclass has added. If several such properties are observed, an
  /// observer of one is notified only if its value differs. `didChangeValue(for:)` always notifies it.
  ///
  /// - Parameter key: The name of the property, for instance `isSuspended`.
  public func didChangeValue(forKey key: String) { post(ObservedKey(name: key), named: key) }
}
