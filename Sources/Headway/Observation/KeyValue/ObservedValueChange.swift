/// In which way an observed property changes.
public enum ObservedChangeKind: UInt, Sendable, Hashable {
  /// It gets another value. This is the kind of all changes of operations and queues, whose lists change as a whole.
  case setting = 1
  /// Values are inserted into a list.
  case insertion = 2
  /// Values are removed from a list.
  case removal = 3
  /// Values in a list are replaced.
  case replacement = 4
}

/// One change of an observed property.
public struct ObservedValueChange<Value> {
  /// In which way a property changes.
  public typealias Kind = ObservedChangeKind

  /// In which way the property changes: ``ObservedChangeKind/setting``.
  public let kind: Kind
  /// What the property is now, if ``ObservationOptions/new`` was asked for.
  ///
  /// Nil as long as ``isPrior`` is true.
  public let newValue: Value?
  /// What it was when this observer was last notified, if ``ObservationOptions/old`` was asked for; nil at the
  /// beginning.
  public let oldValue: Value?
  /// Whether this is the call before the one that says what the property has become; see ``ObservationOptions/prior``.
  public let isPrior: Bool
}

extension ObservedValueChange: Sendable where Value: Sendable {}
