#if PostgreSQL
@_spi(JobStore) public import HeadwayJobs

@_spi(JobStore) extension PostgresJobStore: SQLJobStore {
  /// Records the endings of attempts and claims jobs for a worker.
  ///
  /// - Parameter exchange: The endings and claims of one worker.
  /// - Returns: The result for each ending, and the claimed jobs.
  /// - Throws: `JobError`.
  public func exchange(_ exchange: JobExchange) async throws -> JobExchangeAnswer {
    do {
      return try await exchangeTogether(exchange)
    } catch let error as JobError
      where error.isLockTimeout && exchange.endings.count > 1 || error.isOfEnding && !exchange.endings.isEmpty
    {
      // A transaction of the application has locked one of the jobs, or an ending can't be stored. If an ending is not
      // recorded, the worker sends all of them again, which has no effect on those that are.
      var (verdicts, failure) = ([JobExchangeAnswer.Verdict](), nil as JobError?)
      for ending in exchange.endings {
        do {
          verdicts.append(try await record(ending, of: exchange.worker))
        } catch let error as JobError {
          failure = error
        }
      }
      if let failure { throw failure }
      var claims = exchange
      claims.endings = []
      let answer = try await exchangeTogether(claims)
      return JobExchangeAnswer(verdicts: verdicts, claimed: answer.claimed)
    }
  }

  /// Records an ending, or the failure of the job if the ending can't be stored.
  private func record(_ ending: JobEnding, of worker: WorkerID) async throws -> JobExchangeAnswer.Verdict {
    do {
      return try await exchangeTogether(JobExchange(worker: worker, endings: [ending])).verdicts[0]
    } catch let error as JobError where error.isOfEnding {
      let reason = JobEndReason(.failed, "Its ending can't be stored: \(error)")
      let failure = JobEnding(ending.fence, .fail(reason, JobErrorDescription(error)))
      return try await exchangeTogether(JobExchange(worker: worker, endings: [failure])).verdicts[0]
    }
  }

  private func exchangeTogether(_ exchange: JobExchange) async throws -> JobExchangeAnswer {
    let (leases, marks) = (leases, runner.marks)
    let (answer, changedMarks) = try await change(on: connections.exchanging, hold: .shared) { transaction in
      var changedMarks: [(claim: JobClaim, mark: ClaimMark, generation: Int)] = []
      let answer = try transaction.exchange(
        exchange, isRegistered: { try !leases.isLost(exchange.worker) && transaction.isAlive(exchange.worker) }
      ) {
        let queues = try WaitingQueues(exchange.claims, transaction)
        return try exchange.claimed { claim in
          guard queues[claim.queue] != nil else { return [] }
          var (mark, generation) = marks.mark(of: claim)
          defer { changedMarks.append((claim, mark, generation)) }
          return try transaction.claim(claim, by: exchange.worker, in: queues, after: &mark)
        }
      }
      return (answer, changedMarks)
    }
    for (claim, mark, generation) in changedMarks { marks.set(mark, of: claim, generation: generation) }
    return answer
  }

  /// Executes the writes of running attempts.
  ///
  /// - Parameter writes: The writes to execute, in order.
  /// - Returns: The result for each write.
  /// - Throws: `JobError`.
  public func write(_ writes: [FencedWrite]) async throws -> [FencedAnswer] {
    try await change(on: connections.exchanging, hold: writes.contains(where: \.addsBeforeDependents) ? .alone : .none)
    {
      transaction in try writes.map(transaction.write)
    }
  }

  /// Adds the jobs of due ticks, makes due jobs wait for a worker, cancels jobs that have missed their deadline, and
  /// continues to cancel the dependents of failed jobs.
  ///
  /// - Returns: The earliest time when a tick or a job is due, a job misses its deadline, or a rate permits another
  ///   claim; nil if there is none.
  /// - Throws: `JobError`.
  public func advance() async throws -> StoreTime? {
    // An idle store writes nothing.
    let (next, now) = try await nextTime()
    guard let next, next <= now else { return next }
    let (lockClass, runner) = (schema.lockClass, runner)
    let isMore = try await change(on: connections.control, hold: .none) { transaction -> Bool? in
      // If another process advances the store, this process need not wait for it.
      let isFree = try transaction.run(LockSQL.tryLock, lockClass, StoreLock.advance.rawValue)
      guard isFree.first?.bool(0) == true else { return nil }
      _ = try transaction.run(LockSQL.lock, lockClass, StoreLock.store.rawValue)
      return try transaction.advance()
    }
    let soon = runner.clock.now + .milliseconds(100)
    guard let isMore else { return soon }
    guard !isMore else { return now }
    // A transaction of the application has locked the jobs that are still due.
    return try await nextTime().next.map { $0 <= now ? soon : $0 }
  }

  /// Returns the earliest time when the store must be advanced, and the current time.
  private func nextTime() async throws -> (next: StoreTime?, now: StoreTime) {
    var select = Statement(WorkerSQL.nextTime, isFrequent: true)
    select.add(clock.custom?())
    let times = try await ask([select]) { [clock] results in
      let row = results[0].first
      return (row?.optional(0) { row?.time($0) } ?? nil, row?.time(1) ?? clock.now)
    }
    clock.note(times.1)
    return times
  }

  /// Changes many jobs, or a queue, and records the change in the same transaction.
  ///
  /// - Parameters:
  ///   - command: The command to execute.
  ///   - origin: The author of the change; nil to record nothing.
  /// - Returns: The number of jobs or queues that were changed.
  /// - Throws: `JobError`, with the code `keyHeld` or `dependencyFailed` if no job can be run again because other jobs
  ///   hold the keys, or dependencies have failed.
  public func perform(_ command: JobCommand, by origin: JobsChangeOrigin?) async throws -> Int {
    let expired = command == .prune ? try await expiredJobs() : []
    return try await change(on: connections.reading, hold: command.sharesStore ? .shared : .alone) { transaction in
      transaction.expired = expired
      return try transaction.perform(command, by: origin)
    }
  }

  /// Adds activity to the statistics of minutes and hours in a transaction, unless another process does it now.
  ///
  /// - Returns: Whether there might be more activity to merge.
  /// - Throws: `JobError`.
  public func mergeActivity() async throws -> Bool {
    let lockClass = schema.lockClass
    return try await change(on: connections.control) { transaction in
      let isFree = try transaction.run(LockSQL.tryLock, lockClass, StoreLock.statistics.rawValue)
      return isFree.first?.bool(0) == true ? try transaction.mergeActivity() : false
    }
  }

  /// Returns jobs whose retention has expired, up to the limit of a transaction.
  ///
  /// Many of these jobs might still be needed, so the search is not part of the transaction.
  private func expiredJobs() async throws -> [JobID] {
    var search = Statement(JobSQL.findExpired, isFrequent: true)
    search.add(clock.custom?())
    return try await ask([search]) { $0[0].rows.map { $0.id(0) } }
  }

  /// Changes a schedule, and records the change in the same transaction.
  ///
  /// - Parameters:
  ///   - command: The change to make.
  ///   - name: The name of the schedule.
  ///   - origin: The author of the change; nil to record nothing.
  /// - Returns: Whether there was a schedule with this name, and the job that was added.
  /// - Throws: `JobError`.
  public func perform(
    _ command: ScheduleCommand, on name: String, by origin: JobsChangeOrigin?
  ) async throws -> ScheduleAnswer {
    if case .set(let definition) = command { try definition.job.checkNames("The schedule was not changed.") }
    return try await change(on: connections.reading, hold: .alone) { try $0.change(name, command, by: origin) }
  }
}

extension NewJob {
  /// Rejects a job whose names or keys contain null characters, because it could not be stored later.
  ///
  /// In a schedule, such a job would prevent all ticks.
  ///
  /// - Parameter consequence: The sentence of the error message that describes the consequence.
  /// - Throws: `JobError` with the code `unencodablePayload`.
  func checkNames(_ consequence: String) throws {
    let names = [queue, kind.rawValue, settings.unique?.key] + (settings.limits ?? []).map(\.key)
    guard names.contains(where: { $0?.utf8.contains(0) == true }) else { return }
    throw JobError(PostgresError.nullCharacter, consequence)
  }
}

extension JobError {
  /// Whether a statement has waited too long for a lock.
  fileprivate var isLockTimeout: Bool { (underlyingError as? PostgresError)?.sqlState == "55P03" }

  /// Whether the server can't store an ending, because it rejects a value or a constraint is violated.
  fileprivate var isOfEnding: Bool {
    (underlyingError as? PostgresError)?.sqlState.map { ["22", "23", "54"].contains($0.prefix(2)) } ?? false
  }
}

extension JobCommand {
  /// Whether the command can run at the same time as exchanges.
  ///
  /// A signal locks jobs in ascending order of ID, like an exchange. If it had to wait for the lock of a job while it
  /// held the lock of the store, all exchanges would wait, too.
  fileprivate var sharesStore: Bool {
    switch self {
    case .prune, .setMuted, .signal: true
    default: false
    }
  }
}

extension FencedWrite {
  /// Whether the write changes the dependents of the running job.
  fileprivate var addsBeforeDependents: Bool {
    if case .enqueueBatch(_, true) = content { true } else { false }
  }
}
#endif
