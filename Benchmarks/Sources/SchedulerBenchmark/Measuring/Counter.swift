import Glibc
import Synchronization

/// Counts the bodies that ran, so that a measuring is worth nothing when work was lost.
final class Counter: Sendable {
  private let count = Atomic(0)

  var value: Int { count.load(ordering: .acquiring) }

  @inline(__always) func increment() { count.wrappingAdd(1, ordering: .relaxed) }

  /// Returns when so many bodies ran, which another thread may still do.
  func wait(for expected: Int) {
    while value < expected { sched_yield() }
  }

  /// Stops the program when the bodies did not run as often as they had to.
  func require(_ expected: Int) {
    precondition(value == expected, "\(value) bodies ran in place of \(expected).")
  }
}
