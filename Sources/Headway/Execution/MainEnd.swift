/// How the operation that the thread of a batch has run, and whose end may come after its ``Operation/main()``, stands
/// when that returns.
///
/// It is noted where a method of the operation is under way, or the queue's lock is held, and looked at where neither
/// is. All of it is the thread's alone.
struct MainEnd: ~Copyable {
  /// How an operation has ended in its ``Operation/main()``.
  enum Place {
    /// The thread is at the batch, which may be closed.
    case inside
    /// The thread is outside, at users' code: see ``Batch/leave()``.
    case outside
  }

  private var place: Place?
  private var unfinished: OperationReference?

  /// The current operation ends in its ``Operation/main()``.
  mutating func noteEnd(isOutside: Bool) { place = isOutside ? .outside : .inside }

  /// How the current operation has ended in its ``Operation/main()``; nil if it has not.
  mutating func takePlace() -> Place? { place.take() }

  /// The thread leaves the batch, since the operation that it owns, the current one, did not end in its
  /// ``Operation/main()``.
  mutating func leave(unfinished operation: OperationReference) { unfinished = operation }

  /// The current operation, if its ``Operation/main()`` has returned and the thread has not ended it; owned.
  mutating func takeUnfinished() -> OperationReference? { unfinished.take() }
}
