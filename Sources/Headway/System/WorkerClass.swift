import Synchronization

/// The kinds of threads that Headway has.
///
/// A thread of one kind never delays a thread of a higher kind for a long time, because the system shares the
/// processors by nice value.
///
/// See `Docs/decisions/0009-quality-of-service-by-classes-of-workers.md`.
package enum WorkerClass: UInt8, Sendable, CaseIterable, AtomicRepresentable {
  case normal, utility, background

  /// The increment over the nice value of the process, which is its first thread's nice value.
  ///
  /// The shares that Linux assigns decrease by about a quarter with each step (sched(7)). Compared with a thread at 0,
  /// a thread at 10 gets a tenth, and a thread at 19 gets one part in 68.
  var niceValue: Int32 {
    switch self {
    case .normal: 0
    case .utility: 10
    case .background: 19
    }
  }

  /// A separate bit per class.
  ///
  /// The bits of more urgent classes are lower.
  var bit: UInt8 {
    switch self {
    case .normal: 1
    case .utility: 2
    case .background: 4
    }
  }

  /// The bits of all more urgent classes.
  var moreUrgent: UInt8 { bit - 1 }

  func isMoreUrgent(than other: Self) -> Bool { bit < other.bit }

  /// The more urgent of two classes.
  static func moreUrgent(_ one: Self, _ other: Self) -> Self { one.bit < other.bit ? one : other }
}
