extension JobRecord {
  /// Throws an error unless the job has succeeded.
  ///
  /// - Throws: ``JobFailure``, or ``JobError`` with the code ``JobError/Code/unfinishedJob``.
  func checkSuccess() throws {
    guard state.isFinished else {
      throw JobError(.unfinishedJob, "Job \(id) has no result yet. Wait for it, or enqueue this job after it.")
    }
    guard state == .succeeded else {
      throw JobFailure(
        id: id, state: state, reason: reason ?? JobEndReason(.failed), lastError: history.errors.last)
    }
  }

  /// The result of a job that has succeeded.
  func decodedResult<Output: Decodable>() throws -> Output {
    do {
      return try (result ?? JobPayload(bytes: Array("null".utf8))).decode(Output.self)
    } catch {
      throw JobError(
        .undecodablePayload, "The result of job \(id) can't be decoded as \(Output.self): \(error)",
        underlyingError: error)
    }
  }
}
