#if PostgreSQL
import HeadwayJobs
import Synchronization

/// The leases of this process's workers.
///
/// The thread of the control connection renews them, so jobs that block Swift's threads do not prevent that. A lease is
/// valid by the server's clock. Because this process does not know that clock exactly, it measures the time from when
/// it sent the last renewal that was answered, by a clock that continues while the machine sleeps.
final class LeaseKeeper: Sendable {
  private struct Lease {
    /// When the last renewal that was answered was sent.
    var confirmed: ContinuousClock.Instant
    var nextRenewal: ContinuousClock.Instant
    var isLost = false
  }

  /// The length of leases.
  let length: Duration
  private let leases = Mutex<[WorkerID: Lease]>([:])

  /// How long before its end a lease counts as lost if it was not renewed.
  private var safetyMargin: Duration { length / 6 }

  init(length: Duration) { self.length = length }

  var isEmpty: Bool { leases.withLock(\.isEmpty) }

  /// Adds a worker.
  ///
  /// - Parameters:
  ///   - worker: The worker.
  ///   - sent: When the request that has added it to the store was sent.
  func add(_ worker: WorkerID, sent: ContinuousClock.Instant) {
    let lease = Lease(confirmed: sent, nextRenewal: sent + interval())
    leases.withLock { $0[worker] = lease }
  }

  func remove(_ worker: WorkerID) { leases.withLock { $0[worker] = nil } }

  /// Returns whether others might already run the jobs of a worker of this process.
  func isLost(_ worker: WorkerID) -> Bool {
    let now = ContinuousClock.now
    return leases.withLock { leases in leases[worker].map { isLost($0, at: now) } ?? false }
  }

  private func isLost(_ lease: Lease, at now: ContinuousClock.Instant) -> Bool {
    lease.isLost || now >= lease.confirmed + length - safetyMargin
  }

  /// The workers whose leases must be renewed now.
  func due() -> [WorkerID] {
    let now = ContinuousClock.now
    return leases.withLock { leases in leases.filter { !$0.value.isLost && $0.value.nextRenewal <= now }.keys.sorted() }
  }

  /// When the next lease must be renewed.
  var next: ContinuousClock.Instant? {
    leases.withLock { leases in leases.values.filter { !$0.isLost }.map(\.nextRenewal).min() }
  }

  /// When the next lease is lost unless it is renewed.
  var nextLoss: ContinuousClock.Instant? {
    leases.withLock { leases in leases.values.filter { !$0.isLost }.map { $0.confirmed + length - safetyMargin }.min() }
  }

  /// Marks leases that were not renewed in time as lost.
  ///
  /// - Returns: Their workers.
  func loseUnconfirmed() -> Set<WorkerID> {
    let now = ContinuousClock.now
    return leases.withLock { leases in
      var lost: Set<WorkerID> = []
      for (worker, lease) in leases where !lease.isLost && isLost(lease, at: now) {
        leases[worker]?.isLost = true
        lost.insert(worker)
      }
      return lost
    }
  }

  /// Notes the answer to a renewal.
  func renewed(_ worker: WorkerID, sent: ContinuousClock.Instant, isRenewed: Bool) {
    let next = sent + interval()
    leases.withLock { leases in
      guard leases[worker] != nil else { return }
      leases[worker]?.nextRenewal = next
      if isRenewed { leases[worker]?.confirmed = sent } else { leases[worker]?.isLost = true }
    }
  }

  /// A third of the length, with jitter, so that the workers of a fleet don't renew at the same time.
  private func interval() -> Duration { length / 3 * Double.random(in: 0.8...1.2) }
}
#endif
