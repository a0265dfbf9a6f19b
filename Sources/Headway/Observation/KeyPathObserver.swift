import Synchronization

/// Of what an observer is notified, and when.
public struct ObservationOptions: OptionSet, Sendable {
  /// The bits.
  public let rawValue: UInt

  /// Creates a set from its bits.
  ///
  /// - Parameter rawValue: The bits.
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// The new value comes with each change.
  public static let new = ObservationOptions(rawValue: 1)
  /// The value before comes with each change.
  public static let old = ObservationOptions(rawValue: 2)
  /// The observer is called once at the beginning, with the value as it is then.
  public static let initial = ObservationOptions(rawValue: 4)
}

/// One change of an observed property.
public struct ObservedValueChange<Value> {
  /// What the property is now, if ``ObservationOptions/new`` was asked for.
  public let newValue: Value?
  /// What it was when this observer was last notified, if ``ObservationOptions/old`` was asked for; nil at the
  /// beginning.
  public let oldValue: Value?
}

extension ObservedValueChange: Sendable where Value: Sendable {}

/// An observer of one property.
final class KeyPathObserver<Object: AnyObject, Value>: Observer, @unchecked Sendable {
  // `last` belongs to the thread that notifies; the list of observers hands that role on under its lock. A key path
  // never changes.

  typealias Handler = @Sendable (Object, ObservedValueChange<Value>) -> Void

  private let key: ObservedKey
  private let options: ObservationOptions
  private let handler: Handler
  private let value: (Object) -> Value
  private let end = Atomic<Bool>(false)
  private var last: Value?

  /// Creates an observer of the property with the given key.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - options: Which values come with a change.
  ///   - handler: What to call.
  ///   - value: Reads the property, by key path.
  init(
    _ key: ObservedKey, _ options: ObservationOptions, _ handler: @escaping Handler,
    value: @escaping (Object) -> Value
  ) {
    self.key = key
    self.options = options
    self.handler = handler
    self.value = value
  }

  var hasEnded: Bool { end.load(ordering: .acquiring) }

  func setEnded() { end.store(true, ordering: .releasing) }

  func begin(with object: AnyObject, _ state: ObservedChange?) {
    let object = unsafeDowncast(object, to: Object.self)
    let first = state.flatMap { carriedValue(of: $0) } ?? value(object)
    last = first
    if options.contains(.initial) { tell(object, new: first, old: nil) }
  }

  func receive(_ change: ObservedChange, of object: AnyObject) {
    guard concerns(change.key) else { return }
    let object = unsafeDowncast(object, to: Object.self)
    let new = carriedValue(of: change) ?? value(object)
    let old = last
    if let old, isEqual(old, new) ?? (change.key != key && change.key != .unknown) { return }
    last = new
    tell(object, new: new, old: old)
  }

  /// Whether to look at a change: one of this property, or one of which that can't be known.
  private func concerns(_ changed: ObservedKey) -> Bool {
    if changed == key { return true }
    guard case .own = key else { return false }
    if case .own = changed { return false }
    return true
  }

  /// The value that came with the change, if it is of this property.
  private func carriedValue(of change: ObservedChange) -> Value? {
    guard change.key == key, let value = change.value else { return nil }
    return value as? Value
  }

  /// Whether two values are equal; nil if such values can't be compared.
  private func isEqual(_ one: Value, _ other: Value) -> Bool? {
    guard let one = one as? any Equatable else { return nil }
    func compare<Comparable: Equatable>(_ one: Comparable) -> Bool { one == other as? Comparable }
    return compare(one)
  }

  private func tell(_ object: Object, new: Value, old: Value?) {
    handler(
      object,
      ObservedValueChange(
        newValue: options.contains(.new) ? new : nil, oldValue: options.contains(.old) ? old : nil))
  }
}
