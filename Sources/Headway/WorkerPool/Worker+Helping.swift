import Dispatch
import Synchronization

extension Worker {
  /// How long a helper stays at least if other work waits: as long as at a queue.
  private static let turn: UInt64 = 1_000_000

  /// When the turn of a helper is over that begins now.
  static func endOfTurn() -> UInt64 { DispatchTime.now().uptimeNanoseconds + turn }

  /// Whether the worker should leave what it helps with: other work waits, and its turn is over, or more workers are at
  /// work than may be.
  @inline(__always)
  func isNeededElsewhere(_ turnEnd: UInt64) -> Bool {
    leavesSoon.load(ordering: .relaxed)
      || pool.workWaits.load(ordering: .relaxed) && DispatchTime.now().uptimeNanoseconds > turnEnd
  }
}
