/// An object whose properties can be observed by key path: ``Operation`` and ``OperationQueue``.
///
/// ```swift
/// let token = operation.observe(\.isFinished, options: [.initial, .new]) { operation, change in
///   print(operation, change.newValue == true ? "is done" : "goes on")
/// }
/// ```
///
/// Observers are notified in order, of each change once, after it is true, on the thread that made it, with no lock
/// held. They may call anything, even wait for the operation that they observe, and hold up neither what depends on it
/// nor its queue: when an operation finishes, it releases its dependents and leaves its queue before its observers are
/// notified. While one thread notifies observers of an object, it also notifies them of changes that other threads make
/// to it. An observer that asks for ``ObservationOptions/prior`` is called once more before each.
public protocol KeyValueObservable: AnyObject, Sendable {}

extension Operation: KeyValueObservable {}

extension OperationQueue: KeyValueObservable {}

extension KeyValueObservable where Self: Operation {
  /// Calls `changeHandler` when a property of the operation changes.
  ///
  /// Observable are `isCancelled`, `isAsynchronous`, `isExecuting`, `isFinished`, `isReady`, `dependencies`,
  /// `queuePriority` and `completionBlock`. Observers are notified of a value that equals the last one only
  /// if a subclass posts it, or overrides `isReady` and its dependencies have finished. The operation releases its
  /// observers once it has finished and they have been notified.
  ///
  /// - Parameters:
  ///   - keyPath: The property.
  ///   - options: Which values come with a change, and whether to call once at the beginning. A call at the beginning
  ///     is made before `observe` returns, unless another thread is notifying observers of this operation at this
  ///     moment; then that thread makes it.
  ///   - changeHandler: What to call, on the thread that made the change.
  /// - Returns: A token that ends the observation when it is released.
  public func observe<Value>(
    _ keyPath: KeyPath<Operation, Value>, options: ObservationOptions = [],
    changeHandler: @escaping @Sendable (Self, ObservedValueChange<Value>) -> Void
  ) -> ObservationToken {
    let key = ObservedKey(keyPath, of: Operation.self)
    return ObservationToken(add(KeyPathObserver(key, keyPath, options, changeHandler)))
  }

  /// Calls `changeHandler` when a property that a subclass has added changes.
  ///
  /// As for the other properties; the subclass posts the changes.
  ///
  /// - Parameters:
  ///   - keyPath: The property.
  ///   - options: Which values come with a change, and whether to call once at the beginning.
  ///   - changeHandler: What to call, on the thread that made the change.
  /// - Returns: A token that ends the observation when it is released.
  @_disfavoredOverload
  public func observe<Value>(
    _ keyPath: KeyPath<Self, Value>, options: ObservationOptions = [],
    changeHandler: @escaping @Sendable (Self, ObservedValueChange<Value>) -> Void
  ) -> ObservationToken {
    let key = ObservedKey(keyPath, of: Self.self)
    return ObservationToken(add(KeyPathObserver(key, keyPath, options, changeHandler)))
  }

  /// Announces that a property that the subclass has added is about to change.
  ///
  /// Notifies those of its observers that asked for ``ObservationOptions/prior``.
  ///
  /// - Parameter keyPath: The property.
  public func willChangeValue<Value>(for keyPath: KeyPath<Self, Value>) {
    announce(ObservedKey(keyPath, of: Self.self))
  }

  /// Announces that a property that the subclass has added has changed, and notifies its observers.
  ///
  /// They are notified even if the value is the same.
  ///
  /// - Parameter keyPath: The property.
  public func didChangeValue<Value>(for keyPath: KeyPath<Self, Value>) { post(ObservedKey(keyPath, of: Self.self)) }
}

extension KeyValueObservable where Self: OperationQueue {
  /// Calls `changeHandler` when a property of the queue changes.
  ///
  /// Observable are `operations`, `operationCount`, `maxConcurrentOperationCount`, `isSuspended`, `name`, and those
  /// properties of a subclass whose changes it posts. Observers are notified of a value that equals the last one only
  /// if it is posted.
  ///
  /// - Parameters:
  ///   - keyPath: The property.
  ///   - options: Which values come with a change, and whether to call once at the beginning. A call at the beginning
  ///     is made before `observe` returns, unless another thread is notifying observers of this queue at this moment;
  ///     then that thread makes it.
  ///   - changeHandler: What to call, on the thread that made the change.
  /// - Returns: A token that ends the observation when it is released.
  /// - Complexity: While `operations` is observed each change costs O(*n*) in the number of operations; prefer
  ///   `operationCount`.
  public func observe<Value>(
    _ keyPath: KeyPath<Self, Value>, options: ObservationOptions = [],
    changeHandler: @escaping @Sendable (Self, ObservedValueChange<Value>) -> Void
  ) -> ObservationToken {
    let key = ObservedKey(keyPath, of: Self.self)
    return token(for: KeyPathObserver(key, keyPath, options, changeHandler), interest: .value(key))
  }

  /// Announces that a property that the subclass has added is about to change.
  ///
  /// Notifies those of its observers that asked for ``ObservationOptions/prior``.
  ///
  /// - Parameter keyPath: The property.
  public func willChangeValue<Value>(for keyPath: KeyPath<Self, Value>) {
    announce(ObservedKey(keyPath, of: Self.self))
  }

  /// Announces that a property that the subclass has added has changed, and notifies its observers.
  ///
  /// They are notified even if the value is the same.
  ///
  /// - Parameter keyPath: The property.
  public func didChangeValue<Value>(for keyPath: KeyPath<Self, Value>) { post(ObservedKey(keyPath, of: Self.self)) }

  /// Announces that a property is about to change.
  ///
  /// As `willChangeValue(for:)`.
  ///
  /// - Parameter key: The name of the property, for instance `isSuspended`.
  public func willChangeValue(forKey key: String) { announce(ObservedKey(name: key), named: key) }

  /// Announces that a property has changed, and notifies the observers of it and of what depends on it.
  ///
  /// A name does not identify a property that a subclass has added. If several such properties are observed, an
  /// observer of one is notified only if its value differs; `didChangeValue(for:)` notifies it always.
  ///
  /// - Parameter key: The name of the property, for instance `isSuspended`.
  public func didChangeValue(forKey key: String) { post(ObservedKey(name: key), named: key) }
}
