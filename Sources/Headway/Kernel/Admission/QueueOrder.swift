/// How a queue chooses the next operation to start.
public enum QueueOrder: Sendable, Hashable, CaseIterable {
  /// Ready operations start by priority, and then in insertion order. At most
  /// ``OperationQueue/maxConcurrentOperationCount`` operations run at the same time.
  case priority
  /// Operations start one at a time, strictly in insertion order, as in a serial dispatch queue.
  ///
  /// An operation that is not ready delays all operations that were added after it. A cancelled operation leaves the
  /// queue. Priorities have no effect.
  case fifo
}
