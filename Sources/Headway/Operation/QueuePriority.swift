/// The order in which a queue starts operations that are ready: higher first.
///
/// Priority orders the ready operations of one queue and nothing else: an operation whose dependencies have not
/// finished waits whatever its priority. Use dependencies, not priorities, to say that one operation must follow
/// another.
public enum QueuePriority: Int, Sendable, Hashable, CaseIterable, Comparable {
  /// After everything else.
  case veryLow = -8
  /// After normal.
  case low = -4
  /// The default.
  case normal = 0
  /// Before normal.
  case high = 4
  /// Before everything else.
  case veryHigh = 8

  /// Takes a raw number to the nearest of the five priorities in the direction of `normal`, as Foundation does for
  /// numbers that are none of them; numbers beyond the ends are taken to the ends.
  ///
  /// ```swift
  /// QueuePriority(nearest: 10_000)  // .veryHigh
  /// QueuePriority(nearest: 5)       // .high
  /// QueuePriority(nearest: -3)      // .normal
  /// ```
  ///
  /// - Parameter rawValue: Any number.
  public init(nearest rawValue: Int) {
    switch rawValue {
    case ...(-8): self = .veryLow
    case ...(-4): self = .low
    case ..<4: self = .normal
    case ..<8: self = .high
    default: self = .veryHigh
    }
  }

  /// Compares by urgency: `.low < .high`.
  ///
  /// - Parameters:
  ///   - left: A priority.
  ///   - right: Another.
  /// - Returns: Whether `left` is started after `right`.
  public static func < (left: QueuePriority, right: QueuePriority) -> Bool { left.rawValue < right.rawValue }

  /// The five priorities as 0…4, for tables and bit masks.
  var level: Int { rawValue / 4 + 2 }

  static let highestLevel = QueuePriority.veryHigh.level

  init(level: Int) { self = QueuePriority(rawValue: (level - 2) * 4)! }
}

extension Operation {
  /// The name that Foundation gives to priorities.
  public typealias QueuePriority = Headway.QueuePriority
}
