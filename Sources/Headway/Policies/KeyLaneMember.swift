/// What the lane of an operation knows about the operation.
///
/// Protected by the queue's lock, except for what the end of the operation notes before it acquires the lock.
final class KeyLaneMember: @unchecked Sendable {
  enum Use {
    /// Neither runs nor is about to.
    case none
    /// Has its resources and a slot, and is about to start.
    case granted
    case running
  }

  let key: String
  /// The lane, from the time when the operation is first ready until it leaves the queue.
  @exclusivity(unchecked) var lane: KeyLane?
  /// The turn of the lane, if the operation represents it.
  @exclusivity(unchecked) var turn: UInt64 = 0
  /// Whether the operation is one of the lane's ready operations.
  @exclusivity(unchecked) var isReady = false
  /// Whether the operation counts toward the limits of the lane.
  @exclusivity(unchecked) var use = Use.none
  /// How the operation or its attempt has started, until its result is noted.
  @exclusivity(unchecked) var start: KeyLaneLimits.Start?

  // Set before the operation leaves its queue, which acquires the lock.
  @exclusivity(unchecked) var endTime = PolicyTime.min
  @exclusivity(unchecked) var result = BreakerState.Result.neither

  init(_ key: String) { self.key = key }
}
