/// The priority of an operation among the ready operations of its queue: operations with a higher priority start first.
///
/// The priority orders only the ready operations of one queue. An operation with unfinished dependencies waits,
/// regardless of its priority. If one operation must follow another, use a dependency, not priorities.
public enum QueuePriority: Int, Sendable, Hashable, CaseIterable, Comparable {
  /// Operations that start after all other operations.
  case veryLow = -8
  /// Operations that start after operations of normal priority.
  case low = -4
  /// The default priority.
  case normal = 0
  /// Operations that start before operations of normal priority.
  case high = 4
  /// Operations that start before all other operations.
  case veryHigh = 8

  /// Creates a priority from any number, rounding toward `normal` to the nearest of the five priorities, as Foundation
  /// does.
  ///
  /// A number beyond the lowest or highest priority results in that priority.
  ///
  /// ```swift
  /// QueuePriority(roundingTowardNormal: 10_000)  // .veryHigh
  /// QueuePriority(roundingTowardNormal: 5)       // .high
  /// QueuePriority(roundingTowardNormal: -3)      // .normal
  /// ```
  ///
  /// - Parameter rawValue: Any number, even if it is not the raw value of a priority.
  public init(roundingTowardNormal rawValue: Int) {
    switch rawValue {
    case ...(-8): self = .veryLow
    case ...(-4): self = .low
    case ..<4: self = .normal
    case ..<8: self = .high
    default: self = .veryHigh
    }
  }

  /// Compares two priorities: `.low < .high`.
  ///
  /// - Parameters:
  ///   - left: A priority to compare.
  ///   - right: Another priority.
  /// - Returns: True if operations of priority `left` start after operations of priority `right`.
  public static func < (left: QueuePriority, right: QueuePriority) -> Bool { left.rawValue < right.rawValue }

  /// The priority as a number from 0 to 4, for tables and bit masks.
  var level: Int { rawValue / 4 + 2 }

  static let highestLevel = QueuePriority.veryHigh.level

  init(level: Int) { self = QueuePriority(rawValue: (level - 2) * 4)! }
}

extension Operation {
  /// The name of the type in Foundation.
  public typealias QueuePriority = Headway.QueuePriority
}
