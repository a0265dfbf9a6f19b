/// The data for the limits of a ``MemoryJobs``: indexes of the jobs, and the token buckets of rates.
struct MemoryLimits {
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

  private struct TurnKey: Hashable {
    let queue: String
    let level: Int
  }

  // MARK: Jobs

  mutating func insert(_ job: JobRecord) {
    if job.state.isPending { pending[job.queue, default: 0] += 1 }
    if job.state == .running { runningOfQueues[job.queue, default: 0] += 1 }
    if job.state == .running { addWeights(of: job, 1) }
    guard job.keepsPlace, job.hasSerialPlace, let limit = job.settings.firstLimit else { return }
    serial[limit.storedKey, default: WaitingList()].insert(job.id, at: job.position)
  }

  mutating func remove(_ job: JobRecord) {
    if job.state.isPending { pending[job.queue, default: 0] -= 1 }
    if job.state == .running { runningOfQueues[job.queue, default: 0] -= 1 }
    if job.state == .running { addWeights(of: job, -1) }
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

  func pendingCount(of queue: String) -> Int { pending[queue, default: 0] }

  func runningCount(ofQueue queue: String) -> Int { runningOfQueues[queue, default: 0] }

  func runningWeight(ofKey key: String) -> Int { running[key, default: 0] }

  func firstJob(ofSerialKey key: String) -> JobID? { serial[key]?.first()?.id }

  // MARK: Rates and turns

  func bucket(ofKey key: String) -> RateBucket? { buckets[key] }

  mutating func keep(_ bucket: RateBucket, ofKey key: String) { buckets[key] = bucket }

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
