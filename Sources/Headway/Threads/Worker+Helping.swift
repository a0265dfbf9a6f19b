import Dispatch
import Synchronization

extension Worker {
  /// The minimum time that a helper stays while other work waits.
  ///
  /// It is the same as for a visit to a queue.
  private static let turn: UInt64 = 1_000_000

  /// Returns the time when the turn of a helper ends that begins now.
  static func endOfTurn() -> UInt64 { DispatchTime.now().uptimeNanoseconds + turn }

  /// Whether the worker should stop helping: other work waits and its turn has passed, or more workers are at work than
  /// the pool allows.
  @inline(__always)
  func isNeededElsewhere(_ turnEnd: UInt64) -> Bool {
    leavesSoon.load(ordering: .relaxed)
      || pool.workWaits.load(ordering: .relaxed) && DispatchTime.now().uptimeNanoseconds > turnEnd
  }
}
