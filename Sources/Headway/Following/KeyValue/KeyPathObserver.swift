/// A function that an observer calls for each change of an object.
struct ChangeHandler<Object: AnyObject, Value>: Sendable {
  let call: @Sendable (Object, KeyValueObservedChange<Value>) -> Void

  /// Returns the same function, as a function of any object.
  ///
  /// `Other` must be the same type as `Value`, and the caller of the result must pass an object of class `Object`. All
  /// references are passed in the same way, regardless of the class.
  func unchecked<Other>() -> ChangeHandler<AnyObject, Other> {
    unsafeBitCast(self, to: ChangeHandler<AnyObject, Other>.self)
  }
}

/// An observer of one property.
class KeyPathObserver<Root: AnyObject, Value>: Observer, @unchecked Sendable {
  // `last`, `first`, `hasExecuted` and `hasNotifiedOfPrior` belong to the thread that adds the observer, then to the
  // notifying thread. The list of observers passes that role on under its lock, so Swift does not need to check at each
  // access that the access is exclusive. A key path never changes.

  private let key: ObservedKey
  private let options: KeyValueObservingOptions
  private let handler: ChangeHandler<AnyObject, Value>
  private let keyPath: KeyPath<Root, Value>
  @exclusivity(unchecked) private final var last: Value?
  /// The value that the observer begins with; nil once it has begun.
  @exclusivity(unchecked) private final var first: Value?
  /// The operation stopped executing before this observer began.
  @exclusivity(unchecked) private final var hasExecuted = false
  /// The observer has been notified that a change will follow, but not yet of the change.
  @exclusivity(unchecked) private final var hasNotifiedOfPrior = false

  /// Creates an observer of the property with the given key.
  ///
  /// - Parameters:
  ///   - key: The key of `keyPath`.
  ///   - keyPath: The property to observe. Its root is the class of the observed object, or a superclass of that class.
  ///   - options: The values that a change carries, and when to call `handler`.
  ///   - handler: The function to call for each change.
  init(
    _ key: ObservedKey, _ keyPath: KeyPath<Root, Value>, _ options: KeyValueObservingOptions,
    _ handler: ChangeHandler<AnyObject, Value>
  ) {
    self.key = key
    self.keyPath = keyPath
    self.options = options
    self.handler = handler
    super.init(of: key.affectingKeys)
  }

  override final var observesDependencies: Bool { key == .dependencies }

  override final var wantsPrior: Bool { options.contains(.prior) }

  override final var ownKey: ObservedKey? { if case .own = key { key } else { nil } }

  override final var skipsStart: Bool {
    switch key {
    case .isFinished, .isCancelled, .isAsynchronous, .dependencies, .queuePriority, .completionBlock: true
    default: false
    }
  }

  override func prepare(with object: AnyObject) { last = value(of: object) }

  override func takeDown(_ object: AnyObject) { first = value(of: object) }

  override func begin(with object: AnyObject, _ state: ObservedChange?) {
    if let state, let carried = carriedValue(of: state) { return begin(with: object, carried) }
    let now = first ?? value(of: object)
    first = nil
    // If values can't be compared, the observer is notified of each change. The current value includes earlier ones.
    guard let last, isEqual(last, now) == false else { return begin(with: object, now) }
    begin(with: object, last)
    guard !hasEnded else { return }
    noteEndOfExecution(from: last, to: now)
    notify(object, of: now, after: last)
  }

  private func begin(with object: AnyObject, _ first: Value) {
    last = first
    if options.contains(.initial) { notify(object, new: first, old: nil) }
  }

  override func receive(_ change: ObservedChange, of object: AnyObject) {
    if case .own = key, case .own = change.key, change.key != key { return }
    // An operation executes once. The observer has already been notified that this execution ended.
    if hasExecuted, change.key == .isExecuting, change.flag == true { return }
    let new = carriedValue(of: change) ?? value(of: object)
    let old = last
    let isPosted = change.isPosted && change.key == key
    if !isPosted, let old, isEqual(old, new) ?? (change.key != key && change.key != .unknown) {
      // If this change was announced but the value is the same, the announcement has no further effect.
      if change.key == key { hasNotifiedOfPrior = false }
      return
    }
    notify(object, of: new, after: old)
  }

  /// Records that an operation has stopped executing, although the change that reports its start is still in the list.
  private func noteEndOfExecution(from old: Value, to new: Value) {
    guard key == .isExecuting, let old = old as? Bool, let new = new as? Bool else { return }
    hasExecuted = old && !new
  }

  private func notify(_ object: AnyObject, of new: Value, after old: Value?) {
    if wantsPrior, !hasNotifiedOfPrior { notifyOfPrior(object) }
    hasNotifiedOfPrior = false
    last = new
    notify(object, new: new, old: old)
  }

  override final func receivePrior(_ key: ObservedKey, of object: AnyObject) {
    guard wantsPrior, key == self.key, !hasNotifiedOfPrior else { return }
    hasNotifiedOfPrior = true
    notifyOfPrior(object)
  }

  /// Whether the property is a Boolean value.
  ///
  /// Such a value is read without the work that the runtime does for values of any type.
  private var hasFlags: Bool { Value.self == Bool.self }

  private func value(of object: AnyObject) -> Value {
    if hasFlags, let flag = flag(of: object) { return unsafeBitCast(flag, to: Value.self) }
    return unsafeDowncast(object, to: Root.self)[keyPath: keyPath]
  }

  /// The value that the key path would return, for the properties that are observed most often.
  private func flag(of object: AnyObject) -> Bool? {
    switch key {
    case .isFinished: unsafeDowncast(object, to: Operation.self).isFinished
    case .isExecuting: unsafeDowncast(object, to: Operation.self).isExecuting
    case .isCancelled: unsafeDowncast(object, to: Operation.self).isCancelled
    default: nil
    }
  }

  /// The value that the change carries, if it is a change of this property.
  private func carriedValue(of change: ObservedChange) -> Value? {
    guard change.key == key else { return nil }
    if hasFlags, let flag = change.flag { return unsafeBitCast(flag, to: Value.self) }
    return change.value.flatMap { $0 as? Value }
  }

  /// Whether two values are equal; nil if such values can't be compared.
  private func isEqual(_ one: Value, _ other: Value) -> Bool? {
    if hasFlags { return unsafeBitCast(one, to: Bool.self) == unsafeBitCast(other, to: Bool.self) }
    guard let one = one as? any Equatable else { return nil }
    func compare<Comparable: Equatable>(_ one: Comparable) -> Bool { one == other as? Comparable }
    return compare(one)
  }

  private func notify(_ object: AnyObject, new: Value, old: Value?) {
    handler.call(
      object,
      KeyValueObservedChange(
        kind: .setting, newValue: options.contains(.new) ? new : nil, oldValue: options.contains(.old) ? old : nil,
        isPrior: false))
  }

  private func notifyOfPrior(_ object: AnyObject) {
    handler.call(
      object,
      KeyValueObservedChange(
        kind: .setting, newValue: nil, oldValue: options.contains(.old) ? last : nil, isPrior: true))
  }
}

/// An observer of a Boolean property of an operation.
///
/// These properties are observed most often. The methods of this class are compiled for these types. Generic code would
/// look up the metadata of its types at each call.
final class FlagObserver: KeyPathObserver<Operation, Bool>, @unchecked Sendable {
  override func prepare(with object: AnyObject) { super.prepare(with: object) }

  override func takeDown(_ object: AnyObject) { super.takeDown(object) }

  override func begin(with object: AnyObject, _ state: ObservedChange?) { super.begin(with: object, state) }

  override func receive(_ change: ObservedChange, of object: AnyObject) { super.receive(change, of: object) }
}
