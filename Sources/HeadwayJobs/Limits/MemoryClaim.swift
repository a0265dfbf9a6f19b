/// The waiting jobs of a ``MemoryJobs``, for one claim.
struct MemoryClaim: ClaimSource {
  typealias Failure = Never

  private var memory: MemoryJobs
  private let claim: JobClaim
  private let worker: WorkerID
  private let now: StoreTime
  private let queue: JobQueueRecord
  private var claimed: [JobRecord] = []
  /// The lists of plain jobs, with the next job of each.
  private var lists: [MemoryWaitingLists.PlainKey: ClaimCandidate] = [:]
  private var keys: [Int: [String]] = [:]
  private var lastPlain: MemoryWaitingLists.PlainKey?

  /// Claims jobs.
  static func run(_ claim: JobClaim, by worker: WorkerID, at now: StoreTime, in memory: inout MemoryJobs) -> [JobRecord]
  {
    let queue = memory.queues[claim.queue] ?? JobQueueRecord()
    guard !queue.isPaused else { return [] }
    let free = queue.settings.limit.map { $0 - memory.limits.runningCount(ofQueue: claim.queue) }
    // Moved, because using the value in two places would copy all jobs.
    var source = MemoryClaim(claim, worker, now, queue)
    swap(&source.memory, &memory)
    source.findLists()
    ClaimSelection.run(&source, claim, count: min(claim.count, free ?? .max))
    swap(&source.memory, &memory)
    return source.claimed
  }

  private init(_ claim: JobClaim, _ worker: WorkerID, _ now: StoreTime, _ queue: JobQueueRecord) {
    (self.claim, self.worker, self.now, self.queue) = (claim, worker, now, queue)
    memory = MemoryJobs()
  }

  private mutating func findLists() {
    for key in memory.waiting.plainKeys(of: claim.queue) where claim.allowsSuspect || !key.isSuspect {
      lists[key] = memory.waiting.list(key).flatMap { first(of: $0, after: .min) }
    }
    for level in memory.waiting.levels(of: claim.queue) {
      keys[level] = memory.waiting.keys(of: claim.queue, level: level)
    }
  }

  /// Returns the first job of a list after a position whose kind the worker knows.
  private func first(of list: WaitingList, after position: Int64) -> ClaimCandidate? {
    var position = position
    while let next = list.first(after: position) {
      position = next.position
      guard let job = memory.jobs[next.id], let version = claim.kinds[job.kind], job.version <= version,
        job.deadline.map({ $0 > now }) ?? true
      else { continue }
      let priority = queue.priority(job.priority, since: job.ready, at: now)
      return ClaimCandidate(
        id: job.id, priority: priority, position: job.position, isSuspect: job.crashCount > 0,
        key: job.settings.limit?.storedKey, slots: job.settings.limit?.slots)
    }
    return nil
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
    lists[key] = memory.waiting.list(key).flatMap { first(of: $0, after: job.position) }
  }

  func levels() -> [(level: Int, turn: KeyTurn)] {
    keys.keys.sorted(by: >).map { ($0, memory.limits.turn(of: claim.queue, level: $0)) }
  }

  func firstJob(ofKeyAfter key: String?, level: Int) -> ClaimCandidate? {
    let keys = keys[level, default: []]
    var (low, high) = (0, keys.count)
    while let key, low < high {
      let middle = (low + high) / 2
      if key.utf8.lexicographicallyPrecedes(keys[middle].utf8) { high = middle } else { low = middle + 1 }
    }
    for key in keys[low...] {
      if let job = firstJob(ofKey: key, level: level) { return job }
    }
    return nil
  }

  func firstJob(ofKey key: String, level: Int) -> ClaimCandidate? {
    memory.waiting.list(ofKey: key, queue: claim.queue, level: level).flatMap { first(of: $0, after: .min) }
  }

  mutating func admits(_ job: ClaimCandidate) -> Bool {
    guard let record = memory.jobs[job.id] else { return false }
    let (now, before) = (now, memory.limits.nextToken(for: record))
    let isAdmitted = memory.updateLimits { $0.admits(record, at: now) }
    // Workers must look again at the time of the next token.
    if let next = memory.limits.nextToken(for: record), next != before { memory.hints.hasScheduled = true }
    return isAdmitted
  }

  mutating func take(_ job: ClaimCandidate) {
    guard var record = memory.jobs[job.id] else { return }
    let now = now
    JobTransitions.claim(&record, by: worker, at: now)
    memory.put(record, at: now)
    memory.updateLimits { $0.take(record, at: now) }
    claimed.append(record)
  }

  mutating func keep(_ turn: KeyTurn, level: Int) {
    let queue = claim.queue
    memory.updateLimits { $0.keep(turn, of: queue, level: level) }
  }
}
