#if Jobs
import GRDB
@_spi(JobStore) public import HeadwayJobs

@_spi(JobStore) extension SQLiteJobStore: SQLJobStore {
  /// Reads the state at one moment, without waiting for the writer.
  ///
  /// - Parameter body: A function that reads.
  /// - Returns: The value that the function returns.
  /// - Throws: `JobError`.
  public func readState<Answer: Sendable>(
    _ body: @escaping @Sendable (any StoreReader) throws -> Answer
  ) async throws -> Answer { try await read { try body($0) } }

  /// Stores new jobs as a whole or not at all.
  ///
  /// - Parameter jobs: The jobs to store, in order.
  /// - Returns: The ID of each job, once the jobs are durable.
  /// - Throws: `JobError`.
  public func enqueue(_ jobs: [NewJob]) async throws -> [Enqueued] {
    guard !jobs.isEmpty else { return [] }
    let size = jobs.reduce(0) { $0 + WriteRequest.sizeOfJob + $1.payload.bytes.count }
    return try await change(size: size) { transaction in try transaction.enqueue(jobs) }
  }

  /// Records the endings of attempts and claims jobs for a worker.
  ///
  /// - Parameter exchange: The endings and claims of one worker.
  /// - Returns: The result for each ending, and the claimed jobs.
  /// - Throws: `JobError`.
  public func exchange(_ exchange: JobExchange) async throws -> JobExchangeAnswer {
    guard exchange.endings.isEmpty, exchange.running == nil else { return try await exchangeNow(exchange) }
    // An idle worker requests jobs once per second.
    let version = changes.version()
    let nothing = JobExchangeAnswer(verdicts: [], claimed: exchange.claims.map { _ in [] })
    if changes.answers(at: version).nothingWaits { return nothing }
    // An idle worker that serves many queues does not lock the database.
    if try await read({ try WaitingQueues(exchange.claims, $0.database).isEmpty }) { return nothing }
    let answer = try await exchangeNow(exchange)
    if answer.claimed.allSatisfy(\.isEmpty), let version, changes.version() == version,
      try await read({ try $0.rows(StoreStatement(ClaimSQL.waits)) { $0.bool(0) } }) == [false]
    {
      changes.note(at: version) { $0.nothingWaits = true }
    }
    return answer
  }

  private func exchangeNow(_ exchange: JobExchange) async throws -> JobExchangeAnswer {
    let jobCount = exchange.claims.reduce(exchange.endings.count) { $0 + min($1.count, JobCommand.maxChangedCount) }
    let size = WriteRequest.sizeOfJob * (1 + jobCount)
    return try await change(size: size, isDurable: !exchange.endings.isEmpty) { transaction in
      try transaction.exchange(exchange, isRegistered: { try transaction.isStopped(exchange.worker) != nil }) {
        let queues = try WaitingQueues(exchange.claims, transaction.database)
        return try exchange.claimed { claim in
          queues.contains(claim.queue) ? try transaction.claim(claim, by: exchange.worker) : []
        }
      }
    }
  }

  /// Executes the writes of running attempts.
  ///
  /// - Parameter writes: The writes to execute, in order.
  /// - Returns: The result for each write.
  /// - Throws: `JobError`.
  public func write(_ writes: [FencedWrite]) async throws -> [FencedAnswer] {
    try await change(size: 1_024 * writes.count) { transaction in try writes.map(transaction.write) }
  }

  /// Adds the jobs of due ticks, makes due jobs wait for a worker, cancels jobs that have missed their deadline, and
  /// continues to cancel the dependents of failed jobs.
  ///
  /// - Returns: The earliest time when a tick or a job is due, a job misses its deadline, or a rate permits another
  ///   claim; nil if there is none.
  /// - Throws: `JobError`.
  public func advance() async throws -> StoreTime? {
    // An idle store writes nothing.
    let (now, version) = (now, changes.version())
    if let next = changes.answers(at: version).next, next.map({ $0 > now }) ?? true { return next }
    let next = try await nextTime(at: now)
    changes.note(at: version) { $0.next = .some(next) }
    guard let next, next <= now else { return next }
    var isMore = false
    for part in JobTransaction.Advance.allCases {
      guard try await read({ try part.isNecessary($0.database, now) }) else { continue }
      let definitions = part == .ticks ? try await read { try $0.dueDefinitions() } : [:]
      let hasMore = try await change(size: WriterInbox.maxSize) { transaction in
        transaction.knownDefinitions = definitions
        return try transaction.advance(part)
      }
      isMore = isMore || hasMore
    }
    let time = self.now
    return isMore ? time : try await nextTime(at: time).map { max($0, time) }
  }

  private func nextTime(at now: StoreTime) async throws -> StoreTime? {
    try await read { try $0.rows(StoreStatement(WorkerSQL.nextTime, .time(now))) { $0.optional(0, $0.time) } }
      .first ?? nil
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
    return try await change(size: WriterInbox.maxSize) { transaction in
      transaction.expired = expired
      return try transaction.perform(command, by: origin)
    }
  }

  /// Adds activity to the statistics of minutes and hours in a transaction.
  ///
  /// - Returns: Whether there might be more activity to merge.
  /// - Throws: `JobError`.
  public func mergeActivity() async throws -> Bool {
    try await change(size: WriterInbox.maxSize, isDurable: false) { try $0.mergeActivity() }
  }

  /// Returns jobs whose retention has expired, up to the limit of a transaction.
  ///
  /// Many of these jobs might still be needed, so the search is not part of the transaction.
  private func expiredJobs() async throws -> [JobID] {
    let expired = StoreStatement(JobSQL.expiredJobs, .time(now))
    return try await read { try $0.rows(expired) { $0.id(0) } }
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
  ) async throws -> ScheduleAnswer { try await change { try $0.change(name, command, by: origin) } }
}
#endif
