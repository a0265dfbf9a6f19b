/// A waiting job that might be claimed.
@_spi(JobStore) public struct ClaimCandidate: Hashable, Sendable {
  /// The ID of the job.
  public var id: JobID
  /// The priority, raised by aging.
  public var priority: Int
  /// The place among the jobs of the same priority.
  public var position: Int64
  /// Whether a process has crashed while it ran the job.
  public var isSuspect: Bool
  /// The first limit of the job; nil if the job has none.
  public var limit: ClaimLimit?
  /// The ``JobSettings/furtherLimits`` of a job with limits.
  public var group: String

  /// Creates a candidate.
  public init(
    id: JobID, priority: Int, position: Int64, isSuspect: Bool = false, limit: ClaimLimit? = nil,
    group: String = JobSettings.noFurtherLimits
  ) {
    self.id = id
    self.priority = priority
    self.position = position
    self.isSuspect = isSuspect
    self.limit = limit
    self.group = group
  }

  /// The stored form of the first limit's key, which determines the turn of the job.
  public var key: String? { limit?.key }

  /// Whether this job comes before another job.
  public func comes(before other: ClaimCandidate) -> Bool {
    priority == other.priority ? position < other.position : priority > other.priority
  }

  /// Whether this job comes before another job in the order of keys, and then of places.
  public func comesByKey(before other: ClaimCandidate) -> Bool {
    guard let key, let otherKey = other.key, !key.utf8.elementsEqual(otherKey.utf8) else {
      return position < other.position
    }
    return key.utf8.lexicographicallyPrecedes(otherKey.utf8)
  }
}

/// A limit of a waiting job, as stores index it.
@_spi(JobStore) public struct ClaimLimit: Hashable, Sendable {
  /// The stored form of the key.
  public var key: String
  /// The ``JobLimit/slots``.
  public var slots: Int?
  /// The ``JobLimit/units`` that the job takes.
  public var weight: Int

  /// Creates a limit from its parts.
  public init(key: String, slots: Int?, weight: Int = 1) {
    self.key = key
    self.slots = slots
    self.weight = weight
  }

  /// Creates a limit from a job's limit.
  public init(_ limit: JobLimit) { self.init(key: limit.storedKey, slots: limit.slots, weight: limit.units) }
}

/// Which key is next at a priority of a queue.
@_spi(JobStore) public struct KeyTurn: Hashable, Sendable {
  /// The key that was served last.
  public var key: String?
  /// Whether a plain job comes before the next key.
  public var isPlainNext = false
  /// The heavy jobs whose limits keep units or tokens for them until there are enough, oldest first.
  ///
  /// A claim keeps units for the first job that its worker supports. There are several only if workers support
  /// different kinds.
  public private(set) var heavyJobs: [JobID]
  /// The last group that a claim has read, if there are more groups than a claim reads; nil if the next claim begins
  /// with the first group.
  public var lastGroup: String?

  /// Creates a turn.
  public init(key: String? = nil, isPlainNext: Bool = false, heavyJobs: [JobID] = [], lastGroup: String? = nil) {
    (self.key, self.isPlainNext, self.heavyJobs, self.lastGroup) = (key, isPlainNext, heavyJobs, lastGroup)
  }

  /// The maximum number of heavy jobs.
  private static let maxHeavyJobCount = 4

  /// Adds a heavy job.
  ///
  /// If there are too many, the oldest job is forgotten, because no worker might support its kind.
  mutating func noteHeavy(_ id: JobID) {
    guard !heavyJobs.contains(id) else { return }
    heavyJobs.append(id)
    if heavyJobs.count > Self.maxHeavyJobCount { heavyJobs.removeFirst() }
  }

  /// Removes a heavy job.
  mutating func forgetHeavy(_ id: JobID) { heavyJobs.removeAll { $0 == id } }

  /// The IDs of the heavy jobs, in the stored form for databases; nil if there are none.
  public var storedHeavyJobs: String? {
    heavyJobs.isEmpty ? nil : heavyJobs.map { "\($0.rawValue)" }.joined(separator: ",")
  }

  /// Returns the heavy jobs from their stored form.
  ///
  /// - Parameter stored: The ``storedHeavyJobs``.
  /// - Returns: The IDs of the heavy jobs.
  public static func heavyJobs(stored: String?) -> [JobID] {
    (stored ?? "").split(separator: ",").compactMap { Int64($0).map(JobID.init(rawValue:)) }
  }
}

/// A job whose limits keep units or tokens for it.
@_spi(JobStore) public enum HeavyJob: Hashable, Sendable {
  /// The job no longer waits at the level.
  case gone
  /// The job waits, but the worker does not support its kind, or another transaction is changing the job.
  case unavailable
  /// The job can be claimed when its limits permit it.
  case waiting(ClaimCandidate)
}

/// The keys that a search for a waiting job can skip, so that their jobs are not examined one by one.
@_spi(JobStore) public enum SkippedKeys: Hashable, Sendable {
  /// No keys.
  case none
  /// Keys whose first limit has no free unit, unless the first job of the key takes several units.
  case fullForLightJobs
  /// Keys whose first limit has too few units for the first job of the key.
  case full
}

/// The waiting jobs with keys at a priority before aging.
@_spi(JobStore) public struct ClaimLevel: Sendable {
  /// The priority.
  public let level: Int
  /// Which key was next after the last claim.
  public let turn: KeyTurn
  /// The groups that a claim reads.
  public let groups: [String]
  /// The ``KeyTurn/lastGroup`` of the next claim.
  let lastGroup: String?

  /// The number of groups that a claim reads, unless it is exhaustive.
  public static let maxGroupCount = 64

  /// Creates a level.
  ///
  /// - Parameters:
  ///   - level: The priority of the level's jobs.
  ///   - turn: Which key is next.
  ///   - groups: The groups after ``KeyTurn/lastGroup`` in order, followed by the groups before it: all groups, or more
  ///     than `limit`.
  ///   - limit: The maximum number of groups that the claim reads.
  public init(level: Int, turn: KeyTurn, groups: [String], limit: Int) {
    self.level = level
    self.turn = turn
    self.groups = Array(groups.prefix(limit))
    // The next claim begins where this one stops.
    lastGroup = groups.count > limit ? self.groups.last : nil
  }

  /// Returns the groups for a level.
  ///
  /// The store finds them one by one.
  ///
  /// - Parameters:
  ///   - last: The ``KeyTurn/lastGroup``.
  ///   - limit: The maximum number of groups that the claim reads.
  ///   - next: Returns the group that follows another one; an empty string precedes all groups.
  /// - Throws: An error of the function.
  /// - Returns: The names of the groups.
  public static func groups(
    after last: String?, limit: Int, _ next: (_ group: String) throws -> String?
  ) rethrows -> [String] {
    var groups: [String] = []
    var group = last ?? ""
    while groups.count <= limit, let found = try next(group) {
      groups.append(found)
      group = found
    }
    guard let last else { return groups }
    group = ""
    while groups.count <= limit, let found = try next(group), !last.utf8.lexicographicallyPrecedes(found.utf8) {
      groups.append(found)
      group = found
    }
    return groups
  }
}

extension JobClaim {
  /// The maximum number of groups that the claim reads at a priority.
  @_spi(JobStore) public var groupLimit: Int { isExhaustive ? .max - 1 : ClaimLevel.maxGroupCount }
}

/// The waiting jobs of a queue whose kinds a worker supports, as ``ClaimSelection`` reads them.
///
/// Jobs without a key, and suspects, are *plain*: they are claimed in their order. The others are found by their key. A
/// *level* is a priority before aging. A *group* consists of the jobs with the same further limits.
@_spi(JobStore) public protocol ClaimSource {
  /// The type of the store's errors.
  associatedtype Failure: Error

  /// The time of the store's clock.
  var now: StoreTime { get }

  /// Returns the first plain job.
  ///
  /// - Parameter allowsSuspect: Whether the job can be a suspect.
  /// - Returns: The job, or nil if there is none.
  /// - Throws: An error of the store.
  mutating func firstPlain(allowsSuspect: Bool) throws(Failure) -> ClaimCandidate?
  /// Skips the plain job that was returned last.
  mutating func passPlain() throws(Failure)
  /// Returns the levels that have jobs with keys.
  mutating func levels() throws(Failure) -> [ClaimLevel]
  /// Returns the first job of the key that follows another key in a group; nil precedes all keys.
  ///
  /// A store can also return jobs of keys that it could skip.
  mutating func firstJob(
    ofKeyAfter key: String?, in group: String, level: Int, skipping skipped: SkippedKeys
  ) throws(Failure) -> ClaimCandidate?
  /// Returns the first job of a key in a group.
  mutating func firstJob(ofKey key: String, in group: String, level: Int) throws(Failure) -> ClaimCandidate?
  /// Returns one of the ``KeyTurn/heavyJobs``.
  mutating func heavyJob(_ id: JobID, level: Int) throws(Failure) -> HeavyJob
  /// Claims a job.
  ///
  /// The job is then no longer returned and counts toward its limits.
  ///
  /// - Returns: False if the job is damaged, and therefore fails.
  mutating func take(_ job: ClaimCandidate) throws(Failure) -> Bool
  /// Stores which key is next, for the next claim.
  mutating func keep(_ turn: KeyTurn, level: Int) throws(Failure)

  // MARK: Limits

  /// Returns the rate of a job whose first limit is a rate; nil if the rate can't be read.
  mutating func rate(of job: ClaimCandidate) throws(Failure) -> JobRate?
  /// Returns the sum of the weights of a key's running jobs, without the jobs of this claim.
  mutating func runningWeight(ofKey key: String) throws(Failure) -> Int
  /// Returns the first job of a serial key that has not ended.
  mutating func firstJob(ofSerialKey key: String) throws(Failure) -> JobID?
  /// Returns the bucket of a key; nil if it is full.
  mutating func bucket(ofKey key: String) throws(Failure) -> RateBucket?
  /// Stores a bucket and notes whether a job waits for its tokens.
  mutating func keep(_ bucket: RateBucket, ofKey key: String, isAwaited: Bool) throws(Failure)
}
