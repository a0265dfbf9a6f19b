/// The error of an operation that was added to a queue after the queue had been closed.
///
/// The operation has not run: see ``OperationQueueDynamicMembers/close``.
public struct QueueClosedError: Error, CustomStringConvertible {
  /// The name of the queue, or nil if it has none.
  public let queueName: String?
  private let queueLabel: String
  /// The operation that was added, unless the error was thrown before there was one.
  fileprivate let operation: ObjectIdentifier?

  init(queue: OperationQueue, rejecting operation: Operation? = nil) {
    (queueName, queueLabel) = (queue.name, queue.label)
    self.operation = operation.map { ObjectIdentifier($0) }
  }

  /// A sentence that names the queue.
  public var description: String { "\(queueLabel) is closed and no longer accepts operations" }
}

extension Operation {
  /// The error of an operation that was cancelled because it was added to a closed queue.
  ///
  /// Nil for an operation that failed because it used another operation that a closed queue has rejected.
  final var rejection: QueueClosedError? {
    guard let error = operationRecordedError as? QueueClosedError, error.operation == ObjectIdentifier(self) else {
      return nil
    }
    return error
  }

  /// Throws an error if a closed queue has rejected the operation.
  final func requireAcceptance() throws(QueueClosedError) {
    if let rejection { throw rejection }
  }
}
