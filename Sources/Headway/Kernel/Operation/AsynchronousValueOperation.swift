/// An operation that returns a value, and whose work continues after ``Operation/main()`` has returned.
///
/// Override `main()` to start the work. When it is done, call ``finish(returning:)``, ``finish(throwing:)`` or
/// ``finish(with:)`` from any thread:
///
/// ```swift
/// import Dispatch
///
/// final class Answer: AsynchronousValueOperation<Int>, @unchecked Sendable {
///   override func main() {
///     DispatchQueue.global().asyncAfter(deadline: .now() + 1) { self.finish(returning: 42) }
///   }
/// }
///
/// let answer = Answer()
/// queue.addOperation(answer)
/// print(try await answer.value)
/// ```
///
/// In all other respects, the operation works like an ``AsynchronousOperation``: it counts against its queue's limit
/// until it finishes, but blocks no thread, and you don't need to override anything else. It is not a subclass of that
/// class, so it can't be finished without a value or an error. Use `AsynchronousValueOperation` for work that reports
/// its result to a callback or a delegate, and a ``TaskOperation`` for an asynchronous function.
///
/// Cancelling sets ``Operation/isCancelled`` but does not finish the operation while it executes. Stop the work in a
/// handler that you register with ``Operation/onCancel(_:)``, and then finish the operation. A cancelled operation has
/// no value, even if the work returns one.
open class AsynchronousValueOperation<Success: Sendable>: Operation, @unchecked Sendable {
  /// The first value that the operation was finished with.
  private let result = Guarded<Success?>(nil)

  deinit {
    if !_isPOD(Success.self) { ReleasedChain.release(result.withLock { $0.take() }) }
  }

  /// Always true for this class.
  open override var isAsynchronous: Bool { true }

  /// Starts the work and keeps executing until the operation is finished or an error occurs.
  override func run() {
    if !runMain() || hasRecordedError { end() }
  }

  override var endsWithMain: Bool { false }

  override var mayEndLater: Bool { !overridesIsFinished }

  override var missingCall: String? { "finish(returning:)" }

  /// Finishes the operation with a value.
  ///
  /// You can call this method from any thread, even inside `main()`. The calling thread performs the steps that follow:
  /// the operation leaves its queue, its dependents no longer wait for it, and then its observers are notified.
  ///
  /// An operation finishes once. If it has already ended, the value is ignored. If you call the method before the
  /// operation starts, the operation ends without running.
  ///
  /// - Parameter value: The ``value`` of the operation.
  public final func finish(returning value: Success) {
    // Only the first value is kept. The other one is released after the lock, by the caller.
    if state.current.phase != .finished { result.withLock { if case .none = $0 { $0 = value } } }
    endInMainOrLater(mayContinue: true)
  }

  /// Finishes the operation with an error.
  ///
  /// You can call this method from any thread. If an error was recorded before, that error is kept. If the operation
  /// has already ended, the new error is ignored.
  ///
  /// - Parameter error: The error that made the operation fail.
  public final func finish(throwing error: any Error) {
    recordError(error)
    endInMainOrLater(mayContinue: true)
  }

  /// Finishes the operation with the value or the error of a result.
  ///
  /// Does the same as ``finish(returning:)`` or ``finish(throwing:)``.
  ///
  /// - Parameter result: The result of the work.
  public final func finish(with result: Result<Success, some Error>) {
    switch result {
    case .success(let value): finish(returning: value)
    case .failure(let error): finish(throwing: error)
    }
  }

  /// The value that the operation was finished with.
  ///
  /// Waits like ``OperationProtocol/untilFinished()``, but does not suspend in an operation that depends on this one.
  /// If the waiting task is cancelled, the wait ends and the operation continues.
  ///
  /// - Precondition: A subclass that overrides ``Operation/isFinished`` or ``Operation/start()``, and so finishes the
  ///   operation itself, has called ``finish(returning:)`` before.
  /// - Throws: The error that made the operation fail; a ``DependencyError`` if it did not run because a required
  ///   dependency failed; `CancellationError` if the operation or the waiting task was cancelled.
  public final var value: Success {
    get async throws {
      try await untilSucceeded()
      guard let value = result.withLock({ $0 }) else {
        misuse("\(self) has finished without a value: call finish(returning:) before it ends.")
      }
      return value
    }
  }
}
