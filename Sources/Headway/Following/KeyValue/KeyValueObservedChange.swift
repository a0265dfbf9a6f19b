/// How an observed property changes.
public enum KeyValueChange: UInt, Sendable, Hashable {
  /// The property gets another value.
  ///
  /// All changes of operations and queues are of this kind: their lists change as a whole.
  case setting = 1
  /// Values are inserted into a list.
  case insertion = 2
  /// Values are removed from a list.
  case removal = 3
  /// Values in a list are replaced.
  case replacement = 4
}

/// One change of an observed property.
public struct KeyValueObservedChange<Value> {
  /// How a property changes.
  public typealias Kind = KeyValueChange

  /// How the property changes: ``KeyValueChange/setting``.
  public let kind: Kind
  /// The new value of the property, if the observer has the option ``KeyValueObservingOptions/new``.
  ///
  /// Nil if ``isPrior`` is true.
  public let newValue: Value?
  /// The value when this observer was last notified, if the observer has the option ``KeyValueObservingOptions/old``;
  /// nil in the call at the beginning.
  public let oldValue: Value?
  /// Whether this call precedes the call with the new value; see ``KeyValueObservingOptions/prior``.
  public let isPrior: Bool
}

extension KeyValueObservedChange: Sendable where Value: Sendable {}
