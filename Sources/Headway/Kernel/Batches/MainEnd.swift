/// The state of an operation that can end after its ``Operation/main()``, when `main()` returns to the batch's thread.
///
/// It is written while a method of the operation runs or the queue's lock is held. It is read at other times. All of it
/// belongs to the thread.
struct MainEnd: ~Copyable {
  /// How an operation has ended in its ``Operation/main()``.
  enum Side {
    /// The thread is inside the batch, which may be closed.
    case inside
    /// The thread is outside and runs user code: see ``Batch/leave()``.
    case outside
  }

  private var side: Side?
  private var unfinished: OperationReference?

  /// Notes that the current operation ends in its ``Operation/main()``.
  mutating func noteEnd(isOutside: Bool) { side = isOutside ? .outside : .inside }

  /// Returns how the current operation has ended in its ``Operation/main()``, or nil if it has not.
  mutating func takeSide() -> Side? { side.take() }

  /// Notes that the thread leaves the batch, because the current operation did not end in its ``Operation/main()``.
  ///
  /// The thread owns the operation.
  mutating func leave(unfinished operation: OperationReference) { unfinished = operation }

  /// Returns the current operation if its ``Operation/main()`` has returned and the thread has not ended it.
  ///
  /// The caller owns it.
  mutating func takeUnfinished() -> OperationReference? { unfinished.take() }
}
