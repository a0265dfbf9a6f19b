import Glibc
import Synchronization

/// Counts the bodies that ran, so that a measurement is rejected if work was lost.
final class Counter: Sendable {
  private let count = Atomic(0)

  var value: Int { count.load(ordering: .acquiring) }

  @inline(__always) func increment() { count.wrappingAdd(1, ordering: .relaxed) }

  /// Returns when this many bodies have run.
  ///
  /// Another thread might still be running them.
  func wait(for expected: Int) {
    while value < expected { sched_yield() }
  }

  /// Stops the program if the number of bodies that ran is not the expected one.
  func require(_ expected: Int) {
    precondition(value == expected, "\(value) bodies ran instead of \(expected).")
  }
}
