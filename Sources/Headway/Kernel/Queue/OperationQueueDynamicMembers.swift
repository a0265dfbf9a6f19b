/// Members of an ``OperationQueue`` that have the same names as functions of the C library.
///
/// Use them like other members:
///
/// ```swift
/// queue.clock = ContinuousClock()
/// queue.close()
/// ```
///
/// They are dynamic members. Any other member would hide the functions `clock` and `close` from the code of a subclass
/// of ``OperationQueue``. See `Docs/decisions/0007-open-members-and-extension-members.md`.
public struct OperationQueueDynamicMembers {
  let queue: OperationQueue

  /// Closes the queue permanently: from now on, it doesn't accept operations.
  ///
  /// The operations that the queue holds continue, and waiting operations start. To wait for them, use
  /// ``OperationQueueProtocol/drain(within:clock:)`` or ``OperationQueueProtocol/untilAllOperationsAreFinished()``.
  /// Closing a closed queue has no effect.
  ///
  /// An operation that is added to a closed queue does not run, but it is not lost: it is cancelled with a
  /// ``QueueClosedError`` and finishes. Its dependents are released, and its completion block runs. Its
  /// ``Operation/outcome`` is ``OperationOutcome/failure(_:)`` with that error, and the queue calls its
  /// ``OperationQueueProtocol/failureHandler``. Without a handler, the first such operation in a process is reported on
  /// standard error. Methods that add an operation and can throw also throw the error, such as
  /// ``OperationQueueProtocol/addOperationWhenBelowLimit(_:)-(Operation)`` and
  /// ``OperationQueueProtocol/run(_:)-(Operation)``.
  ///
  /// This also applies to operations that the queue's own operations add. If each step adds the next one, put the steps
  /// in a ``GroupOperation``: it has a separate queue, and can grow in a closed queue.
  ///
  /// If another thread adds an operation at the same time, the operation is either accepted or cancelled, as if one of
  /// the two calls had returned before the other.
  ///
  /// Jobs of tasks and actors that the queue executes are still accepted, because the tasks could not finish otherwise.
  ///
  /// - Precondition: The queue is not ``OperationQueue/main``, which belongs to the whole process.
  /// - Complexity: O(1).
  public var close: @Sendable () -> Void { queue.beginClosing }
}

extension OperationQueue {
  /// Returns a member that has the name of a function of the C library.
  ///
  /// - Parameter member: A member of ``OperationQueueDynamicMembers``.
  /// - Returns: The value of the member.
  @_documentation(visibility: internal)
  public subscript<Value>(dynamicMember member: KeyPath<OperationQueueDynamicMembers, Value>) -> Value {
    OperationQueueDynamicMembers(queue: self)[keyPath: member]
  }

  /// Returns or sets a member that has the name of a function of the C library.
  ///
  /// - Parameter member: A member of ``OperationQueueDynamicMembers``.
  /// - Returns: The value of the member.
  @_documentation(visibility: internal)
  public subscript<Value>(
    dynamicMember member: ReferenceWritableKeyPath<OperationQueueDynamicMembers, Value>
  ) -> Value {
    get { OperationQueueDynamicMembers(queue: self)[keyPath: member] }
    set { OperationQueueDynamicMembers(queue: self)[keyPath: member] = newValue }
  }
}
