public import Headway

/// A job that runs as an operation that you create: one that blocks its thread, a group, or your own subclass.
///
/// ```swift
/// struct Checksum: OperationJob {
///   static let kind: JobKind = "checksum"
///   var path: String
///   func makeOperation(in context: JobContext) -> Operation { BlockOperation { [path] in print(path) } }
/// }
/// ```
///
/// The job succeeds if the operation succeeds and fails with the operation's `error`.
///
/// With ``JobMiddleware``, a task holds the slot of the worker's queue. The task runs the middleware and adds the
/// operation to a private queue without a limit. The time limit, the quality of service and the cancellation of the job
/// still apply to the operation, but the instruments of the worker's queue observe the task. The task-local values of
/// the middleware are visible in ``makeOperation(in:)``, and in a `TaskOperation` that this function creates. The block
/// of a `BlockOperation` runs outside of the task: read the values in ``makeOperation(in:)`` and capture them.
public protocol OperationJob: Job where Output == Void {
  /// Creates the operation of an attempt.
  ///
  /// The worker adds the operation to its queue, or to a private one if there is middleware. Return a new operation
  /// each time.
  ///
  /// - Parameter context: The attempt that the operation runs. Use it to store intermediate results, for example.
  /// - Returns: An operation that is in no queue and has not started.
  /// - Throws: Any error. The attempt then fails with that error.
  func makeOperation(in context: JobContext) throws -> Operation
}

extension OperationJob {
  /// Runs the operation on its own queue, for callers that run the job without a worker.
  ///
  /// - Parameter context: The current attempt of the job.
  /// - Throws: The error of the operation; `CancellationError` if it was cancelled.
  public func perform(in context: JobContext) async throws {
    try await OperationQueue().run(makeOperation(in: context))
  }
}
