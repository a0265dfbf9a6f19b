/// What the thread of a batch has still to do of the end of the operation that it has run, before it takes the next.
///
/// It is left where a method of the operation is under way, or the queue's lock is held, and taken where neither is.
/// All of it is the thread's alone.
struct RemainingEnd: ~Copyable {
  /// How an operation whose end may come after its ``Operation/main()`` has ended in that.
  enum EndInMain {
    /// The thread is at the batch, which may be closed.
    case inside
    /// The thread is outside, at users' code: see ``Batch/leave()``.
    case outside
  }

  private var completionBlock: CompletionBlock?
  private var untoldEnd: UntoldEnd?
  private var endInMain: EndInMain?
  private var unended: OperationReference?

  /// Leaves the completion block of the operation that has just ended, which the thread is to run.
  mutating func leave(_ completionBlock: consuming CompletionBlock) { self.completionBlock = completionBlock }

  mutating func takeCompletionBlock() -> CompletionBlock? { completionBlock == nil ? nil : completionBlock.take() }

  /// Leaves the end of the operation that has just ended, of which the thread is to notify.
  mutating func leave(_ end: UntoldEnd) { untoldEnd = end }

  mutating func takeUntoldEnd() -> UntoldEnd? { untoldEnd == nil ? nil : untoldEnd.take() }

  /// The current operation, whose end may come after its ``Operation/main()``, ends in that.
  mutating func noteEndInMain(isOutside: Bool) { endInMain = isOutside ? .outside : .inside }

  /// How the current operation has ended in its ``Operation/main()``; nil if it has not.
  mutating func takeEndInMain() -> EndInMain? { endInMain.take() }

  /// The thread leaves the batch, since the operation that it owns, the current one, did not end in its
  /// ``Operation/main()``.
  mutating func leave(unended operation: OperationReference) { unended = operation }

  /// The current operation, if its ``Operation/main()`` has returned and the thread has not ended it; owned.
  mutating func takeUnended() -> OperationReference? { unended.take() }
}
