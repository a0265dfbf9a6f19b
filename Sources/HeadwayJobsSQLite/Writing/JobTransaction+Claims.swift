#if Jobs
import GRDB
@_spi(JobStore) import HeadwayJobs

extension JobTransaction {
  func claim(_ claim: JobClaim, by worker: WorkerID) throws -> [JobRecord] {
    let queue = try queues()[claim.queue] ?? JobQueueRecord()
    var count = claim.count
    if let limit = queue.settings.maxRunningJobCount {
      count = min(count, limit - (try runningCount(ofQueue: claim.queue)))
    }
    guard count > 0, !queue.isPaused else { return [] }
    var jobs = ClaimableJobs(self, claim, worker, queue)
    defer { jobs.close() }
    try jobs.open()
    try ClaimSelection.run(&jobs, claim, count: count)
    let claimed = try jobs.takeAll()
    if !claimed.isEmpty, queue.settings.maxPendingJobCount != nil { hints.queuesWithRoom.insert(claim.queue) }
    return claimed
  }

  /// Claims a waiting job for a worker.
  ///
  /// - Returns: The job; nil if it is damaged and has failed for this reason.
  fileprivate func take(_ id: JobID, by worker: WorkerID) throws -> JobRecord? {
    guard var job = try findUnfinished(id) else {
      throw JobError(.storeFailed, "Job \(id) is in an index but not in its table. Run PRAGMA integrity_check.")
    }
    if max(job.epoch, job.attempt) == JobRow.numbers.upperBound { job.damage = "it was claimed too often" }
    guard job.damage == nil else {
      try put(job)
      return nil
    }
    let heldKey = job.holdsKey
    JobTransitions.claim(&job, by: worker, at: now)
    let update = try statement(heldKey == job.holdsKey ? Self.take : Self.takeAndReleaseKey)
    update.bind(id.rawValue, at: 1)
    update.bind(worker.rawValue, at: 2)
    update.bind(now.microseconds, at: 3)
    update.bind(job.epoch, at: 4)
    update.bind(job.attempt, at: 5)
    try update.run()
    return job
  }

  private static let take = "UPDATE headway_job SET \(columnsOfTaking) WHERE id = ?1"
  private static let takeAndReleaseKey = "UPDATE headway_job SET \(columnsOfTaking), unique_key = NULL WHERE id = ?1"
  private static let columnsOfTaking = """
    state = 3, owner = ?2, claimed = ?3, first_claimed = coalesce(first_claimed, ?3), epoch = ?4, attempt = ?5
    """
}

/// The waiting jobs of a queue whose kinds a worker knows, for one claim.
///
/// The indexes contain the jobs of each kind and version in their order, and the lists of the kinds and versions that
/// the worker knows are merged. Therefore, other jobs cost nothing. Jobs with keys are found by their keys: the next
/// key is one step in an index, no matter how many jobs the last key has.
private struct ClaimableJobs: ClaimSource {
  typealias Failure = any Error

  private let transaction: JobTransaction
  private let claim: JobClaim
  private let worker: WorkerID
  private let queue: JobQueueRecord
  private var lists: [PlainList] = []
  /// The index in `lists` of the job that was returned last.
  private var lastList = 0
  /// The kinds and versions of waiting jobs with keys.
  private var keyed: [KindVersion] = []
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

  private var isAging: Bool { queue.settings.agingInterval != nil }

  init(_ transaction: JobTransaction, _ claim: JobClaim, _ worker: WorkerID, _ queue: JobQueueRecord) {
    (self.transaction, self.claim, self.worker, self.queue) = (transaction, claim, worker, queue)
  }

  // MARK: Opening

  mutating func open() throws {
    for group in try groups(in: .plain) {
      for priority in try isAging ? priorities(in: .plain, of: group) : [nil] {
        let rows = try statement(
          """
          SELECT id, priority, position\(isAging ? ", ready" : "") FROM headway_job WHERE \(Part.plain.rawValue)
          AND queue = ?1 AND kind = ?3 AND version = ?4 \(priority == nil ? "" : "AND priority = ?5")
          AND (deadline IS NULL OR deadline > ?2) ORDER BY priority DESC, position -- \(lists.count)
          """)
        bind(group, to: rows)
        if let priority { rows.bind(priority, at: 5) }
        try add(rows, isSuspect: false)
      }
    }
    if claim.allowsSuspect {
      for priority in try isAging ? priorities(in: .suspects, of: nil) : [nil] {
        let rows = try statement(
          """
          SELECT id, priority, position, ready, limit_key, slots, kind, version FROM headway_job
          WHERE \(Part.suspects.rawValue) AND queue = ?1 \(priority == nil ? "" : "AND priority = ?3")
          AND (deadline IS NULL OR deadline > ?2) ORDER BY priority DESC, position -- \(lists.count)
          """)
        if let priority { rows.bind(priority, at: 3) }
        try add(rows, isSuspect: true)
      }
    }
    if try hasKeys() { keyed = try groups(in: .keyed) }
  }

  /// The parts of the waiting jobs, each with its own index.
  private enum Part: String {
    case plain = "state = 2 AND crashes = 0 AND limit_key IS NULL"
    case keyed = "state = 2 AND crashes = 0 AND limit_key NOT NULL"
    case suspects = "state = 2 AND crashes > 0"
  }

  /// Returns a statement whose first parameters are the queue and the time.
  private func statement(_ sql: String) throws -> SQLStatement {
    // Statements that are used at the same time have different texts, so that each has its own entry in the cache.
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

  /// Returns the next job of a list whose kind the worker knows.
  private func next(_ rows: SQLStatement, _ isSuspect: Bool) throws -> ClaimCandidate? {
    while try rows.step() {
      if isSuspect {
        guard let known = claim.kinds[JobKind(rawValue: rows.text(6))], rows.int(7) <= known else { continue }
      }
      let ready = isAging ? rows.int64(3) : 0
      return ClaimCandidate(
        id: JobID(rawValue: rows.int64(0)), priority: priority(rows.int(1), since: ready),
        position: rows.int64(2), isSuspect: isSuspect, key: isSuspect && !rows.isNull(4) ? rows.text(4) : nil,
        slots: isSuspect && !rows.isNull(5) ? rows.int(5) : nil)
    }
    return nil
  }

  private func priority(_ priority: Int, since ready: Int64) -> Int {
    isAging ? queue.priority(priority, since: StoreTime(microseconds: ready), at: transaction.now) : priority
  }

  private func hasKeys() throws -> Bool {
    let any = try statement("SELECT 1 FROM headway_job WHERE \(Part.keyed.rawValue) AND queue = ?1 LIMIT 1")
    defer { any.reset() }
    return try any.step()
  }

  /// Returns the kinds that the worker knows, with the versions of their waiting jobs.
  private func groups(in part: Part) throws -> [KindVersion] {
    let next = try statement(
      """
      SELECT version FROM headway_job WHERE \(part.rawValue) AND queue = ?1 AND kind = ?3 AND version > ?4
      AND version <= ?5 ORDER BY version LIMIT 1
      """)
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
  private func priorities(in part: Part, of group: KindVersion?) throws -> [Int?] {
    let next = try statement(
      """
      SELECT priority FROM headway_job WHERE \(part.rawValue) AND queue = ?1
      \(group == nil ? "" : "AND kind = ?3 AND version = ?4") AND priority <= ?5 ORDER BY priority DESC LIMIT 1
      """)
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

  func levels() throws -> [(level: Int, turn: KeyTurn)] {
    let levels = Set(try keyed.flatMap { try priorities(in: .keyed, of: $0) }.compactMap(\.self))
    return try levels.sorted(by: >).map { ($0, try transaction.turn(of: claim.queue, level: $0)) }
  }

  func firstJob(ofKeyAfter key: String?, level: Int) throws -> ClaimCandidate? {
    try firstJob("limit_key > ?6", key ?? "", level)
  }

  func firstJob(ofKey key: String, level: Int) throws -> ClaimCandidate? {
    try firstJob("limit_key = ?6", key, level)
  }

  private func firstJob(_ condition: String, _ key: String, _ level: Int) throws -> ClaimCandidate? {
    let rows = try statement(
      """
      SELECT id, position, limit_key, slots\(isAging ? ", ready" : "") FROM headway_job WHERE \(Part.keyed.rawValue)
      AND queue = ?1 AND kind = ?3 AND version = ?4 AND priority = ?5 AND \(condition)
      AND (deadline IS NULL OR deadline > ?2) ORDER BY limit_key, position LIMIT 1
      """)
    var first: ClaimCandidate?
    for group in keyed {
      bind(group, to: rows)
      rows.bind(level, at: 5)
      rows.bind(key, at: 6)
      defer { rows.reset() }
      guard try rows.step() else { continue }
      let job = ClaimCandidate(
        id: JobID(rawValue: rows.int64(0)), priority: priority(level, since: isAging ? rows.int64(4) : 0),
        position: rows.int64(1), key: rows.text(2), slots: rows.isNull(3) ? nil : rows.int(3))
      if first.map({ Self.comes(job, before: $0) }) ?? true { first = job }
    }
    return first
  }

  /// Returns whether a job comes before another one, by key and then by position.
  private static func comes(_ job: ClaimCandidate, before other: ClaimCandidate) -> Bool {
    guard let key = job.key, let otherKey = other.key, !key.utf8.elementsEqual(otherKey.utf8) else {
      return job.position < other.position
    }
    return key.utf8.lexicographicallyPrecedes(otherKey.utf8)
  }

  func admits(_ job: ClaimCandidate) throws -> Bool {
    guard let key = job.key else { return true }
    return try transaction.admits(job, key: key)
  }

  func keep(_ turn: KeyTurn, level: Int) throws { try transaction.keep(turn, of: claim.queue, level: level) }

  // MARK: Claiming

  mutating func take(_ job: ClaimCandidate) throws {
    if job.isSuspect {
      // A claim has at most one suspect, and the index of suspects must not be read while it changes.
      for list in lists where list.isSuspect { list.rows.reset() }
      lists.removeAll(where: \.isSuspect)
    }
    // Jobs without a key are claimed after their index has been read.
    guard job.isSuspect || job.key != nil else {
      chosen.append((job.id, nil))
      return
    }
    guard let record = try transaction.take(job.id, by: worker) else { return }
    try transaction.takeToken(for: record)
    chosen.append((job.id, record))
  }

  /// Claims the chosen jobs that are not claimed yet, and returns all chosen jobs.
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
