/// The behavior if the queue of a new job is full.
///
/// Inside a transaction of the application, and inside a job, enqueueing always fails, because waiting would block the
/// code that makes room.
public enum FullQueuePolicy: Hashable, Sendable {
  /// The call waits until the queue has room.
  case wait
  /// The call throws a ``JobError`` with the code ``JobError/Code/queueFull``.
  case fail
}
