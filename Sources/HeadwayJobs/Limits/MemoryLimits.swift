/// The data for the limits of a ``MemoryJobs``: indexes of the jobs, and the token buckets of rates.
struct MemoryLimits {
  /// The running jobs of each key.
  private var running: [String: Set<JobID>] = [:]
  /// The number of running jobs of each queue.
  private var runningOfQueues: [String: Int] = [:]
  /// The unfinished jobs of each serial key.
  private var serial: [String: WaitingList] = [:]
  /// The number of jobs that count toward the pending limit, by queue.
  private var pending: [String: Int] = [:]
  private var buckets: [String: RateBucket] = [:]
  private var turns: [TurnKey: KeyTurn] = [:]

  private struct TurnKey: Hashable {
    let queue: String
    let level: Int
  }

  // MARK: Jobs

  mutating func insert(_ job: JobRecord) {
    if job.state.isPending { pending[job.queue, default: 0] += 1 }
    if job.state == .running { runningOfQueues[job.queue, default: 0] += 1 }
    guard let limit = job.settings.limit else { return }
    if job.state == .running { running[limit.storedKey, default: []].insert(job.id) }
    if job.keepsPlace, job.hasSerialPlace {
      serial[limit.storedKey, default: WaitingList()].insert(job.id, at: job.position)
    }
  }

  mutating func remove(_ job: JobRecord) {
    if job.state.isPending { pending[job.queue, default: 0] -= 1 }
    if job.state == .running { runningOfQueues[job.queue, default: 0] -= 1 }
    guard let limit = job.settings.limit else { return }
    let key = limit.storedKey
    running[key]?.remove(job.id)
    if running[key]?.isEmpty == true { running[key] = nil }
    guard job.keepsPlace, job.hasSerialPlace else { return }
    serial[key]?.remove(at: job.position)
    if serial[key]?.isEmpty == true { serial[key] = nil }
  }

  func pendingCount(of queue: String) -> Int { pending[queue, default: 0] }

  func runningCount(ofQueue queue: String) -> Int { runningOfQueues[queue, default: 0] }

  // MARK: Decisions

  /// Returns whether the limit of a job permits a claim.
  mutating func admits(_ job: JobRecord, at now: StoreTime) -> Bool {
    guard let limit = job.settings.limit else { return true }
    let key = limit.storedKey
    if case .rate(let rate) = limit.rule {
      let old = buckets[key] ?? RateBucket(full: now)
      var bucket = old
      let hasToken = bucket.hasToken(rate, at: now)
      if bucket != old { buckets[key] = bucket }
      return hasToken
    }
    return JobLimit.admits(slots: limit.slots ?? 0, runningCount: running[key]?.count ?? 0) {
      serial[key]?.first()?.id == job.id
    }
  }

  /// Takes a token for a claimed job, if its key has a rate.
  mutating func take(_ job: JobRecord, at now: StoreTime) {
    guard let limit = job.settings.limit, case .rate(let rate) = limit.rule else { return }
    buckets[limit.storedKey, default: RateBucket(full: now)].take(rate, at: now)
  }

  /// The time of the next token of a job's key, if one waits for it.
  func nextToken(for job: JobRecord) -> StoreTime? { job.settings.limit.flatMap { buckets[$0.storedKey]?.next } }

  /// The time of the next token that a job waits for.
  func nextToken(after now: StoreTime) -> StoreTime? {
    buckets.values.compactMap(\.next).filter { $0 > now }.min()
  }

  mutating func prune(at now: StoreTime) { buckets = buckets.filter { $0.value.full > now } }

  func turn(of queue: String, level: Int) -> KeyTurn { turns[TurnKey(queue: queue, level: level)] ?? KeyTurn() }

  mutating func keep(_ turn: KeyTurn, of queue: String, level: Int) {
    turns[TurnKey(queue: queue, level: level)] = turn
  }
}

extension JobRecord {
  /// Whether later jobs of the same serial key wait for this one.
  ///
  /// They don't wait for a held job, because it might wait for one of them.
  fileprivate var hasSerialPlace: Bool { state.isPending || state == .running }
}
