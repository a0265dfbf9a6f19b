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
    var select = transaction.statement(names.count > Self.maxDirectCount ? Self.search : Self.direct)
    select.add(array: names.sorted())
    for row in try transaction.run(select).rows {
      snapshot = ClaimMark.Snapshot(oldest: row.int64(3), next: row.int64(4))
      if !row.isNull(0) { queues[row.text(0)] = Queue(hasKeys: row.bool(1), hasSuspects: row.bool(2)) }
    }
  }

  private static let plain = "state = 2 AND crashes = 0 AND limit_key IS NULL"
  private static let keyed = "state = 2 AND crashes = 0 AND limit_key IS NOT NULL"
  private static let suspects = "state = 2 AND crashes > 0"

  private static func rows(of queues: String) -> String {
    """
    SELECT name, EXISTS (SELECT FROM headway.job WHERE \(keyed) AND queue = name),
    EXISTS (SELECT FROM headway.job WHERE \(suspects) AND queue = name),
    pg_snapshot_xmin(snapshot)::text::bigint, pg_snapshot_xmax(snapshot)::text::bigint
    FROM pg_current_snapshot() snapshot LEFT JOIN (\(queues)) waiting ON true
    """
  }

  private static let direct = rows(of: "SELECT name FROM unnest($1::text[]) AS x(name)")

  /// Finds queues with waiting jobs.
  ///
  /// Each step finds the first queue with waiting jobs that is not before the next name of the list, and continues with
  /// the name after that queue. Therefore, there are no more steps than names, and no more steps than queues with
  /// waiting jobs.
  private static let search = """
    WITH RECURSIVE names AS MATERIALIZED (
      SELECT array_agg(name ORDER BY name) AS list FROM unnest($1::text[]) AS x(name)),
    step(place, queue) AS (
      SELECT 1, NULL::text
      UNION ALL SELECT width_bucket(found.queue, list) + 1, found.queue FROM step CROSS JOIN names
      CROSS JOIN LATERAL (SELECT least(\([plain, keyed, suspects].map(first).joined(separator: ", "))) AS queue) found
      WHERE place <= cardinality(list) AND found.queue IS NOT NULL)
    \(rows(of: "SELECT queue AS name FROM step CROSS JOIN names WHERE queue = list[place - 1]"))
    """

  /// Finds the names of queues with waiting jobs after a name, up to a limit.
  ///
  /// Each step finds the next queue of each index.
  static let names = """
    WITH RECURSIVE step(count, queue) AS (
      SELECT 0, $1::text
      UNION ALL SELECT count + 1, least(\([plain, keyed, suspects].map(next).joined(separator: ", "))) FROM step
      WHERE count < $2 AND queue IS NOT NULL)
    SELECT queue FROM step WHERE count > 0 AND queue IS NOT NULL ORDER BY count
    """

  private static func next(_ part: String) -> String {
    "(SELECT queue FROM headway.job WHERE \(part) AND queue > step.queue ORDER BY queue LIMIT 1)"
  }

  private static func first(_ part: String) -> String {
    "(SELECT queue FROM headway.job WHERE \(part) AND queue >= list[place] ORDER BY queue LIMIT 1)"
  }
}
#endif
