public import Headway

/// A stored job whose result has a type.
public struct JobHandle<Output: Sendable>: Sendable {
  /// The ID of the job.
  public let id: JobID
  /// Whether the call that returned this handle added the job.
  ///
  /// If not, another job holds the key, and this is a handle to that job.
  public let isNew: Bool
  private let jobs: Jobs

  init(id: JobID, isNew: Bool, jobs: Jobs) {
    self.id = id
    self.isNew = isNew
    self.jobs = jobs
  }

  /// Returns the job.
  ///
  /// - Returns: The job, or nil if it was deleted.
  /// - Throws: ``JobError``.
  public func job() async throws -> JobRecord? { try await jobs.job(id) }

  /// Cancels the job, even if another process runs it.
  ///
  /// - Returns: True if the job had not ended and had not been cancelled before.
  /// - Throws: ``JobError``.
  @discardableResult
  public func cancel() async throws -> Bool { try await jobs.cancel(id) }

  /// Suspends the task until the job has succeeded.
  ///
  /// Cancelling the task stops the wait. It does not cancel the job.
  ///
  /// - Throws: ``JobFailure`` if the job failed or was cancelled; `CancellationError` if the task is cancelled; or a
  ///   ``JobError``. The code of the ``JobError`` is ``JobError/Code/unknownJob`` if the job was deleted, or
  ///   ``JobError/Code/wouldDeadlock`` if you call the function in a job that must end before this one can begin.
  public func untilSucceeded() async throws { _ = try await result() }

  private func result() async throws -> JobRecord {
    if let context = JobContext.current, context.jobs.backend === jobs.backend {
      try await WaitInsideJob(waiting: context.job, store: jobs.backend).check(id)
    }
    guard let job = try await jobs.waiters.finished(id) else {
      throw JobError(.unknownJob, "The store has no job \(id), or it was deleted after its retention.")
    }
    try job.checkSuccess()
    return job
  }
}

extension JobHandle where Output: Decodable {
  /// The result of the job.
  ///
  /// Reading it suspends the task until the job has ended, even if another process runs the job.
  ///
  /// Cancelling the task stops the wait. It does not cancel the job.
  ///
  /// - Throws: ``JobFailure`` if the job failed or was cancelled; `CancellationError` if the task is cancelled; or a
  ///   ``JobError``. The code of the ``JobError`` is ``JobError/Code/unknownJob`` if the job was deleted,
  ///   ``JobError/Code/undecodablePayload`` if the result is not of this type, or ``JobError/Code/wouldDeadlock`` if
  ///   you read it in a job that must end before this one can begin.
  public var value: Output {
    get async throws {
      try await result().decodedResult()
    }
  }

  /// Creates an operation that finishes when the job ends and that contains the job's result.
  ///
  /// Add the operation to a queue. Operations in memory can depend on this operation. It holds no thread while it
  /// waits. Cancelling the operation stops the wait but does not cancel the job.
  ///
  /// - Returns: A new operation, which is not in a queue yet.
  public func makeOperation() -> TaskOperation<Output> { TaskOperation { try await value } }
}

extension JobHandle where Output == Void {
  /// Suspends the task until the job has succeeded, even if another process runs it.
  ///
  /// - Throws: The same errors as ``untilSucceeded()``.
  public var value: Void {
    get async throws { try await untilSucceeded() }
  }

  /// Creates an operation that finishes when the job ends.
  ///
  /// Add the operation to a queue. Operations in memory can depend on this operation. It holds no thread while it
  /// waits. Cancelling the operation stops the wait but does not cancel the job.
  ///
  /// - Returns: A new operation, which is not in a queue yet.
  public func makeOperation() -> TaskOperation<Void> { TaskOperation { try await untilSucceeded() } }
}
