#if PostgreSQL
import Headway
import HeadwayJobs
import Synchronization

/// The positions at which the waiting jobs of queues begin, as far as the claims of this process have seen.
///
/// Each claimed job leaves a dead row at the head of its queue. While another client holds a snapshot open, the server
/// can't remove dead rows, and each claim would read all of them again. Therefore, claims skip what is before the
/// marks.
final class ClaimMarks: Sendable {
  /// The claims that look for the same jobs.
  private struct Key: Hashable {
    let queue: String
    let kinds: [JobKind: Int]
  }

  private let marks = Mutex<[Key: ClaimMark]>([:])

  subscript(claim: JobClaim) -> ClaimMark {
    get {
      marks.withLock { $0[Key(queue: claim.queue, kinds: claim.kinds)] } ?? ClaimMark()
    }
    set {
      marks.withLock { $0[Key(queue: claim.queue, kinds: claim.kinds)] = newValue }
    }
  }

  /// Forgets all marks, after a change that can put jobs before them.
  func removeAll() { marks.withLock { $0.removeAll() } }
}

/// The positions at which the waiting jobs of a queue begin, for each priority.
///
/// A transaction that takes long can add a job before a mark. A claim without marks, from time to time, finds it.
struct ClaimMark {
  /// How many positions before the last claimed job a mark is.
  ///
  /// Claims find jobs that are added out of order by so many positions immediately.
  static let margin: Int64 = 2_000
  /// The shortest interval between two claims without marks.
  static let interval: Duration = .seconds(1)
  /// How many times as long as a claim without marks the interval is at least, so that few claims wait for one.
  static let restFactor = 300

  /// The marks of the priorities in which claims have seen jobs, and of the usual ones.
  ///
  /// No job waited at this position or before it.
  private(set) var positions: [Int: Int64] = [:]
  /// The highest position of a claimed job.
  private var last: Int64 = 0
  /// When the next claim without marks is due; nil for immediately.
  private var nextFullClaim: ContinuousClock.Instant?

  /// Returns the priorities from the highest to the lowest, with their marks, for a claim.
  ///
  /// - Parameter now: The current time.
  /// - Returns: Nil if the claim must read all waiting jobs.
  func levels(at now: ContinuousClock.Instant) -> [(priority: Int, position: Int64)]? {
    guard let nextFullClaim, now < nextFullClaim, positions.values.contains(where: { $0 > 0 }) else { return nil }
    return positions.sorted { $0.key > $1.key }.map { (priority: $0.key, position: $0.value) }
  }

  /// Notes a claim without marks.
  ///
  /// - Parameters:
  ///   - jobs: The priorities and positions of the claimed jobs, in order.
  ///   - isComplete: Whether no job that another transaction has not locked waits any longer.
  ///   - duration: How long the claim took.
  ///   - now: The time at which it ended.
  mutating func noteFullClaim(
    of jobs: [(priority: Int, position: Int64)], isComplete: Bool, for duration: Duration,
    at now: ContinuousClock.Instant
  ) {
    positions = Dictionary(uniqueKeysWithValues: QueuePriority.allCases.map { ($0.rawValue, 0) })
    // Positions are lower than before if the database was restored from a backup.
    if !jobs.isEmpty { last = 0 }
    note(jobs, isComplete: isComplete)
    nextFullClaim = now + max(Self.interval, duration * Self.restFactor)
  }

  /// Notes a claim of jobs behind the marks.
  ///
  /// - Parameters:
  ///   - jobs: The priorities and positions of the claimed jobs, in order.
  ///   - isComplete: Whether no job that another transaction has not locked waits behind the marks any longer.
  mutating func note(_ jobs: [(priority: Int, position: Int64)], isComplete: Bool) {
    for job in jobs {
      last = max(last, job.position)
      positions[job.priority] = positions[job.priority] ?? 0
    }
    let lowest = isComplete ? nil : jobs.last
    for (priority, position) in positions where priority >= lowest?.priority ?? .min {
      let passed = priority == lowest?.priority ? min(last, lowest?.position ?? last) : last
      positions[priority] = max(position, passed - Self.margin)
    }
  }
}
#endif
