/// The state of an operation in its lane.
///
/// Protected by the queue's lock, except for the properties that are set when the operation ends, before the lock is
/// acquired.
final class KeyLaneMember: @unchecked Sendable {  // The queue's lock protects what changes.
  enum Use {
    /// Neither running nor about to start.
    case none
    /// The operation has its resources and a slot, and is about to start.
    case granted
    case running
  }

  let key: String
  /// The lane, set when the operation first becomes ready; nil before that, and after the operation has left the queue.
  @exclusivity(unchecked) var lane: KeyLane?
  /// The turn of the lane, if the operation represents it.
  @exclusivity(unchecked) var turn: UInt64 = 0
  /// Whether the operation is one of the lane's ready operations.
  @exclusivity(unchecked) var isReady = false
  /// How the operation counts toward the limits of the lane.
  @exclusivity(unchecked) var use = Use.none
  /// The position of the operation among those that count, if it does.
  @exclusivity(unchecked) var startedPosition = 0
  /// How the operation or its attempt has started; nil after its result has been noted.
  @exclusivity(unchecked) var start: KeyLaneLimits.Start?

  // Set before the operation acquires the lock to leave its queue.
  @exclusivity(unchecked) var endTime = ClockTime.min
  @exclusivity(unchecked) var result = BreakerState.Result.neither

  init(_ key: String) { self.key = key }
}
