/// Calls `body` with a queue and returns when all operations that were added to the queue have finished.
///
/// ```swift
/// try await withOperationQueue(maxConcurrentOperationCount: 8) { queue in
///   for address in addresses { queue.addTask { _ = try await fetch(address) } }
/// }
/// ```
///
/// If an operation fails, if `body` throws, or if the calling task is cancelled, all operations are cancelled. This
/// function waits for them, so operations should end early when they are cancelled. In these cases, neither a
/// suspension of the queue nor a limit of 0 holds operations back. Otherwise, if `body` leaves the queue suspended,
/// this function returns only after another task has resumed it.
///
/// - Parameters:
///   - name: The name of the queue in descriptions and messages.
///   - maxConcurrentOperationCount: The maximum number of operations that run at the same time. By default, the system
///     decides.
///   - body: Adds operations. It can wait for some of them and await their values.
/// - Returns: The value that `body` returns.
/// - Throws: The error that `body` throws. Otherwise, or if `body` throws a `CancellationError` because an operation
///   failed, the error of the operation that failed first. If neither threw, `CancellationError` if the task was
///   cancelled.
public func withOperationQueue<Result>(
  name: String? = nil,
  maxConcurrentOperationCount: Int = OperationQueue.defaultMaxConcurrentOperationCount,
  _ body: (OperationQueue) async throws -> Result
) async throws -> Result {
  let queue = ScopedOperationQueue()
  queue.name = name
  queue.maxConcurrentOperationCount = maxConcurrentOperationCount
  return try await withTaskCancellationHandler {
    let result = try await withPriority(raising: { queue.raiseQuality(to: QualityOfService($0)) }) {
      let result: Result
      do { result = try await body(queue) } catch {
        queue.cancelMembers()
        await queue.emptied()
        // The operations that the body awaited were cancelled by that cancellation.
        if error is CancellationError, !Task.isCancelled, let failure = queue.firstFailure { throw failure }
        throw error
      }
      await queue.emptied()
      return result
    }
    if let error = queue.firstFailure { throw error }
    try Task.checkCancellation()
    return result
  } onCancel: {
    queue.cancelMembers()
  }
}
