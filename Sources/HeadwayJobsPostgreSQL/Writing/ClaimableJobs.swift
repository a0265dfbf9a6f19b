#if PostgreSQL
@_spi(JobStore) import HeadwayJobs

/// The waiting jobs of a queue whose kinds a worker supports, for one claim.
///
/// Rows that other transactions have locked are skipped.
struct ClaimableJobs: SQLClaimSource {
  let transaction: JobTransaction
  let claim: JobClaim
  private let worker: WorkerID
  let queue: JobQueueRecord
  private var lists: [PlainList] = []
  /// The index in `lists` of the job that was returned last.
  private var lastList = 0
  private var hasKeys = false
  /// The records of the candidates.
  private var records: [JobID: JobRecord] = [:]
  private var chosen: [JobRecord] = []
  private var taken: Set<JobID> = []
  /// The first limits of the candidates, and the groups of their other limits.
  private var limits: [JobID: (limit: ClaimLimit, group: String)] = [:]
  /// The units that running jobs take by their further limits, or nil if they have not been read.
  ///
  /// Only the holder of the limits lock claims, so the weights can only decrease in the meantime.
  private var furtherWeights: [String: Int]?

  /// The groups of each level.
  private var groupsOfLevels: [Int: [String]] = [:]
  /// How often the jobs of all groups of a level were read together.
  private var roundCounts: [Int: Int] = [:]
  /// The first jobs of all groups of a level after a key, until a job is claimed.
  private var firsts: (level: Int, key: String, jobs: [String: ClaimCandidate])?

  /// A list of plain jobs in their order, which is read in pages.
  private struct PlainList {
    let isSuspect: Bool
    /// The priority of all jobs, in a queue with aging; nil for all priorities.
    let priority: Int?
    var page: [JobRecord]
    var index = 0
    var isComplete: Bool

    var job: JobRecord? { index < page.count ? page[index] : nil }
  }

  init(_ transaction: JobTransaction, _ claim: JobClaim, _ worker: WorkerID, _ queue: JobQueueRecord) {
    (self.transaction, self.claim, self.worker, self.queue) = (transaction, claim, worker, queue)
  }

  // MARK: Statements

  /// Returns a statement whose first parameters are the queue, the time, and the kinds that the worker supports.
  private func statement(_ sql: String) -> Statement {
    var statement = transaction.statement(sql)
    let kinds = claim.kinds.sorted { $0.key < $1.key }
    statement.add(claim.queue)
    statement.add(transaction.now)
    statement.add(array: kinds.map(\.key.rawValue))
    statement.add(array: kinds.map { Int64($0.value) })
    return statement
  }

  private func jobs(_ statement: Statement) throws -> [JobRecord] {
    try transaction.run(statement).rows.map { JobRow.read($0) }
  }

  /// Returns jobs that might be claimed together with others, so their limits are needed.
  private mutating func candidates(_ statement: Statement) throws -> [JobRecord] {
    try transaction.run(statement).rows.map { row in
      let job = JobRow.read(row)
      records[job.id] = job
      limits[job.id] = JobRow.limit(row)
      return job
    }
  }

  // MARK: Claims of plain jobs

  /// Claims jobs of a queue that has neither keys nor suspects nor aging.
  func takePlain(_ count: Int, after mark: inout ClaimMark) throws -> [JobRecord] {
    let clock = ContinuousClock()
    let start = clock.now
    let levels = claim.isExhaustive ? nil : mark.levels(at: start)
    let found = try levels.map { try plainJobs(count, in: $0) } ?? plainJobs(count)
    let places = found.map { (priority: $0.priority, position: $0.position) }
    if levels != nil {
      mark.note(places, isComplete: found.count < count)
    } else {
      let end = clock.now
      mark.noteFullClaim(of: places, isComplete: found.count < count, for: end - start, at: end)
    }
    return try transaction.take(found, by: worker)
  }

  private func plainJobs(_ count: Int) throws -> [JobRecord] {
    var select = statement(ClaimSQL.plainJobs)
    select.add(count)
    return try jobs(select)
  }

  /// Returns jobs after the marks of their priorities, in order.
  private func plainJobs(_ count: Int, in levels: [(priority: Int, position: Int64)]) throws -> [JobRecord] {
    var select = statement(ClaimSQL.plainJobsAfterMarks)
    select.add(count)
    select.add(array: levels.map { Int64($0.priority) })
    select.add(array: levels.map(\.position))
    return try jobs(select)
  }

  // MARK: Opening

  mutating func open(hasKeys: Bool) throws {
    self.hasKeys = hasKeys
    for isSuspect in claim.allowsSuspect ? [false, true] : [false] {
      for priority in try isAging ? priorities(isSuspect ? ClaimSQL.suspects : ClaimSQL.plain) : [nil] {
        var list = PlainList(isSuspect: isSuspect, priority: priority, page: [], isComplete: false)
        try fill(&list)
        if list.job != nil { lists.append(list) }
      }
    }
  }

  /// Reads the next page of a list, if the last one was passed.
  private mutating func fill(_ list: inout PlainList) throws {
    guard list.job == nil, !list.isComplete else { return }
    let last = list.page.last
    let size = max(8, claim.count)
    var select = statement(ClaimSQL.page(of: list.isSuspect ? ClaimSQL.suspects : ClaimSQL.plain))
    select.add(list.priority)
    select.add(last?.priority)
    select.add(last?.position)
    select.add(size)
    list.page = try candidates(select)
    list.index = 0
    list.isComplete = list.page.count < size
  }

  /// Returns the priorities of waiting jobs, highest first.
  private func priorities(_ part: String) throws -> [Int?] {
    try transaction.run(ClaimSQL.priorities(in: part), claim.queue).rows.map { $0.int(0) }
  }

  private func candidate(_ job: JobRecord, isSuspect: Bool) -> ClaimCandidate {
    ClaimCandidate(
      id: job.id, priority: queue.priority(job.priority, since: job.readyTime, at: transaction.now),
      position: job.position,
      isSuspect: isSuspect, limit: limits[job.id]?.limit, group: limits[job.id]?.group ?? JobSettings.noFurtherLimits)
  }

  // MARK: Plain jobs

  mutating func firstPlain(allowsSuspect: Bool) throws -> ClaimCandidate? {
    var found: ClaimCandidate?
    for (index, list) in lists.enumerated() where allowsSuspect || !list.isSuspect {
      guard let job = list.job else { continue }
      let candidate = candidate(job, isSuspect: list.isSuspect)
      if found.map({ candidate.comes(before: $0) }) ?? true { (found, lastList) = (candidate, index) }
    }
    return found
  }

  mutating func passPlain() throws {
    lists[lastList].index += 1
    var list = lists[lastList]
    try fill(&list)
    lists[lastList] = list
  }

  // MARK: Keys

  mutating func levels() throws -> [ClaimLevel] {
    guard hasKeys else { return [] }
    let limit = claim.groupLimit
    let levels = try transaction.turns(of: claim.queue).map { level, turn in
      var groups = try groups(after: turn.lastGroup ?? "", level: level, limit: limit)
      if let last = turn.lastGroup, groups.count <= limit {
        groups += try self.groups(after: "", upTo: last, level: level, limit: limit - groups.count)
      }
      return ClaimLevel(level: level, turn: turn, groups: groups, limit: limit)
    }
    for level in levels { groupsOfLevels[level.level] = level.groups }
    return levels
  }

  /// Returns groups in order, and one more than the limit if there are more.
  private func groups(after group: String, upTo last: String? = nil, level: Int, limit: Int) throws -> [String] {
    var select = transaction.statement(ClaimSQL.groups)
    select.add(claim.queue)
    select.add(level)
    select.add(group)
    select.add(last)
    select.add(limit + 1)
    return try transaction.run(select).rows.map { $0.text(0) }
  }

  mutating func firstJob(
    ofKeyAfter key: String?, in group: String, level: Int, skipping skipped: SkippedKeys
  ) throws -> ClaimCandidate? {
    guard skipped != .none else { return try firstJob(after: key ?? "", in: group, level: level) }
    let hasHeavyJobs = skipped != .full
    guard let free = try firstKeyWithRoom(after: key ?? "", in: group, level: level, orHeavyJobs: hasHeavyJobs) else {
      return nil
    }
    return try firstJob(ofKey: .atOrAfter, free, group, level)
  }

  /// Returns the first job of a group after a key.
  ///
  /// At the beginning of a round, one statement reads the jobs of all groups.
  private mutating func firstJob(after key: String, in group: String, level: Int) throws -> ClaimCandidate? {
    if let firsts, firsts.level == level, firsts.key == key { return firsts.jobs[group] }
    let (groups, roundCount) = (groupsOfLevels[level] ?? [], roundCounts[level, default: 0])
    if groups.count > 1, roundCount == 0 || roundCount == 1 && key.isEmpty {
      let jobs = try firstJobs(after: key, in: groups, level: level)
      (firsts, roundCounts[level]) = ((level, key, jobs), roundCount + 1)
      return jobs[group]
    }
    return try firstJob(ofKey: .after, key, group, level)
  }

  private mutating func firstJobs(
    after key: String, in groups: [String], level: Int
  ) throws -> [String: ClaimCandidate] {
    var select = statement(ClaimSQL.firstJobs)
    select.add(level)
    select.add(key)
    select.add(array: taken.map(\.rawValue))
    select.add(array: groups)
    var firsts: [String: ClaimCandidate] = [:]
    for job in try candidates(select) {
      let candidate = candidate(job, isSuspect: false)
      firsts[candidate.group] = candidate
    }
    return firsts
  }

  /// Returns the next key whose limit might admit its first job, or whose first job takes several units.
  private func firstKeyWithRoom(
    after key: String, in group: String, level: Int, orHeavyJobs hasHeavyJobs: Bool
  ) throws -> String? {
    var select = statement(ClaimSQL.firstKeyWithRoom)
    select.add(level)
    select.add(key)
    select.add(group)
    select.add(hasHeavyJobs)
    return try transaction.run(select).first?.text(0)
  }

  mutating func firstJob(ofKey key: String, in group: String, level: Int) throws -> ClaimCandidate? {
    try firstJob(ofKey: .equal, key, group, level)
  }

  private mutating func firstJob(
    ofKey relation: ClaimSQL.KeyRelation, _ key: String, _ group: String, _ level: Int
  ) throws -> ClaimCandidate? {
    var select = statement(ClaimSQL.firstJob(ofKey: relation))
    select.add(level)
    select.add(key)
    select.add(array: taken.map(\.rawValue))
    select.add(group)
    return try candidates(select).first.map { candidate($0, isSuspect: false) }
  }

  mutating func heavyJob(_ id: JobID, level: Int) throws -> HeavyJob {
    var select = statement(ClaimSQL.heavyJob)
    select.add(level)
    select.add(id.rawValue)
    if let job = try candidates(select).first { return .waiting(candidate(job, isSuspect: false)) }
    let exists = try transaction.run(
      ClaimSQL.heavyJobWaits, id.rawValue, claim.queue, level, transaction.now)
    return exists.isEmpty ? .gone : .unavailable
  }

  // MARK: Limits

  func rate(of job: ClaimCandidate) -> JobRate? { records[job.id]?.settings.firstLimit?.jobRate }

  mutating func runningWeight(ofKey key: String) throws -> Int {
    if let furtherWeights {
      return try transaction.runningWeight(ofKey: key) + furtherWeights[key, default: 0]
    }
    let weights = try transaction.runningWeights(ofKey: key)
    furtherWeights = weights.further
    return weights.first + weights.further[key, default: 0]
  }

  // MARK: Claiming

  mutating func take(_ job: ClaimCandidate) throws -> Bool {
    guard let record = records[job.id], taken.insert(job.id).inserted else { return false }
    firsts = nil
    // A claim has at most one suspect.
    if job.isSuspect { lists.removeAll(where: \.isSuspect) }
    chosen.append(record)
    return record.damage == nil
  }

  /// Claims the chosen jobs.
  func takeAll() throws -> [JobRecord] { try transaction.take(chosen, by: worker) }
}
#endif
