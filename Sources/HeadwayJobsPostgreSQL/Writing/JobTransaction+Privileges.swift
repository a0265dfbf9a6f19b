#if PostgreSQL
@_spi(JobStore) import HeadwayJobs

extension JobTransaction {
  /// Adds jobs; by the function `enqueue` of the schema if the role can't write to the tables.
  func enqueue(_ batch: [NewJob], beforeDependentsOf parent: JobID? = nil) throws -> [Enqueued] {
    let full = try fullQueues(for: batch)
    guard try session.mayInsertJobs(schema) else { return try call(batch, full) }
    try requireRoom(for: batch, full)
    return try addBatch(batch, beforeDependentsOf: parent)
  }

  func fullQueues(_ limits: [String: Int]) throws -> Set<String> {
    let full = try rows(
      LimitSQL.fullQueues, for: limits.sorted { $0.key < $1.key },
      { limit, values in
        values.add(limit.key)
        values.add(limit.value)
      }, constants: { _ in }, { $0.text(0) })
    return Set(full)
  }

  /// Calls the function for all jobs.
  ///
  /// - Parameters:
  ///   - batch: The jobs to add, in order.
  ///   - full: The limits of the queues that are full.
  /// - Throws: `JobError` if a queue is full; `PostgresError`.
  /// - Returns: The ID of each job.
  private func call(_ batch: [NewJob], _ full: [String: Int]) throws -> [Enqueued] {
    for new in batch {
      guard new.dependencies.isEmpty, new.settings.unique?.conflict != .replace else { throw PostgresError.needsWork }
      // The function determines whether the key is held.
      if let limit = full[new.queue], new.settings.unique == nil { throw JobError(full: new.queue, limit: limit) }
    }
    for new in batch {
      if isDue(new) { hints.claimableQueues.insert(new.queue) } else { hints.hasScheduled = true }
    }
    do {
      return try run(callStatement(batch, full)).rows.map { Enqueued(id: $0.id(0), isNew: $0.bool(1)) }
    } catch let error as PostgresError where error.sqlState == "54000" {
      guard let (queue, limit) = full.first else { throw error }
      throw JobError(full: queue, limit: limit)
    }
  }

  private func isDue(_ new: NewJob) -> Bool {
    if let delay = new.delay { return delay <= .zero }
    return new.startTime.map { $0 <= now } ?? true
  }

  private func callStatement(_ batch: [NewJob], _ full: [String: Int]) -> Statement {
    var call = statement(EnqueueSQL.call)
    call.add(array: batch.map(\.kind.rawValue))
    call.add(array: batch.map(\.payload.bytes))
    call.add(array: batch.map(\.queue))
    call.add(array: batch.map { Int64($0.version) })
    call.add(array: batch.map { Int64($0.priority) })
    call.add(array: batch.map { $0.delay.map(Self.microseconds) })
    call.add(array: batch.map(\.startTime))
    call.add(array: batch.map(\.deadline))
    call.add(array: batch.map { $0.settings.unique?.key })
    call.add(array: batch.map { $0.settings.unique?.scope == .waiting ? "waiting" : "unfinished" })
    call.add(array: batch.map { $0.settings.unique?.duration.map(Self.microseconds) })
    call.add(array: batch.map(\.settings.stored))
    call.add(array: batch.map { JobRow.keep($0.settings) })
    call.add(array: batch.map { $0.settings.firstLimit?.storedKey })
    call.add(array: batch.map { $0.settings.firstLimit?.slots.map(Int64.init) })
    call.add(array: batch.map { full[$0.queue] != nil })
    call.add(array: batch.map { $0.settings.firstLimit.map { Int64($0.units) } })
    call.add(array: batch.map(\.settings.furtherLimits))
    return call
  }

  /// The microseconds of a duration of at most about 30 years, for calculations in SQL.
  private static func microseconds(_ duration: Duration) -> Int64 {
    Int64(max(0, min(duration / .microseconds(1), 1e15)))
  }
}

extension PostgresError {
  /// The error of a role that may only add jobs.
  fileprivate static let needsWork = PostgresError(
    sqlState: "42501",
    message: "permission denied: jobs with dependencies, and unique keys with the conflict `replace`, require the "
      + "privilege work", isConnectionLost: false)
}
#endif
