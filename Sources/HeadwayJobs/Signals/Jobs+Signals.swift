extension Jobs {
  /// Sends a signal to a job, even if another process runs it.
  ///
  /// A job that waits for the signal becomes ready. Otherwise, the signal is stored until the job waits for it: see
  /// ``JobContext/waitForSignal(_:as:timeLimit:)``. When the function returns, the signal is as durable as the job.
  ///
  /// ```swift
  /// let handle = try await jobs.enqueue(Publish())
  /// try await jobs.signal(handle.id, "approved by", "editor")
  /// ```
  ///
  /// A signal that is sent twice arrives twice, even if the first call threw an error with the code
  /// ``JobError/Code/outcomeUnknown``. If the sender repeats its requests, for example because it is a webhook, include
  /// the number of the request in the value, or send the signal in the transaction that records the request.
  ///
  /// - Parameters:
  ///   - id: The ID of the job.
  ///   - name: The name of the signal.
  ///   - value: The value; `true` by default.
  /// - Returns: False if the job has ended or does not exist.
  /// - Throws: ``JobError``, with the code ``JobError/Code/tooManySignals`` if the job has
  ///   ``JobSignal/maxPendingCount`` signals that no wait has consumed, ``JobError/Code/payloadTooLarge``,
  ///   ``JobError/Code/nameTooLong`` or ``JobError/Code/unencodablePayload``.
  @discardableResult
  public func signal(_ id: JobID, _ name: String, _ value: some Encodable = true) async throws -> Bool {
    try await signal(.id(id), JobSignal(name, value)) > 0
  }

  /// Sends a signal to jobs.
  ///
  /// - Parameters:
  ///   - filter: The jobs that receive the signal. Jobs that have ended receive nothing.
  ///   - signal: The signal to send.
  /// - Returns: The number of jobs that have received the signal.
  /// - Throws: ``JobError``, with the code ``JobError/Code/tooManySignals`` if none of the jobs can receive the signal,
  ///   ``JobError/Code/payloadTooLarge`` or ``JobError/Code/nameTooLong``. After other errors, some of the jobs might
  ///   have received the signal.
  @discardableResult
  public func signal(_ filter: JobFilter, _ signal: JobSignal) async throws -> Int {
    try await perform(.signal(filter, signal))
  }

  /// Checks the name and the size of a signal, for stores that can send it in a transaction of the caller.
  ///
  /// - Parameter signal: The signal to check.
  /// - Throws: ``JobError`` with the code ``JobError/Code/payloadTooLarge`` or ``JobError/Code/nameTooLong``.
  @_spi(JobStore) public func check(_ signal: JobSignal) throws {
    try NameLength.check(signal.name, "The name of a signal", NameLength.name)
    try check(signal.value, "The value of a signal “\(signal.name)”")
  }

  /// Posts the event of a command that a transaction of the caller has executed.
  ///
  /// - Parameters:
  ///   - command: The command that was executed.
  ///   - count: The number of jobs that were changed. If it is 0, there is no event.
  @_spi(JobStore) public func notePerformed(_ command: JobCommand, count: Int) {
    if count > 0 { eventLog.post(JobEvent(command, count: count)) }
  }
}
