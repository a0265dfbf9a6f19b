/// One change that observers must be notified of.
struct ObservedChange: Sendable {
  private enum Content: Sendable {
    case none
    case flag(Bool)
    case other(any Sendable)
  }

  private(set) var key: ObservedKey
  private let content: Content
  /// The change has been announced and has not happened yet.
  let isPrior: Bool
  /// Observers are notified even if the value equals the last value, as key-value observing does for posted changes.
  private(set) var isPosted = false

  init(_ key: ObservedKey, _ value: (any Sendable)? = nil) {
    self.key = key
    content = value.map { .other($0) } ?? .none
    isPrior = false
  }

  init(_ key: ObservedKey, _ flag: Bool) {
    self.key = key
    content = .flag(flag)
    isPrior = false
  }

  /// Creates an announced change that has not happened yet.
  init(before key: ObservedKey) {
    self.key = key
    content = .none
    isPrior = true
  }

  /// Returns the same change, with ``isPosted`` set to `isPosted`.
  func posted(_ isPosted: Bool = true) -> ObservedChange {
    var change = self
    change.isPosted = isPosted
    return change
  }

  /// Returns the same change, of the property with the given key.
  func renamed(_ key: ObservedKey) -> ObservedChange {
    var change = self
    change.key = key
    return change
  }

  /// The same change, for the case that no other change waits behind it.
  ///
  /// Threads can append their changes in a different order than they made them, and the last one must give the
  /// observers the current value. Therefore, that change carries no value, and observers read the property.
  var asLast: ObservedChange {
    switch key {
    case .queuePriority, .dependencies: isPrior ? self : ObservedChange(key).posted(isPosted)
    default: self
    }
  }

  /// The new value, if it is known.
  ///
  /// Otherwise it is read when the observers are notified.
  var value: (any Sendable)? {
    switch content {
    case .none: nil
    case .flag(let flag): flag
    case .other(let value): value
    }
  }

  /// The new value, if it is a flag.
  var flag: Bool? { if case .flag(let flag) = content { flag } else { nil } }
}
