/// The values that an observer receives, and when it is notified.
public struct KeyValueObservingOptions: OptionSet, Sendable {
  /// The bit mask of the options.
  public let rawValue: UInt

  /// Creates a set from its bits.
  ///
  /// - Parameter rawValue: The bit mask of the options.
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// Each change carries the new value.
  public static let new = KeyValueObservingOptions(rawValue: 1)
  /// Each change carries the previous value.
  public static let old = KeyValueObservingOptions(rawValue: 2)
  /// The observer is called once at the beginning, with the current value.
  public static let initial = KeyValueObservingOptions(rawValue: 4)
  /// The observer is called once more for each change, before the call that delivers the new value.
  ///
  /// ``KeyValueObservedChange/isPrior`` distinguishes the two calls. If a subclass posts a change, the additional call
  /// occurs when the subclass announces it with `willChangeValue`. For other changes, observers are notified after the
  /// property has changed, and both calls occur then, one right after the other. The first call still carries the old
  /// value, although the property has the new value.
  public static let prior = KeyValueObservingOptions(rawValue: 8)
}
