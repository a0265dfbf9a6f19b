#if PostgreSQL
@_spi(JobStore) import HeadwayJobs
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// Stores the new jobs of all callers together.
///
/// While a transaction is being committed, the next jobs accumulate. Therefore, the size of the transactions adapts to
/// the load, and no caller waits for a timer.
///
/// If the connection is lost during a commit, the next connection looks for the receipt of the transaction. Jobs are
/// stored again only if the server process of the lost connection has ended and the receipt is missing.
///
/// Each caller waits for a connection until its own time limit has expired. The callers of a transaction that might
/// have been committed fail together.
final class EnqueueGatherer: Sendable {
  /// The jobs of one caller.
  private struct Item: Sendable {
    let jobs: [NewJob]
    let size: Int
    /// When the caller fails if there is no connection.
    let end: ContinuousClock.Instant
    let continuation: CheckedContinuation<[Enqueued], any Error>

    var isPlain: Bool { jobs.allSatisfy(PlainJobs.contains) }
  }

  /// A transaction that might have been committed.
  private struct Uncertain {
    let receipt: Receipt
    /// The number of items, which are the first ones.
    let itemCount: Int
    let backend: PostgresSession.Backend
    let isPooled: Bool
    let end: ContinuousClock.Instant
  }

  private struct State {
    var waiting: [Item] = []
    var isScheduled = false
    /// The items that the thread of the connection is storing.
    ///
    /// Only that thread uses them.
    var current: [Item] = []
    var uncertain: Uncertain?
    var receipts = Receipts()

    /// The item that has waited the longest.
    var first: Item? { current.first ?? waiting.first }

    /// Removes the items that fail.
    ///
    /// - Parameter isLost: Whether there is no connection. Otherwise, the current items fail before their time limit
    ///   has expired.
    /// - Returns: The failed items of a transaction that might have been committed, and all other failed items.
    mutating func removeFailed(isLost: Bool) -> (uncertain: [Item], others: [Item]) {
      let now = ContinuousClock.now
      func hasFailed(_ item: Item) -> Bool { !isLost || item.end <= now }
      var first = Array(current.prefix(uncertain?.itemCount ?? 0))
      if first.contains(where: hasFailed) {
        current.removeFirst(first.count)
        uncertain = nil
      } else {
        first = []
      }
      let others = current.filter(hasFailed) + waiting.filter { $0.end <= now }
      current.removeAll(where: hasFailed)
      waiting.removeAll { $0.end <= now }
      return (first, others)
    }
  }

  private let connection: PostgresConnection
  private let runner: TransactionRunner
  private let onCommit: @Sendable (JobHints) -> Void
  private let state = Mutex(State())

  private static let maxJobCount = 1_000
  private static let maxSize = 1_024 * 1_024
  /// The time limit for finding out whether a transaction was committed.
  private static let maxUncertainty = Duration.seconds(10)
  private static let uncertaintyPause: UInt32 = 20_000

  init(
    _ connection: PostgresConnection, _ runner: TransactionRunner, onCommit: @escaping @Sendable (JobHints) -> Void
  ) {
    self.connection = connection
    self.runner = runner
    self.onCommit = onCommit
  }

  /// Stores jobs as a whole or not at all.
  func enqueue(_ jobs: [NewJob]) async throws -> [Enqueued] {
    try await withCheckedThrowingContinuation { continuation in
      let size = jobs.reduce(0) { $0 + 64 + $1.payload.bytes.count }
      let item = Item(jobs: jobs, size: size, end: .now + connection.requestLimit, continuation: continuation)
      let mustSchedule = state.withLock { state in
        state.waiting.append(item)
        defer { state.isScheduled = true }
        return !state.isScheduled
      }
      if mustSchedule { schedule() }
    }
  }

  private func schedule() {
    let end = state.withLock { $0.first?.end } ?? (.now + connection.requestLimit)
    connection.add(
      PostgresConnection.Request(
        end: end, isRepeatable: true,
        perform: { [self] session in
          try storeAll(session)
          return { [self] in scheduleRest() }
        },
        fail: { [self] error in
          failAll(error)
          scheduleRest()
        }))
  }

  private func scheduleRest() {
    let mustSchedule = state.withLock { state in
      state.isScheduled = state.first != nil
      return state.isScheduled
    }
    if mustSchedule { schedule() }
  }

  private func failAll(_ error: any Error) {
    let underlying = (error as? JobError)?.underlyingError as? PostgresError
    let isLost = underlying?.isConnectionLost == true
    let (uncertain, others) = state.withLock { state in
      if !isLost, state.current.isEmpty { Self.take(&state) }
      return state.removeFailed(isLost: isLost)
    }
    let loss = UnknownCommit(underlyingError: underlying ?? .lost("\(error)"))
    for item in uncertain { item.continuation.resume(throwing: JobError(loss, "")) }
    for item in others { item.continuation.resume(throwing: JobError(error, "Nothing was stored.")) }
  }

  // MARK: The thread of the connection

  private static func take(_ state: inout State) {
    var (count, jobCount, size) = (0, 0, 0)
    for item in state.waiting {
      if count > 0, jobCount + item.jobs.count > maxJobCount || size + item.size > maxSize { break }
      (count, jobCount, size) = (count + 1, jobCount + item.jobs.count, size + item.size)
    }
    state.current = Array(state.waiting.prefix(count))
    state.waiting.removeFirst(count)
  }

  private func storeAll(_ session: PostgresSession) throws {
    if let uncertain = state.withLock(\.uncertain) { try clarify(uncertain, session) }
    while true {
      let items = state.withLock { state in
        if state.current.isEmpty { Self.take(&state) }
        return state.current
      }
      guard !items.isEmpty else { return }
      let plain = items.prefix(while: \.isPlain)
      if plain.count > 0, try session.mayInsertJobs(runner.schema), try storePlain(Array(plain), session) { continue }
      try storeOne(items[0], session)
    }
  }

  /// Finds out, for a transaction whose answer was lost, whether it was committed.
  private func clarify(_ uncertain: Uncertain, _ session: PostgresSession) throws {
    try session.requirePrimary()
    while true {
      // Look for the process first, because it could commit between the two queries.
      let isRunning = try uncertain.isPooled || isRunning(uncertain.backend, session)
      if let enqueued = try uncertain.receipt.read(session, runner.schema) {
        state.withLock { $0.uncertain = nil }
        answer(uncertain.itemCount, enqueued)
        return
      }
      if !isRunning {
        state.withLock { $0.uncertain = nil }
        return
      }
      guard ContinuousClock.now < uncertain.end else {
        let loss = UnknownCommit(underlyingError: .lost("The former connection has not ended."))
        fail(uncertain.itemCount, JobError(loss, ""))
        state.withLock { $0.uncertain = nil }
        return
      }
      usleep(Self.uncertaintyPause)
    }
  }

  private func isRunning(_ backend: PostgresSession.Backend, _ session: PostgresSession) throws -> Bool {
    let statement = Statement(EnqueueSQL.isRunning, backend.process, backend.start)
    return try !session.run(statement).isEmpty
  }

  /// Stores the jobs of several callers by one statement.
  ///
  /// - Returns: False if nothing was stored, because a queue has a pending limit, or the jobs of a caller are rejected.
  private func storePlain(_ items: [Item], _ session: PostgresSession) throws -> Bool {
    let jobs = items.flatMap(\.jobs)
    let receipt = state.withLock { $0.receipts.next() }
    do {
      let result = try PlainJobs(jobs: jobs).insert(
        session, runner.schema, receipt: receipt, at: runner.clock.custom?())
      guard let (stored, now) = result else { return false }
      runner.clock.note(now)
      var hints = JobHints()
      for (job, stored) in zip(jobs, stored) {
        if stored.isScheduled { hints.hasScheduled = true } else { hints.claimableQueues.insert(job.queue) }
      }
      onCommit(hints)
      answer(items.count, stored.map { Enqueued(id: $0.id, isNew: true) })
      return true
    } catch let error as PostgresError where error.isConnectionLost {
      // The statement is its own transaction, so it might have been committed.
      throw note(error, receipt, items.count, session)
    } catch is PostgresError where items.count > 1 {
      // The jobs of one caller might be the reason.
      return false
    } catch let error as PostgresError {
      fail(items.count, JobError(error, "Nothing was stored."))
      return true
    }
  }

  private func storeOne(_ item: Item, _ session: PostgresSession) throws {
    let receipt = state.withLock { $0.receipts.next() }
    do {
      let (enqueued, hints) = try runner.run(session) { transaction in
        let enqueued = try transaction.enqueue(item.jobs)
        receipt.write(enqueued, transaction)
        return enqueued
      }
      onCommit(hints)
      answer(1, enqueued)
    } catch let unknown as UnknownCommit {
      throw note(unknown.underlyingError, receipt, 1, session)
    } catch let error as PostgresError where error.isConnectionLost {
      throw error
    } catch {
      fail(1, JobError(error, "Nothing was stored."))
    }
  }

  /// Notes that it is not known whether a transaction was committed.
  ///
  /// - Returns: The error to throw. The next connection then continues.
  private func note(
    _ error: PostgresError, _ receipt: Receipt, _ itemCount: Int, _ session: PostgresSession
  ) -> PostgresError {
    let uncertain = Uncertain(
      receipt: receipt, itemCount: itemCount, backend: session.backend, isPooled: session.isPooled,
      end: .now + Self.maxUncertainty)
    state.withLock { $0.uncertain = uncertain }
    return error
  }

  private func removeFirst(_ count: Int) -> [Item] {
    state.withLock { state in
      defer { state.current.removeFirst(count) }
      return Array(state.current.prefix(count))
    }
  }

  private func answer(_ itemCount: Int, _ enqueued: [Enqueued]) {
    var rest = enqueued[...]
    for item in removeFirst(itemCount) {
      item.continuation.resume(returning: Array(rest.prefix(item.jobs.count)))
      rest = rest.dropFirst(item.jobs.count)
    }
  }

  private func fail(_ itemCount: Int, _ error: any Error) {
    for item in removeFirst(itemCount) { item.continuation.resume(throwing: error) }
  }
}
#endif
