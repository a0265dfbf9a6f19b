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
  /// The observer is called once more for each change, before the call that says what the property has become.
  ///
  /// ``ObservedValueChange/isPrior`` tells the two apart. Of a change that a subclass posts, it is called when the
  /// subclass announces it with `willChangeValue`. Other changes are notified of after they are true, so both calls
  /// come then, one right after the other: the first still has the old value, but the property has the new one.
  public static let prior = ObservationOptions(rawValue: 8)
}
