import Synchronization

/// An operation whose work continues after ``Operation/main()`` has returned, until ``finish()`` is called.
///
/// Override `main()` to start the work, and call `finish()` from any thread when the work is done:
///
/// ```swift
/// import Dispatch
///
/// final class Delay: AsynchronousOperation, @unchecked Sendable {
///   override func main() {
///     DispatchQueue.global().asyncAfter(deadline: .now() + 1) { self.finish() }
///   }
/// }
/// ```
///
/// Until then, the operation counts against its queue's limit, but blocks no thread. This class maintains and announces
/// the states, so you don't need to override anything else.
///
/// If `main()` throws an error, the operation ends. If `main()` is not overridden, it starts nothing, and the operation
/// continues until `finish()` is called.
///
/// Cancelling sets ``Operation/isCancelled`` but does not finish the operation while it executes. The work should stop
/// early and call `finish()`. Use ``Operation/onCancel(_:)`` to stop the work:
///
/// ```swift
/// final class Load: AsynchronousOperation, @unchecked Sendable {
///   override func main() {
///     let task = Task {
///       do {
///         try await Task.sleep(for: .seconds(1))  // Simulates a network request.
///         finish()
///       } catch {
///         finish(throwing: error)
///       }
///     }
///     onCancel { task.cancel() }
///   }
/// }
/// ```
open class AsynchronousOperation: Operation, @unchecked Sendable {
  /// Always true for this class.
  open override var isAsynchronous: Bool { true }

  /// Starts the work and keeps executing until ``finish()`` is called or an error occurs.
  override func run() {
    if !runMain() || hasRecordedError { end() }
  }

  override var endsWithMain: Bool { false }

  override var mayEndLater: Bool { !overridesIsFinished }

  override var missingCall: String? { "finish()" }

  /// Finishes the operation.
  ///
  /// You can call this method from any thread, even inside `main()`. The calling thread performs the steps that follow:
  /// the operation leaves its queue, its dependents no longer wait for it, and then its observers are notified.
  ///
  /// An operation finishes once, so calling the method again has no effect. If you call it before the operation starts,
  /// the operation ends without running. Unless it was cancelled, this is probably a mistake, so Headway writes a
  /// warning to standard error for the first such call in a process.
  public final func finish() {
    let word = state.current
    if word.phase == .pending, !word.isCancelled, !word.hasPendingCancellation {
      warnOnce(
        """
        finish() was called on \(self), which has not started, so it will not run: call finish() when the work is \
        done, or cancel the operation.
        """, since: earlyFinishWasReported)
    }
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
}

/// Whether this process has already written a warning about an operation that was finished before it had started.
private let earlyFinishWasReported = Atomic(false)
