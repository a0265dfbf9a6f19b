#if PostgreSQL
import Headway

/// The positions where the waiting jobs of a queue begin, for each priority.
///
/// A mark passes only positions whose transactions have ended. Another process can put a job back before a mark.
/// Occasional claims without marks, and exhaustive claims, find such jobs.
struct ClaimMark: Sendable {
  /// The transactions that have ended, as a statement of the server sees them.
  struct Snapshot: Sendable {
    /// All transactions with lower numbers have ended.
    let oldest: Int64
    /// The number of the next transaction.
    let next: Int64
  }

  /// The distance between a mark and the last position whose transaction has ended.
  ///
  /// A transaction has no number yet when it draws its first positions, at most 32 of them.
  static let margin: Int64 = 2_000
  /// The shortest and the longest interval between two claims without marks.
  static let intervals: ClosedRange<Duration> = .seconds(1) ... .seconds(10)
  /// The ratio of the interval to the duration of a claim without marks, which keeps such claims rare.
  static let restFactor = 300

  /// The marks of the usual priorities, and of other priorities that claims have found.
  ///
  /// When a mark was set, no job waited at its position or before it.
  private(set) var positions: [Int: Int64] = Dictionary(
    uniqueKeysWithValues: QueuePriority.allCases.map { ($0.rawValue, 0) })
  /// The highest position of a claimed job.
  private var last: Int64 = 0
  /// The highest position that is known to belong to a transaction that has ended, like all positions before it.
  private var decided: Int64 = 0
  /// The position that is decided when all transactions before one have ended.
  private var pending: (position: Int64, transaction: Int64)?
  /// When the next claim without marks is due; nil for immediately.
  private var nextFullClaim: ContinuousClock.Instant?

  /// Notes which transactions have ended before a claim.
  mutating func note(_ snapshot: Snapshot) {
    if let pending, snapshot.oldest >= pending.transaction {
      decided = max(decided, pending.position)
      self.pending = nil
    }
    if pending == nil, last > decided { pending = (last, snapshot.next) }
  }

  /// Returns the priorities from the highest to the lowest, with their marks, for a claim.
  ///
  /// - Parameter now: The current time of the monotonic clock.
  /// - Returns: Nil if the claim must read all waiting jobs.
  func levels(at now: ContinuousClock.Instant) -> [(priority: Int, position: Int64)]? {
    guard let nextFullClaim, now < nextFullClaim, positions.values.contains(where: { $0 > 0 }) else { return nil }
    return positions.sorted { $0.key > $1.key }.map { (priority: $0.key, position: $0.value) }
  }

  /// Updates the marks after a claim that ignored them.
  ///
  /// - Parameters:
  ///   - jobs: The priorities and positions of the claimed jobs, in order.
  ///   - isComplete: Whether the claim found all waiting jobs, except locked ones.
  ///   - duration: How long the claim took.
  ///   - now: The time when it ended.
  mutating func noteFullClaim(
    of jobs: [(priority: Int, position: Int64)], isComplete: Bool, for duration: Duration,
    at now: ContinuousClock.Instant
  ) {
    positions = positions.mapValues { _ in 0 }
    // Positions are lower than before if the database was restored from a backup.
    if let highest = jobs.map(\.position).max(), highest < decided { (last, decided, pending) = (highest, 0, nil) }
    note(jobs, isComplete: isComplete)
    nextFullClaim = now + min(max(Self.intervals.lowerBound, duration * Self.restFactor), Self.intervals.upperBound)
  }

  /// Updates the marks after a claim that used them.
  ///
  /// - Parameters:
  ///   - jobs: The priorities and positions of the claimed jobs, in order.
  ///   - isComplete: Whether the claim found all jobs after the marks, except locked ones.
  mutating func note(_ jobs: [(priority: Int, position: Int64)], isComplete: Bool) {
    for job in jobs {
      last = max(last, job.position)
      positions[job.priority] = positions[job.priority] ?? 0
    }
    let lowest = isComplete ? nil : jobs.last
    for (priority, position) in positions where priority >= lowest?.priority ?? .min {
      let passed = priority == lowest?.priority ? min(decided, lowest?.position ?? decided) : decided
      positions[priority] = max(position, passed - Self.margin)
    }
  }

  /// Moves the mark of a priority back to a job that waits again.
  mutating func moveBack(to place: ClaimMarks.Place) {
    positions[place.priority] = min(positions[place.priority] ?? 0, place.position - 1)
  }
}
#endif
