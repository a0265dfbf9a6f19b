import Headway

extension JobContext {
  /// Stores the jobs of a batch as a whole or not at all, if this attempt still runs.
  ///
  /// - Parameters:
  ///   - batch: The jobs to store, with the dependencies between them.
  ///   - beforeDependents: Whether the jobs that wait for this job also wait for the jobs of the batch. The jobs of the
  ///     batch can then wait only for each other, so that no cycle can arise.
  /// - Returns: The handles of the jobs.
  /// - Throws: ``JobError``, for example with the code ``JobError/Code/dependencyCycle``. No job was stored.
  @discardableResult
  public func enqueue(_ batch: JobBatch, beforeDependents: Bool = false) async throws -> JobBatch.Handles {
    let new = try batch.encoded(for: jobs)
    guard !new.isEmpty else { return jobs.handles(of: batch, []) }
    guard case .enqueuedBatch(let enqueued) = try await write(.enqueueBatch(new, beforeDependents: beforeDependents))
    else { misuse(jobs.backend.wrongAnswer) }
    for (enqueued, new) in zip(enqueued, new) { jobs.noteEnqueued(enqueued, new) }
    return jobs.handles(of: batch, enqueued)
  }

  /// Returns the jobs that this job has waited for, ordered by ID.
  ///
  /// Jobs that were deleted before this job was run again are missing.
  ///
  /// - Returns: The jobs, which have ended.
  /// - Throws: ``JobError``.
  public func dependencies() async throws -> [JobRecord] {
    let edges = try await jobs.backend.edges(of: [id]).filter { $0.dependent == id }
    guard !edges.isEmpty else { return [] }
    return try await jobs.jobs(JobFilter(ids: edges.map(\.dependency)), limit: edges.count)
  }

  /// Returns the result of a job that this job has waited for.
  ///
  /// The function reads the store and does not wait for the job to end. The results of a job's dependencies are kept
  /// until the job has ended, regardless of their retention.
  ///
  /// - Parameter dependency: The handle of the job.
  /// - Returns: The result that the dependency has returned.
  /// - Throws: ``JobFailure`` if the job failed or was cancelled; ``JobError`` with the code
  ///   ``JobError/Code/unfinishedJob`` if it has not ended, or ``JobError/Code/unknownJob`` if it was deleted.
  public func value<Output: Decodable>(of dependency: JobHandle<Output>) async throws -> Output {
    try await value(of: dependency.id)
  }

  /// Returns the result of a job that this job has waited for.
  ///
  /// - Parameters:
  ///   - id: The ID of the job.
  ///   - type: The type of the result.
  /// - Returns: The result that the job has returned.
  /// - Throws: ``JobFailure`` if the job failed or was cancelled; ``JobError`` with the code
  ///   ``JobError/Code/unfinishedJob`` if it has not ended, or ``JobError/Code/unknownJob`` if it was deleted.
  public func value<Output: Decodable & Sendable>(
    of id: JobID, as type: Output.Type = Output.self
  ) async throws -> Output {
    guard let job = try await jobs.job(id) else {
      throw JobError(.unknownJob, "The store has no job \(id), or it was deleted after its retention.")
    }
    try job.checkSuccess()
    return try job.decodedResult()
  }

  /// Returns the results of all jobs of a type that this job has waited for and that have succeeded.
  ///
  /// ```swift
  /// let sizes = try await context.values(of: Resize.self)
  /// ```
  ///
  /// - Parameter type: The type of the jobs.
  /// - Returns: The results, ordered by job ID.
  /// - Throws: ``JobError``, with the code ``JobError/Code/undecodablePayload`` if a result can't be decoded.
  public func values<Type: Job>(of type: Type.Type) async throws -> [Type.Output] where Type.Output: Decodable {
    let kinds = [Type.kind] + Type.aliases
    return try await dependencies().filter { $0.state == .succeeded && kinds.contains($0.kind) }
      .map { try $0.decodedResult() }
  }
}
