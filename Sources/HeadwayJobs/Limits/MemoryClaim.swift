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
  private var keys: [Int: [String]] = [:]
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
    for level in rows.memory.waiting.levels(of: claim.queue) {
      keys[level] = rows.memory.waiting.keys(of: claim.queue, level: level)
    }
  }

  /// Returns the first job of a list after a position whose kind the worker knows.
  private func first(of list: WaitingList, after position: Int64) -> ClaimCandidate? {
    var position = position
    while let next = list.first(after: position) {
      position = next.position
      guard let job = rows.memory.jobs[next.id], let version = claim.kinds[job.kind], job.version <= version,
        job.deadline.map({ $0 > rows.now }) ?? true
      else { continue }
      let priority = queue.priority(job.priority, since: job.readyTime, at: rows.now)
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
    lists[key] = rows.memory.waiting.list(key).flatMap { first(of: $0, after: job.position) }
  }

  func levels() -> [(level: Int, turn: KeyTurn)] {
    keys.keys.sorted(by: >).map { ($0, rows.memory.limits.turn(of: claim.queue, level: $0)) }
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
    rows.memory.waiting.list(ofKey: key, queue: claim.queue, level: level).flatMap { first(of: $0, after: .min) }
  }

  func admits(_ job: ClaimCandidate) -> Bool {
    guard let record = rows.memory.jobs[job.id] else { return false }
    let before = rows.memory.limits.nextToken(for: record)
    let isAdmitted = rows.memory.limits.admits(record, at: rows.now)
    // Workers must look again at the time of the next token.
    if let next = rows.memory.limits.nextToken(for: record), next != before { rows.hints.hasScheduled = true }
    return isAdmitted
  }

  mutating func take(_ job: ClaimCandidate) throws {
    guard var record = rows.memory.jobs[job.id] else { return }
    JobTransitions.claim(&record, by: worker, at: rows.now)
    try rows.put(record)
    rows.memory.limits.take(record, at: rows.now)
    claimed.append(record)
  }

  func keep(_ turn: KeyTurn, level: Int) { rows.memory.limits.keep(turn, of: claim.queue, level: level) }
}
