#if PostgreSQL
@_spi(JobStore) import HeadwayJobs

/// The queues of an exchange that might have jobs to claim.
///
/// One statement finds them, so an exchange with claims for many queues costs little if few have jobs.
struct WaitingQueues: Sendable {
  /// The waiting jobs of a queue.
  struct Queue: Sendable {
    /// Whether jobs with keys might wait.
    let hasKeys: Bool
    /// Whether suspects might wait.
    let hasSuspects: Bool
  }

  /// The queues that have waiting jobs.
  private(set) var queues: [String: Queue] = [:]
  /// The transactions that ended before the queues were read.
  private(set) var snapshot: ClaimMark.Snapshot?

  /// Up to this number of queues, claims search for jobs without a key, and skip marked dead rows.
  private static let maxDirectCount = 16

  init(_ claims: [JobClaim], _ transaction: JobTransaction) throws {
    let names = Set(claims.lazy.filter { $0.count > 0 }.map(\.queue))
    guard !names.isEmpty else { return }
    var select = transaction.statement(names.count > Self.maxDirectCount ? ClaimSQL.waitingQueues : ClaimSQL.queues)
    select.add(array: names.sorted())
    for row in try transaction.run(select).rows {
      snapshot = ClaimMark.Snapshot(oldest: row.int64(3), next: row.int64(4))
      if !row.isNull(0) { queues[row.text(0)] = Queue(hasKeys: row.bool(1), hasSuspects: row.bool(2)) }
    }
  }
}
#endif
