/// An error that a job throws to choose how its attempt ends.
///
/// ```swift
/// if path.isEmpty { throw JobOutcome.discard("The photo was deleted.") }
/// if total > 100 { throw JobOutcome.snooze(.seconds(30)) }
/// ```
public enum JobOutcome: Error, Hashable, Sendable {
  /// The job fails immediately, with this reason. It is not run again.
  case discard(String)

  /// The job runs again after this pause. The attempt is not counted.
  ///
  /// A job can snooze ``JobOption/maxSnoozeCount(_:)`` times.
  case snooze(Duration)
}
