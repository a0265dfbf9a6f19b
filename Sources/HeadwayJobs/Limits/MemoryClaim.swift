/// The waiting jobs of a ``MemoryJobs``, for one claim.
struct MemoryClaim<Rows: MemoryTableRows>: ClaimSource {
  typealias Failure = any Error

  private let rows: Rows
  private let claim: JobClaim
  private let worker: WorkerID
  private let queue: JobQueueRecord
  private var claimed: [JobRecord] = []
  /// The lists of plain jobs, with the next job of each.
  private var lists: [MemoryWaitingLists.PlainKey: ClaimCandidate] = [:]
  /// The keys of each level and group, in order.
  private var keys: [Int: [String: [String]]] = [:]
  private var lastPlain: MemoryWaitingLists.PlainKey?

  /// Claims jobs.
  static func run(_ claim: JobClaim, by worker: WorkerID, in rows: Rows) throws -> [JobRecord] {
    let queue = rows.memory.queues[claim.queue] ?? JobQueueRecord()
    guard !queue.isPaused else { return [] }
    let free = queue.settings.maxRunningJobCount.map { $0 - rows.memory.limits.runningCount(ofQueue: claim.queue) }
    var source = MemoryClaim(rows, claim, worker, queue)
    source.findLists()
    try ClaimSelection.run(&source, claim, count: min(claim.count, free ?? .max))
    return source.claimed
  }

  private init(_ rows: Rows, _ claim: JobClaim, _ worker: WorkerID, _ queue: JobQueueRecord) {
    (self.rows, self.claim, self.worker, self.queue) = (rows, claim, worker, queue)
  }

  private mutating func findLists() {
    for key in rows.memory.waiting.plainKeys(of: claim.queue) where claim.allowsSuspect || !key.isSuspect {
      lists[key] = rows.memory.waiting.list(key).flatMap { first(of: $0, after: .min) }
    }
  }

  /// Returns the first job of a list after a position whose kind the worker supports.
  private func first(of list: WaitingList, after position: Int64) -> ClaimCandidate? {
    var position = position
    while let next = list.first(after: position) {
      position = next.position
      if let job = rows.memory.jobs[next.id].flatMap(candidate) { return job }
    }
    return nil
  }

  /// Returns a waiting job, unless the worker does not support its kind.
  private func candidate(_ job: JobRecord) -> ClaimCandidate? {
    guard let version = claim.kinds[job.kind], job.version <= version, job.deadline.map({ $0 > rows.now }) ?? true
    else { return nil }
    let priority = queue.priority(job.priority, since: job.readyTime, at: rows.now)
    return ClaimCandidate(
      id: job.id, priority: priority, position: job.position, isSuspect: job.crashCount > 0,
      limit: job.settings.firstLimit.map { ClaimLimit($0) },
      group: job.settings.furtherLimits ?? JobSettings.noFurtherLimits)
  }

  mutating func firstPlain(allowsSuspect: Bool) -> ClaimCandidate? {
    var found: ClaimCandidate?
    for (key, job) in lists where allowsSuspect || !key.isSuspect {
      if found.map({ job.comes(before: $0) }) ?? true { (found, lastPlain) = (job, key) }
    }
    return found
  }

  mutating func passPlain() {
    guard let key = lastPlain, let job = lists[key] else { return }
    lists[key] = rows.memory.waiting.list(key).flatMap { first(of: $0, after: job.position) }
  }

  // MARK: Keys

  mutating func levels() -> [ClaimLevel] {
    rows.memory.waiting.levels(of: claim.queue).map { level in
      let groups = rows.memory.waiting.groups(of: claim.queue, level: level)
      for group in groups {
        keys[level, default: [:]][group] = rows.memory.waiting.keys(of: claim.queue, level: level, group: group)
      }
      let turn = rows.memory.limits.turn(of: claim.queue, level: level)
      let limit = claim.groupLimit
      let next = ClaimLevel.groups(after: turn.lastGroup, limit: limit) { Self.first(of: groups, after: $0) }
      return ClaimLevel(level: level, turn: turn, groups: next, limit: limit)
    }
  }

  /// Returns the first of sorted names that follows another name.
  private static func first(of names: [String], after name: String) -> String? {
    names[index(of: names, after: name)...].first
  }

  private static func index(of names: [String], after name: String) -> Int {
    var (low, high) = (0, names.count)
    while low < high {
      let middle = (low + high) / 2
      if name.utf8.lexicographicallyPrecedes(names[middle].utf8) { high = middle } else { low = middle + 1 }
    }
    return low
  }

  func firstJob(ofKeyAfter key: String?, in group: String, level: Int, skipping skipped: SkippedKeys) -> ClaimCandidate?
  {
    let keys = keys[level]?[group] ?? []
    for key in keys[Self.index(of: keys, after: key ?? "")...] {
      if let job = firstJob(ofKey: key, in: group, level: level) { return job }
    }
    return nil
  }

  func firstJob(ofKey key: String, in group: String, level: Int) -> ClaimCandidate? {
    rows.memory.waiting.list(ofKey: key, queue: claim.queue, level: level, group: group)
      .flatMap { first(of: $0, after: .min) }
  }

  func heavyJob(_ id: JobID, level: Int) -> HeavyJob {
    guard let job = rows.memory.jobs[id], job.state == .waiting, job.crashCount == 0, job.queue == claim.queue,
      job.priority == level, job.settings.firstLimit != nil, job.deadline.map({ $0 > rows.now }) ?? true
    else { return .gone }
    return candidate(job).map { .waiting($0) } ?? .unavailable
  }

  mutating func take(_ job: ClaimCandidate) throws -> Bool {
    guard var record = rows.memory.jobs[job.id] else { return false }
    JobTransitions.claim(&record, by: worker, at: rows.now)
    try rows.put([record])
    claimed.append(record)
    return true
  }

  func keep(_ turn: KeyTurn, level: Int) { rows.memory.limits.keep(turn, of: claim.queue, level: level) }

  // MARK: Limits

  var now: StoreTime { rows.now }

  func rate(of job: ClaimCandidate) -> JobRate? { rows.memory.jobs[job.id]?.settings.firstLimit?.jobRate }

  func runningWeight(ofKey key: String) -> Int { rows.memory.limits.runningWeight(ofKey: key) }

  func firstJob(ofSerialKey key: String) -> JobID? { rows.memory.limits.firstJob(ofSerialKey: key) }

  func bucket(ofKey key: String) -> RateBucket? { rows.memory.limits.bucket(ofKey: key) }

  func keep(_ bucket: RateBucket, ofKey key: String, isAwaited: Bool) {
    rows.memory.limits.keep(bucket, ofKey: key)
    // Workers must look again when there are enough tokens.
    if isAwaited { rows.hints.hasScheduled = true }
  }
}
