import Synchronization

/// The kinds of threads that the library has: what a thread of one kind does never holds up one of a higher kind for
/// long, because the system shares the processors out by nice value.
package enum WorkerClass: UInt8, Sendable, CaseIterable, AtomicRepresentable {
  case normal, utility, background

  /// What is added to the nice value of the process, which is that of its first thread.
  ///
  /// The shares that Linux gives go down by about a quarter with each step (sched(7)): at 10 a thread gets a tenth of
  /// what one at 0 does, at 19 one part in 68.
  var niceValue: Int32 {
    switch self {
    case .normal: 0
    case .utility: 10
    case .background: 19
    }
  }

  /// A bit of its own; those of more urgent classes are lower.
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
