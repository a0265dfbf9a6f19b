extension Jobs {
  // MARK: Jobs

  /// Cancels a job, even if another process runs it.
  ///
  /// A job that has not started ends immediately. If it is running, its worker cancels its operation within a second.
  ///
  /// - Parameter id: The ID of the job.
  /// - Returns: True if the job had not ended and had not been cancelled before.
  /// - Throws: ``JobError``.
  @discardableResult
  public func cancel(_ id: JobID) async throws -> Bool { try await cancel(.id(id)) > 0 }

  /// Cancels jobs.
  ///
  /// - Parameter filter: The jobs to cancel.
  /// - Returns: The number of jobs that were cancelled, or whose workers must cancel them.
  /// - Throws: ``JobError``. Some of the jobs might have been cancelled.
  @discardableResult
  public func cancel(_ filter: JobFilter) async throws -> Int { try await perform(.cancel(filter)) }

  /// Cancels a running job immediately and takes it from its worker, for example because its code does not return.
  ///
  /// The worker can no longer write anything for the job.
  ///
  /// - Parameter id: The ID of the job.
  /// - Returns: Whether the job was running.
  /// - Throws: ``JobError``.
  @discardableResult
  public func abandon(_ id: JobID) async throws -> Bool { try await abandon(.id(id)) > 0 }

  /// Cancels running jobs immediately and takes them from their workers.
  ///
  /// - Parameter filter: The jobs to abandon.
  /// - Returns: The number of jobs that were running.
  /// - Throws: ``JobError``. Some of the jobs might have been abandoned.
  @discardableResult
  public func abandon(_ filter: JobFilter) async throws -> Int { try await perform(.abandon(filter)) }

  /// Runs a failed or cancelled job again, with new attempts.
  ///
  /// - Parameters:
  ///   - id: The ID of the job.
  ///   - withDependents: Whether the jobs that were cancelled because of this one are also run again. They wait for
  ///     their dependencies again.
  /// - Returns: True if the job had failed or was cancelled.
  /// - Throws: ``JobError``, with the code ``JobError/Code/keyHeld`` if another job holds the key, or
  ///   ``JobError/Code/dependencyFailed`` if a job whose success this one requires has failed.
  @discardableResult
  public func retry(_ id: JobID, withDependents: Bool = false) async throws -> Bool {
    let isRunAgain = try await retry(.id(id)) > 0
    guard withDependents else { return isRunAgain }
    do {
      try await retry(JobFilter(culprit: id))
    } catch let error as JobError where error.code == .dependencyFailed {
      // The job has failed again in the meantime, so its dependents remain cancelled.
    }
    return isRunAgain
  }

  /// Runs failed and cancelled jobs again, with new attempts.
  ///
  /// - Parameter filter: The jobs to run again.
  /// - Returns: The number of jobs that run again.
  /// - Throws: ``JobError``. If no job can be run again, the code is ``JobError/Code/keyHeld`` or
  ///   ``JobError/Code/dependencyFailed``.
  @discardableResult
  public func retry(_ filter: JobFilter) async throws -> Int { try await perform(.retry(filter)) }

  /// Deletes finished jobs, except those that unfinished jobs depend on.
  ///
  /// - Parameter filter: The jobs to delete.
  /// - Returns: The number of jobs that were deleted.
  /// - Throws: ``JobError``. Some of the jobs might have been deleted.
  @discardableResult
  public func delete(_ filter: JobFilter) async throws -> Int { try await perform(.delete(filter)) }

  /// Changes a job that has not started, or that waits for its next attempt.
  ///
  /// ```swift
  /// let handle = try await jobs.enqueue(Publish(), .delay(.seconds(3600)))
  /// try await jobs.change(handle.id, .runNow)
  /// ```
  ///
  /// - Parameters:
  ///   - id: The ID of the job.
  ///   - change: The property to change, with its new value.
  /// - Returns: True if the job could be changed and had another value before.
  /// - Throws: ``JobError``, with the code ``JobError/Code/payloadTooLarge`` or ``JobError/Code/nameTooLong`` if the
  ///   store does not accept the new value.
  @discardableResult
  public func change(_ id: JobID, _ change: JobChange) async throws -> Bool {
    try await self.change(.id(id), change) > 0
  }

  /// Changes jobs that have not started, or that wait for their next attempt.
  ///
  /// - Parameters:
  ///   - filter: The jobs to change.
  ///   - change: The property to change, with its new value.
  /// - Returns: The number of jobs that were changed.
  /// - Throws: ``JobError``, with the code ``JobError/Code/payloadTooLarge`` or ``JobError/Code/nameTooLong`` if the
  ///   store does not accept the new value. After other errors, some of the jobs might have been changed.
  @discardableResult
  public func change(_ filter: JobFilter, _ change: JobChange) async throws -> Int {
    try await perform(.change(filter, change))
  }

  /// Replaces the payload of jobs that have not started, or that wait for their next attempt.
  ///
  /// Jobs of other types remain as they are. The checkpoints and the unique keys of the jobs do not change.
  ///
  /// - Parameters:
  ///   - filter: The jobs to change.
  ///   - job: A job with the new payload.
  /// - Returns: The number of jobs that were changed.
  /// - Throws: ``JobError``, with the code ``JobError/Code/unencodablePayload`` or ``JobError/Code/payloadTooLarge`` if
  ///   the payload can't be stored. After other errors, some of the jobs might have been changed.
  @discardableResult
  public func replace<Type: Job>(_ filter: JobFilter, with job: Type) async throws -> Int {
    let payload = try NewJob(job, options: []).payload
    let kinds = Set([Type.kind] + Type.aliases)
    var filter = filter
    filter.kinds = filter.kinds?.intersection(kinds) ?? kinds
    return try await change(filter, .payload(payload, version: Type.version))
  }

  // MARK: Queues

  /// Stops all processes from claiming jobs of a queue.
  ///
  /// Running jobs continue.
  ///
  /// - Parameter queue: The queue of the store.
  /// - Throws: ``JobError``.
  public func pauseQueue(_ queue: String) async throws { try await perform(.setPaused(queue: queue, true)) }

  /// Lets workers claim jobs of a paused queue again.
  ///
  /// - Parameter queue: The queue of the store.
  /// - Throws: ``JobError``.
  public func resumeQueue(_ queue: String) async throws { try await perform(.setPaused(queue: queue, false)) }
}
