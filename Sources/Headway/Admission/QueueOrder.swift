/// In which order a queue starts its operations.
public enum QueueOrder: Sendable, Hashable, CaseIterable {
  /// What is ready first, by priority, and then by the order of adding; as many at a time as
  /// ``OperationQueue/maxConcurrentOperationCount`` allows.
  case priority
  /// One at a time, strictly in the order of adding, like a serial dispatch queue.
  ///
  /// An operation that is not ready holds up all that were added after it; one that is cancelled leaves. Priorities
  /// mean nothing here.
  case fifo
}
