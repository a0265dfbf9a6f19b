#if Jobs
import GRDB
@_spi(JobStore) import HeadwayJobs

/// The waiting jobs of a queue whose kinds a worker supports, for one claim.
///
/// The indexes contain the jobs of each kind and version in their order, and the lists of the kinds and versions that
/// the worker supports are merged. Therefore, other jobs cost nothing. Jobs with keys are found by their keys: the next
/// key is one step in an index, no matter how many jobs the last key has.
struct ClaimableJobs: SQLClaimSource {
  let transaction: JobTransaction
  let claim: JobClaim
  private let worker: WorkerID
  let queue: JobQueueRecord
  private var lists: [PlainList] = []
  /// The index in `lists` of the job that was returned last.
  private var lastList = 0
  /// The kinds and versions of waiting jobs with keys.
  private var keyed: [KindVersion] = []
  /// The units that running jobs take by their further limits, or nil if they have not been read.
  private var furtherWeights: [String: Int]?
  private var chosen: [(id: JobID, record: JobRecord?)] = []

  private struct KindVersion {
    let kind: String
    let version: Int
  }

  /// A list of plain jobs in their order, with the current one.
  private struct PlainList {
    let rows: SQLStatement
    let isSuspect: Bool
    var job: ClaimCandidate
  }

  init(_ transaction: JobTransaction, _ claim: JobClaim, _ worker: WorkerID, _ queue: JobQueueRecord) {
    (self.transaction, self.claim, self.worker, self.queue) = (transaction, claim, worker, queue)
  }

  // MARK: Opening

  mutating func open() throws {
    for group in try groups(in: ClaimSQL.plain) {
      for priority in try isAging ? priorities(in: ClaimSQL.plain, of: group) : [nil] {
        let rows = try statement(
          ClaimSQL.plainJobs(readsReady: isAging, hasPriority: priority != nil, list: lists.count))
        bind(group, to: rows)
        if let priority { rows.bind(priority, at: 5) }
        try add(rows, isSuspect: false)
      }
    }
    if claim.allowsSuspect {
      for priority in try isAging ? priorities(in: ClaimSQL.suspects, of: nil) : [nil] {
        let rows = try statement(ClaimSQL.suspectJobs(hasPriority: priority != nil, list: lists.count))
        if let priority { rows.bind(priority, at: 3) }
        try add(rows, isSuspect: true)
      }
    }
    if try hasKeys() { keyed = try groups(in: ClaimSQL.keyed) }
  }

  /// Returns a statement whose first parameters are the queue and the time.
  private func statement(_ sql: String) throws -> SQLStatement {
    let statement = try transaction.statement(sql)
    statement.bind(claim.queue, at: 1)
    statement.bind(transaction.now.microseconds, at: 2)
    return statement
  }

  private func bind(_ group: KindVersion, to statement: SQLStatement) {
    statement.bind(group.kind, at: 3)
    statement.bind(group.version, at: 4)
  }

  private mutating func add(_ rows: SQLStatement, isSuspect: Bool) throws {
    if let job = try next(rows, isSuspect) { lists.append(PlainList(rows: rows, isSuspect: isSuspect, job: job)) }
  }

  /// Returns the next job of a list whose kind the worker supports.
  private func next(_ rows: SQLStatement, _ isSuspect: Bool) throws -> ClaimCandidate? {
    while try rows.step() {
      if isSuspect {
        guard isKnown(rows.text(4), rows.int(5)) else { continue }
      }
      var job = ClaimCandidate(
        id: JobID(rawValue: rows.int64(0)), priority: priority(rows.int(1), since: isAging ? rows.int64(3) : 0),
        position: rows.int64(2), isSuspect: isSuspect)
      if isSuspect { readLimits(rows, at: 6, of: &job) }
      return job
    }
    return nil
  }

  private func isKnown(_ kind: String, _ version: Int) -> Bool {
    claim.kinds[JobKind(rawValue: kind)].map { version <= $0 } ?? false
  }

  /// Reads the columns `limit_key`, `slots`, `weight` and `further`.
  private func readLimits(_ row: SQLStatement, at column: Int, of job: inout ClaimCandidate) {
    guard !row.isNull(column) else { return }
    job.limit = ClaimLimit(
      key: row.text(column), slots: row.isNull(column + 1) ? nil : row.int(column + 1), weight: row.int(column + 2))
    job.group = row.text(column + 3)
  }

  private func priority(_ priority: Int, since ready: Int64) -> Int {
    isAging ? queue.priority(priority, since: StoreTime(microseconds: ready), at: transaction.now) : priority
  }

  private func hasKeys() throws -> Bool {
    let any = try statement(ClaimSQL.hasKeys)
    defer { any.reset() }
    return try any.step()
  }

  /// Returns the kinds that the worker supports, with the versions of their waiting jobs.
  private func groups(in part: String) throws -> [KindVersion] {
    let next = try statement(ClaimSQL.nextVersion(in: part))
    var groups: [KindVersion] = []
    for (kind, known) in claim.kinds {
      next.bind(kind.rawValue, at: 3)
      next.bind(Int64.min, at: 4)
      next.bind(known, at: 5)
      while try next.step() {
        let group = KindVersion(kind: kind.rawValue, version: next.int(0))
        groups.append(group)
        next.reset()
        next.bind(group.version, at: 4)
      }
    }
    return groups
  }

  /// Returns the priorities of the jobs of a kind and version, or of all kinds, highest first.
  private func priorities(in part: String, of group: KindVersion?) throws -> [Int?] {
    let next = try statement(ClaimSQL.nextPriority(in: part, hasKind: group != nil))
    if let group { bind(group, to: next) }
    next.bind(Int64.max, at: 5)
    var priorities: [Int?] = []
    while try next.step() {
      let priority = next.int(0)
      priorities.append(priority)
      next.reset()
      if priority == .min { break }
      next.bind(priority - 1, at: 5)
    }
    return priorities
  }

  // MARK: Plain jobs

  mutating func firstPlain(allowsSuspect: Bool) throws -> ClaimCandidate? {
    var found: ClaimCandidate?
    for (index, list) in lists.enumerated() where allowsSuspect || !list.isSuspect {
      if found.map({ list.job.comes(before: $0) }) ?? true { (found, lastList) = (list.job, index) }
    }
    return found
  }

  mutating func passPlain() throws {
    if let job = try next(lists[lastList].rows, lists[lastList].isSuspect) {
      lists[lastList].job = job
    } else {
      lists.remove(at: lastList)
    }
  }

  // MARK: Keys

  func levels() throws -> [ClaimLevel] {
    let levels = Set(try keyed.flatMap { try priorities(in: ClaimSQL.keyed, of: $0) }.compactMap(\.self))
    return try levels.sorted(by: >).map { level in
      let turn = try transaction.turn(of: claim.queue, level: level)
      let groups = try ClaimLevel.groups(after: turn.lastGroup, limit: claim.groupLimit) { group in
        try firstGroup(after: group, level: level)
      }
      return ClaimLevel(level: level, turn: turn, groups: groups, limit: claim.groupLimit)
    }
  }

  /// Returns the first group after another one.
  private func firstGroup(after group: String, level: Int) throws -> String? {
    let rows = try statement(ClaimSQL.nextGroup)
    var first: String?
    for kind in keyed {
      bind(kind, to: rows)
      rows.bind(level, at: 5)
      rows.bind(group, at: 6)
      defer { rows.reset() }
      guard try rows.step() else { continue }
      let found = rows.text(0)
      if first.map({ found.utf8.lexicographicallyPrecedes($0.utf8) }) ?? true { first = found }
    }
    return first
  }

  func firstJob(
    ofKeyAfter key: String?, in group: String, level: Int, skipping skipped: SkippedKeys
  ) throws -> ClaimCandidate? {
    try firstJob(isAfterKey: true, key ?? "", group, level)
  }

  func firstJob(ofKey key: String, in group: String, level: Int) throws -> ClaimCandidate? {
    try firstJob(isAfterKey: false, key, group, level)
  }

  private func firstJob(isAfterKey: Bool, _ key: String, _ group: String, _ level: Int) throws -> ClaimCandidate? {
    let rows = try statement(ClaimSQL.firstJob(isAfterKey: isAfterKey, readsReady: isAging))
    var first: ClaimCandidate?
    for kind in keyed {
      bind(kind, to: rows)
      rows.bind(level, at: 5)
      rows.bind(group, at: 6)
      rows.bind(key, at: 7)
      defer { rows.reset() }
      guard try rows.step() else { continue }
      var job = ClaimCandidate(
        id: JobID(rawValue: rows.int64(0)), priority: priority(level, since: isAging ? rows.int64(2) : 0),
        position: rows.int64(1))
      readLimits(rows, at: 3, of: &job)
      if first.map({ job.comesByKey(before: $0) }) ?? true { first = job }
    }
    return first
  }

  func heavyJob(_ id: JobID, level: Int) throws -> HeavyJob {
    let row = try statement(ClaimSQL.heavyJob)
    defer { row.reset() }
    row.bind(id.rawValue, at: 3)
    row.bind(level, at: 4)
    guard try row.step() else { return .gone }
    guard isKnown(row.text(2), row.int(3)) else { return .unavailable }
    var job = ClaimCandidate(id: id, priority: priority(level, since: row.int64(1)), position: row.int64(0))
    readLimits(row, at: 4, of: &job)
    return .waiting(job)
  }

  // MARK: Limits

  func rate(of job: ClaimCandidate) throws -> JobRate? { try transaction.rate(of: job.id) }

  mutating func runningWeight(ofKey key: String) throws -> Int {
    let further = try furtherWeights ?? transaction.furtherWeights()
    furtherWeights = further
    return try transaction.runningWeight(ofKey: key) + further[key, default: 0]
  }

  // MARK: Claiming

  mutating func take(_ job: ClaimCandidate) throws -> Bool {
    if job.isSuspect {
      // A claim has at most one suspect, and the index of suspects must not be read while it changes.
      for list in lists where list.isSuspect { list.rows.reset() }
      lists.removeAll(where: \.isSuspect)
    }
    // Jobs without a key are claimed after their index has been read.
    guard job.isSuspect || job.limit != nil else {
      chosen.append((job.id, nil))
      return true
    }
    guard let record = try transaction.take(job.id, by: worker) else { return false }
    chosen.append((job.id, record))
    return true
  }

  /// Claims the chosen jobs that are not claimed yet and returns all chosen jobs.
  mutating func takeAll() throws -> [JobRecord] {
    close()
    return try chosen.compactMap { try $0.record ?? transaction.take($0.id, by: worker) }
  }

  mutating func close() {
    for list in lists { list.rows.reset() }
    lists = []
  }
}
#endif
