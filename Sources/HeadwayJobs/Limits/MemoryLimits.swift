/// The data for the limits of a ``MemoryJobs``: indexes of the jobs, and the token buckets of rates.
@_spi(JobStore) public struct MemoryLimits: Sendable {
  /// The sum of the weights of the running jobs of each key.
  private var running: [String: Int] = [:]
  /// The number of running jobs of each queue.
  private var runningOfQueues: [String: Int] = [:]
  /// The unfinished jobs of each serial key.
  private var serial: [String: WaitingList] = [:]
  /// The number of jobs that count toward the pending limit, by queue.
  private var pending: [String: Int] = [:]
  private var buckets: [String: RateBucket] = [:]
  private var turns: [TurnKey: KeyTurn] = [:]
  /// The changes since ``beginChanges()``, for a store that writes them elsewhere.
  public private(set) var changes = Changes()

  /// The queue and the level of a ``KeyTurn``.
  public struct TurnKey: Hashable, Codable, Sendable {
    /// The queue.
    public let queue: String
    /// The level: a priority before aging.
    public let level: Int
  }

  /// The changes of rows that are not part of a job.
  public struct Changes: Sendable {
    /// The keys whose token buckets have changed.
    public fileprivate(set) var buckets: Set<String> = []
    /// The places whose turns have changed.
    public fileprivate(set) var turns: Set<TurnKey> = []
  }

  /// Forgets the changes until now.
  public mutating func beginChanges() { if !changes.buckets.isEmpty || !changes.turns.isEmpty { changes = Changes() } }

  // MARK: Jobs

  mutating func insert(_ job: JobRecord) {
    if job.state.isPending { pending[job.queue, default: 0] += 1 }
    if job.state == .running { runningOfQueues[job.queue, default: 0] += 1 }
    if job.state == .running { addWeights(of: job, 1) }
    guard job.keepsPlace, job.hasSerialPlace, let limit = job.settings.firstLimit else { return }
    serial[limit.storedKey, default: WaitingList()].insert(job.id, at: job.position)
  }

  mutating func remove(_ job: JobRecord) {
    // Queues come and go.
    if job.state.isPending { pending[job.queue] = pending[job.queue].flatMap { $0 > 1 ? $0 - 1 : nil } }
    if job.state == .running {
      runningOfQueues[job.queue] = runningOfQueues[job.queue].flatMap { $0 > 1 ? $0 - 1 : nil }
      addWeights(of: job, -1)
    }
    guard job.keepsPlace, job.hasSerialPlace, let key = job.settings.firstLimit?.storedKey else { return }
    serial[key]?.remove(at: job.position)
    if serial[key]?.isEmpty == true { serial[key] = nil }
  }

  private mutating func addWeights(of job: JobRecord, _ factor: Int) {
    for limit in job.settings.limits ?? [] {
      let weight = running[limit.storedKey, default: 0] + factor * limit.units
      running[limit.storedKey] = weight == 0 ? nil : weight
    }
  }

  /// Returns the number of scheduled, retrying and waiting jobs of a queue.
  public func pendingCount(of queue: String) -> Int { pending[queue, default: 0] }

  func runningCount(ofQueue queue: String) -> Int { runningOfQueues[queue, default: 0] }

  func runningWeight(ofKey key: String) -> Int { running[key, default: 0] }

  func firstJob(ofSerialKey key: String) -> JobID? { serial[key]?.first()?.id }

  // MARK: Rates and turns

  /// Returns the token bucket of a key.
  ///
  /// - Parameter key: The stored form of the key.
  /// - Returns: The bucket; nil if it is full.
  public func bucket(ofKey key: String) -> RateBucket? { buckets[key] }

  /// Stores the token bucket of a key.
  ///
  /// - Parameters:
  ///   - bucket: The state of the bucket after the claim.
  ///   - key: The stored form of the key.
  public mutating func keep(_ bucket: RateBucket, ofKey key: String) {
    buckets[key] = bucket
    changes.buckets.insert(key)
  }

  /// The time of the next token that a job waits for.
  func nextToken(after now: StoreTime) -> StoreTime? {
    buckets.values.compactMap(\.nextTime).filter { $0 > now }.min()
  }

  /// Removes full buckets, and the turns of queues that have no waiting jobs with keys.
  ///
  /// - Parameters:
  ///   - now: The time of the store's clock.
  ///   - waiting: The waiting jobs of all queues.
  mutating func prune(at now: StoreTime, _ waiting: MemoryWaitingLists) {
    buckets = buckets.filter { $0.value.fullTime > now }
    for place in turns.keys where waiting.levels(of: place.queue).isEmpty {
      turns[place] = nil
      changes.turns.insert(place)
    }
  }

  func turn(of queue: String, level: Int) -> KeyTurn { turn(at: TurnKey(queue: queue, level: level)) }

  mutating func keep(_ turn: KeyTurn, of queue: String, level: Int) {
    keep(turn, at: TurnKey(queue: queue, level: level))
  }

  /// Returns which key is next.
  ///
  /// - Parameter place: The queue and the level.
  /// - Returns: The turn, which is a new one if none was stored.
  public func turn(at place: TurnKey) -> KeyTurn { turns[place] ?? KeyTurn() }

  /// Stores which key is next.
  ///
  /// - Parameters:
  ///   - turn: Which key is next, after the claim.
  ///   - place: The queue and the level.
  public mutating func keep(_ turn: KeyTurn, at place: TurnKey) {
    turns[place] = turn
    changes.turns.insert(place)
  }

  /// The keys that have token buckets.
  public var bucketKeys: [String] { Array(buckets.keys) }

  /// The places that have turns.
  public var turnPlaces: [TurnKey] { Array(turns.keys) }
}

extension JobRecord {
  /// Whether later jobs of the same serial key wait for this one.
  ///
  /// They don't wait for a held job, because it might wait for one of them.
  fileprivate var hasSerialPlace: Bool { state.isPending || state == .running }
}
