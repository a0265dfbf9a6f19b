/// An operation whose work goes on after ``Operation/main()`` has returned, until ``finish()`` is called.
///
/// Override `main()` to start the work, and call `finish()` when it is done, from any thread:
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
/// The operation keeps its place in its queue's limit until then, and holds no thread. This class keeps and announces
/// the states: nothing else has to be overridden.
///
/// What `main()` throws ends the operation. A `main()` that is not overridden starts nothing, and the operation goes on
/// until `finish()` is called.
///
/// Cancelling sets ``Operation/isCancelled`` and does not finish the operation while it executes: the work should end
/// early and call `finish()`. Use ``Operation/onCancel(_:)`` to end it:
///
/// ```swift
/// final class Load: AsynchronousOperation, @unchecked Sendable {
///   override func main() {
///     let task = Task {
///       do {
///         try await Task.sleep(for: .seconds(1))  // Stands for a request.
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
  /// True.
  open override var isAsynchronous: Bool { true }

  /// Starts the work, and goes on until ``finish()`` or an error.
  override func run() {
    if !runMain() || state.current.hasFailed { end() }
  }

  override var endsWithMain: Bool { false }

  override var mayEndLater: Bool { !overridesIsFinished }

  /// Ends the operation.
  ///
  /// May be called from any thread, even inside `main()`. All that follows the end happens on the calling thread: what
  /// depends on the operation is released, it leaves its queue, and then its observers are notified.
  ///
  /// Doing it again changes nothing: an operation finishes once. Before the start it ends the operation without
  /// running it.
  public final func finish() { endInMainOrLater(mayGoOn: true) }

  /// Ends the operation with an error.
  ///
  /// May be called from any thread. When an error was recorded before, that one is kept. When the operation has ended
  /// already, the error is ignored.
  ///
  /// - Parameter error: What went wrong.
  public final func finish(throwing error: any Error) {
    recordError(error)
    endInMainOrLater(mayGoOn: true)
  }
}
