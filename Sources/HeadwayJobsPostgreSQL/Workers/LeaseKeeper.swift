#if PostgreSQL
import Headway
@_spi(JobStore) import HeadwayJobs
import Synchronization

/// The leases of this process's workers.
///
/// A connection with its own thread renews them, so neither jobs that block Swift's threads nor other requests of the
/// store can prevent a renewal. The server's clock determines how long a lease is valid. Because this process can't
/// read that clock exactly, it measures the time since it sent the last answered renewal. The clock that it uses
/// continues while the machine sleeps.
///
/// Another thread detects lost leases, because this connection can wait for the server, or for the address of its host,
/// for longer than a lease lasts. The thread exists while there are leases that are not lost.
final class LeaseKeeper: Sendable {
  private struct Lease {
    /// When the last renewal that was answered was sent.
    var confirmed: ContinuousClock.Instant
    var nextRenewal: ContinuousClock.Instant
    var condition = Condition.held
  }

  private enum Condition {
    case held
    /// Lost, but observers were not notified.
    case lost
    /// Lost, and observers were notified or will be.
    case reported
  }

  private struct State {
    var leases: [WorkerID: Lease] = [:]
    /// Whether there is a thread that detects lost leases.
    var isWatched = false
  }

  /// The length of leases.
  let length: Duration
  private let observers: HintObservers
  private let state = Mutex(State())
  private let pipe: WakePipe

  /// How long before its end a lease counts as lost if it was not renewed.
  private var safetyMargin: Duration { length / 6 }

  /// Creates an object without leases.
  ///
  /// - Parameters:
  ///   - length: The length of leases.
  ///   - observers: Notified once of each lost lease.
  /// - Throws: `JobError` if there are not enough descriptors.
  init(length: Duration, observers: HintObservers) throws {
    (self.length, self.observers) = (length, observers)
    pipe = try WakePipe()
  }

  var isEmpty: Bool { state.withLock(\.leases.isEmpty) }

  /// Adds a worker.
  ///
  /// - Parameters:
  ///   - worker: The worker whose lease is kept.
  ///   - sent: When the request that has added it to the store was sent.
  func add(_ worker: WorkerID, sent: ContinuousClock.Instant) {
    let lease = Lease(confirmed: sent, nextRenewal: sent + interval())
    state.withLock { $0.leases[worker] = lease }
    watch()
  }

  func remove(_ worker: WorkerID) {
    state.withLock { $0.leases[worker] = nil }
    pipe.wake()
  }

  /// Returns whether others might already run the jobs of a worker of this process.
  func isLost(_ worker: WorkerID) -> Bool {
    let now = ContinuousClock.now
    return state.withLock { state in state.leases[worker].map { isLost($0, at: now) } ?? false }
  }

  private func isLost(_ lease: Lease, at now: ContinuousClock.Instant) -> Bool {
    lease.condition != .held || now >= lease.confirmed + length - safetyMargin
  }

  // MARK: Renewals

  /// Renews the leases that are due and have not expired.
  ///
  /// - Returns: When to call the function again; nil if there are no leases.
  func renewDue(_ session: PostgresSession, _ schema: SchemaName) throws -> ContinuousClock.Instant? {
    let due = due()
    guard !due.isEmpty else { return next }
    let sent = ContinuousClock.now
    var renewal = Statement(schema.sql(WorkerSQL.renew))
    renewal.add(array: due.map(\.rawValue))
    renewal.add(Int64(length / .microseconds(1)))
    var answers: [WorkerID: Renewal] = [:]
    for row in try session.run(session.requestSettings + [renewal]).last?.rows ?? [] {
      answers[WorkerID(rawValue: row.int64(0))] = row.bool(1) ? .renewed : .locked
    }
    for worker in due { note(answers[worker] ?? .expired, of: worker, sent: sent) }
    return next
  }

  /// The answer to a renewal.
  private enum Renewal {
    case renewed
    /// A transaction has locked the row of the worker.
    case locked
    /// The lease has expired, or the worker was removed.
    case expired
  }

  /// The workers whose leases must be renewed now.
  private func due() -> [WorkerID] {
    let now = ContinuousClock.now
    return state.withLock { state in
      state.leases.filter { $0.value.condition == .held && $0.value.nextRenewal <= now }.keys.sorted()
    }
  }

  /// When the next lease must be renewed.
  private var next: ContinuousClock.Instant? {
    state.withLock { state in state.leases.values.filter { $0.condition == .held }.map(\.nextRenewal).min() }
  }

  /// Notes the answer to a renewal.
  private func note(_ renewal: Renewal, of worker: WorkerID, sent: ContinuousClock.Instant) {
    let next = sent + (renewal == .locked ? length / 30 : interval())
    state.withLock { state in
      guard var lease = state.leases[worker], lease.condition == .held else { return }
      lease.nextRenewal = next
      switch renewal {
      case .renewed: lease.confirmed = sent
      case .locked: break
      case .expired: lease.condition = .lost
      }
      state.leases[worker] = lease
    }
    watch()
  }

  /// A third of the length, with jitter, so that the workers of a fleet don't renew at the same time.
  private func interval() -> Duration { length / 3 * Double.random(in: 0.8...1.2) }

  // MARK: Losses

  /// Makes the thread check the leases and starts it if necessary.
  private func watch() {
    let mustStart = state.withLock { state in
      defer { state.isWatched = true }
      return !state.isWatched
    }
    guard mustStart else { return pipe.wake() }
    // Without a thread, the next renewal tries again.
    if startThread(named: "headway-lease", { self.reportLosses() }) != 0 { state.withLock { $0.isWatched = false } }
  }

  /// Reports lost leases until there are no others.
  private func reportLosses() {
    while true {
      let now = ContinuousClock.now
      let (lost, nextLoss) = state.withLock { state in
        var lost: Set<WorkerID> = []
        for (worker, lease) in state.leases where lease.condition != .reported && isLost(lease, at: now) {
          state.leases[worker]?.condition = .reported
          lost.insert(worker)
        }
        let held = state.leases.values.filter { $0.condition == .held }
        state.isWatched = !held.isEmpty
        return (lost, held.map { $0.confirmed + length - safetyMargin }.min())
      }
      if !lost.isEmpty { report(lost) }
      guard let nextLoss else { return }
      // The time of `poll` stops while the machine sleeps.
      pipe.wait(upTo: min(nextLoss - now, safetyMargin))
    }
  }

  private func report(_ lost: Set<WorkerID>) {
    var hints = JobHints()
    hints.lostWorkers = lost
    // Cancelling operations calls code of the application, which could block this thread.
    let code = startThread(named: "headway-lost") { [observers, hints] in observers.send(hints) }
    if code != 0 { observers.send(hints) }
  }
}
#endif
