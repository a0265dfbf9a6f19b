import Headway

extension JobContext {
  /// Waits for a signal without occupying a worker and returns its value.
  ///
  /// If the signal has already been sent, the function returns its value immediately. Otherwise, the function throws
  /// ``JobSuspension``, which stops the attempt. When the signal arrives or the time limit has passed, the code of the
  /// job runs again from the start, and the function then returns.
  ///
  /// ```swift
  /// if let address = try await context.waitForSignal("address", as: String.self, timeLimit: .seconds(86_400)) {
  ///   try await context.log("ship to \(address)")
  /// }
  /// ```
  ///
  /// Put the steps before the wait into checkpoints, so that they don't run again. After a wait, the job has all its
  /// attempts again. While the job waits, it uses no units of its limits, but it keeps its turn for a serial key.
  ///
  /// The first call with this name returns the first value that was sent, the second call returns the second value, and
  /// so on. In all later attempts, each call returns the same value again, even if a signal arrives after the time
  /// limit. That signal is for the next call. Therefore, the code must reach the calls with the same name in the same
  /// order in each attempt. Don't wait inside a checkpoint, or for the same name in several tasks of an attempt.
  ///
  /// - Parameters:
  ///   - name: The name of the signal.
  ///   - type: The type of its value.
  ///   - timeLimit: How long the job waits; not negative. It begins when the code of the job first reaches this call
  ///     and continues through errors, crashes and pauses of the queue.
  /// - Returns: The value; nil if no signal has arrived when the code runs after the time limit.
  /// - Throws: ``JobSuspension`` if the job must wait; ``JobError``, with the code ``JobError/Code/undecodableSignal``
  ///   if the value is not of this type, ``JobError/Code/waitInCheckpoint`` or ``JobError/Code/nameTooLong``. If a call
  ///   fails because of the store, the next call in the same attempt is the same wait.
  public func waitForSignal<Value: Decodable & Sendable>(
    _ name: String, as type: Value.Type, timeLimit: Duration
  ) async throws -> Value? {
    guard let payload = try await value(of: .signal(name), within: timeLimit) else { return nil }
    do {
      return try payload.decode(type)
    } catch {
      throw JobError(
        .undecodableSignal,
        "The value of a signal “\(name)” of job \(id) can't be decoded as \(type): \(error). Send a value of this type "
          + "to another job, or catch this error and wait for the next signal.", underlyingError: error)
    }
  }

  /// Waits for a signal without occupying a worker.
  ///
  /// The value of the signal is not used.
  ///
  /// It works like ``waitForSignal(_:as:timeLimit:)``.
  ///
  /// - Parameters:
  ///   - name: The name of the signal.
  ///   - timeLimit: How long the job waits; not negative.
  /// - Returns: False if no signal has arrived when the code runs after the time limit.
  /// - Throws: ``JobSuspension`` if the job must wait; ``JobError``.
  public func waitForSignal(_ name: String, timeLimit: Duration) async throws -> Bool {
    try await value(of: .signal(name), within: timeLimit) != nil
  }

  /// Sleeps between two steps without occupying a worker.
  ///
  /// When the code of the job first reaches this call, the end of the sleep is stored. Until then, the function throws
  /// ``JobSuspension``, which stops the attempt. Then the code runs again from the start, and the function returns. A
  /// crash or an error doesn't extend the sleep.
  ///
  /// ```swift
  /// try await context.sleep("cool down", for: .seconds(14 * 86_400))
  /// ```
  ///
  /// - Parameters:
  ///   - name: The name of the sleep. Several calls with the same name are several sleeps.
  ///   - duration: The length of the sleep; not negative.
  /// - Throws: ``JobSuspension`` if the job must sleep; ``JobError``.
  public func sleep(_ name: String, for duration: Duration) async throws {
    _ = try await value(of: .sleep(name), within: duration)
  }

  /// Returns the value of the signal that the next wait of this kind received; nil if it received none.
  private func value(of wait: JobWait, within limit: Duration) async throws -> JobPayload? {
    require(limit >= .zero, "Job \(id) waits for \(wait) with the time limit \(limit): use zero or more.")
    try NameLength.check(wait.name, "The name of a signal or sleep", NameLength.name)
    // Later attempts don't run the step, so they would number their waits differently.
    guard Self.step !== self else {
      throw JobError(
        .waitInCheckpoint,
        "Job \(id) waits for \(wait) inside a checkpoint. Wait before or after the checkpoint: the outcome of a wait "
          + "is stored anyway.")
    }
    try checkNotSuspended()
    let number = nextNumber(of: wait)
    do {
      return try await value(of: wait, number, within: limit)
    } catch {
      // The code might catch the error of the store and call the function again, which is the same wait.
      if !(error is JobSuspension) { giveBack(number, of: wait) }
      throw error
    }
  }

  private func value(of wait: JobWait, _ number: Int, within limit: Duration) async throws -> JobPayload? {
    // A wait that has ended is read without a transaction that writes.
    if let stored = try await jobs.backend.checkpoint(StoredSignals.outcome(of: wait, number), of: id) {
      let record = try WaitRecord(stored: stored)
      if record.isOver {
        guard let row = record.signal else { return nil }
        if let value = try await jobs.backend.checkpoint(row, of: id) { return value }
        // The job was abandoned and deleted in the meantime. The store rejects the following write.
      }
    }
    switch try await write(.wait(wait, number: number, timeLimit: limit)) {
    case .waited(let value): return value
    case .waits(let until): throw suspend(JobSuspension(wait, until: until))
    default: misuse(jobs.backend.wrongAnswer)
    }
  }
}
