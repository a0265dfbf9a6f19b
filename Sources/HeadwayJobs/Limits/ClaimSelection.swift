/// A waiting job that might be claimed.
@_spi(JobStore) public struct ClaimCandidate: Hashable, Sendable {
  /// The number of the job.
  public var id: JobID
  /// The priority, raised by aging.
  public var priority: Int
  /// The place among the jobs of the same priority.
  public var position: Int64
  /// Whether a process has crashed while it ran the job.
  public var isSuspect: Bool
  /// The stored form of the limit's key.
  public var key: String?
  /// The ``JobLimit/slots`` of the limit.
  public var slots: Int?

  /// Creates a candidate.
  public init(
    id: JobID, priority: Int, position: Int64, isSuspect: Bool = false, key: String? = nil, slots: Int? = nil
  ) {
    self.id = id
    self.priority = priority
    self.position = position
    self.isSuspect = isSuspect
    self.key = key
    self.slots = slots
  }

  /// Whether this job comes before another one.
  public func comes(before other: ClaimCandidate) -> Bool {
    priority == other.priority ? position < other.position : priority > other.priority
  }
}

/// Which key is next at a priority of a queue.
@_spi(JobStore) public struct KeyTurn: Hashable, Sendable {
  /// The key that was served last.
  public var key: String?
  /// Whether a plain job comes before the next key.
  public var isPlainNext = false

  /// Creates a turn.
  public init(key: String? = nil, isPlainNext: Bool = false) { (self.key, self.isPlainNext) = (key, isPlainNext) }
}

/// The waiting jobs of a queue whose kinds a worker knows, as ``ClaimSelection`` reads them.
///
/// Jobs without a key, and suspects, are *plain*: they are claimed in their order. The others are found by their key. A
/// *level* is a priority before aging.
@_spi(JobStore) public protocol ClaimSource {
  /// The type of the store's errors.
  associatedtype Failure: Error

  /// Returns the first plain job.
  ///
  /// - Parameter allowsSuspect: Whether it can be a suspect.
  /// - Returns: The job, or nil if there is none.
  /// - Throws: An error of the store.
  mutating func firstPlain(allowsSuspect: Bool) throws(Failure) -> ClaimCandidate?
  /// Skips the plain job that was returned last.
  mutating func passPlain() throws(Failure)
  /// Returns the levels that have jobs with keys, and which key is next at each.
  mutating func levels() throws(Failure) -> [(level: Int, turn: KeyTurn)]
  /// Returns the first job of the key that follows another key; nil precedes all keys.
  mutating func firstJob(ofKeyAfter key: String?, level: Int) throws(Failure) -> ClaimCandidate?
  /// Returns the first job of a key.
  mutating func firstJob(ofKey key: String, level: Int) throws(Failure) -> ClaimCandidate?
  /// Returns whether the limit of a job permits a claim now.
  mutating func admits(_ job: ClaimCandidate) throws(Failure) -> Bool
  /// Claims a job.
  ///
  /// From then on, the job is not returned again, and counts toward its limit.
  mutating func take(_ job: ClaimCandidate) throws(Failure)
  /// Stores which key is next, for the next claim.
  mutating func keep(_ turn: KeyTurn, level: Int) throws(Failure)
}

/// Chooses the jobs of a claim, and their order.
///
/// Jobs of a higher priority come first. At the same priority, the keys are served in turn, one job each, starting
/// where the last claim stopped. A key that has no job, or whose limit is reached, misses its turn. If there are also
/// plain jobs, one of them follows each job with a key.
@_spi(JobStore) public enum ClaimSelection {
  /// Claims jobs of a source.
  ///
  /// - Parameters:
  ///   - source: The waiting jobs.
  ///   - claim: The claim.
  ///   - count: The maximum number of jobs; it can be less than that of the claim.
  /// - Throws: An error of the source.
  public static func run<Source: ClaimSource>(
    _ source: inout Source, _ claim: JobClaim, count: Int
  ) throws(Source.Failure) {
    var rings: [KeyRing] = []
    for (level, turn) in try source.levels() { rings.append(KeyRing(level: level, turn: turn)) }
    var (takenCount, keyedCount, allowsSuspect) = (0, 0, claim.allowsSuspect)
    while takenCount < count {
      let plain = try firstPlain(&source, allowsSuspect: allowsSuspect && takenCount < claim.freeSlotCount)
      var keyed: (ring: Int, job: ClaimCandidate)?
      for ring in rings.indices {
        guard let job = try rings[ring].first(&source, keyedCount) else { continue }
        if keyed.map({ job.comes(before: $0.job) }) ?? true { keyed = (ring, job) }
      }
      if let keyed, plain.map({ isKeyedFirst(keyed.job, rings[keyed.ring].turn, $0) }) ?? true {
        try source.take(keyed.job)
        rings[keyed.ring].noteServed()
        keyedCount += 1
      } else if let plain {
        if let keyed, keyed.job.priority == plain.priority { rings[keyed.ring].notePlainServed() }
        if plain.isSuspect { allowsSuspect = false }
        if plain.key != nil { keyedCount += 1 }
        try source.passPlain()
        try source.take(plain)
      } else {
        break
      }
      takenCount += 1
    }
    for ring in rings where ring.hasChanged { try source.keep(ring.turn, level: ring.level) }
  }

  private static func isKeyedFirst(_ keyed: ClaimCandidate, _ turn: KeyTurn, _ plain: ClaimCandidate) -> Bool {
    keyed.priority == plain.priority ? !turn.isPlainNext : keyed.priority > plain.priority
  }

  /// Returns the first plain job that has no limit, or whose limit permits a claim.
  private static func firstPlain<Source: ClaimSource>(
    _ source: inout Source, allowsSuspect: Bool
  ) throws(Source.Failure) -> ClaimCandidate? {
    while let job = try source.firstPlain(allowsSuspect: allowsSuspect) {
      if job.key == nil { return job }
      if try source.admits(job) { return job }
      try source.passPlain()
    }
    return nil
  }
}
