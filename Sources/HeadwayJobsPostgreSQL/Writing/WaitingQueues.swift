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

  /// The queues that have waiting jobs, by the bytes of their names, as the server compares them.
  private var queues: [[UInt8]: Queue] = [:]
  /// The transactions that ended before the queues were read.
  private(set) var snapshot: ClaimMark.Snapshot?

  /// Up to this number of queues, claims search for jobs without a key, and skip marked dead rows.
  private static let maxDirectCount = 16

  init(_ claims: [JobClaim], _ transaction: JobTransaction) throws {
    let names = Set(claims.lazy.filter { $0.count > 0 }.map { Array($0.queue.utf8) })
    guard !names.isEmpty else { return }
    var select = transaction.statement(names.count > Self.maxDirectCount ? ClaimSQL.waitingQueues : ClaimSQL.queues)
    select.add(array: names.map { String(decoding: $0, as: UTF8.self) })
    for row in try transaction.run(select).rows {
      snapshot = ClaimMark.Snapshot(oldest: row.int64(3), next: row.int64(4))
      if !row.isNull(0) { queues[Array(row.text(0).utf8)] = Queue(hasKeys: row.bool(1), hasSuspects: row.bool(2)) }
    }
  }

  /// The waiting jobs of a queue; nil if there are none.
  subscript(name: String) -> Queue? { queues[Array(name.utf8)] }
}
#endif
