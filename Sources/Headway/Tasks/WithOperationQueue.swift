/// Calls `body` with a queue, and returns when nothing of what was added to the queue runs any more.
///
/// ```swift
/// try await withOperationQueue(maxConcurrentOperationCount: 8) { queue in
///   for address in addresses { queue.addTask { _ = try await fetch(address) } }
/// }
/// ```
///
/// If an operation fails, or `body` throws, or the task that calls this is cancelled, all operations are cancelled. So
/// operations should end early when they are cancelled: this waits for them. In these cases, neither a suspension of
/// the queue nor a limit of 0 holds anything back. Otherwise, if `body` leaves the queue suspended, this returns only
/// after another task has resumed it.
///
/// - Parameters:
///   - name: What to call the queue in descriptions and messages.
///   - maxConcurrentOperationCount: How many operations run at once, at most; by default the system decides.
///   - body: Adds operations. It may wait for some of them, and await what they return.
/// - Returns: What `body` returns.
/// - Throws: What `body` throws, or else the error of the operation that failed first, also where `body` throws a
///   `CancellationError` because of that; or `CancellationError`, when the task was cancelled and neither threw.
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
        // What the body has awaited was cancelled because of that.
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
