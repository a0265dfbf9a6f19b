#if PostgreSQL
@_spi(JobStore) import HeadwayJobs

/// The waiting jobs of a queue whose kinds a worker knows, for one claim.
///
/// Rows that other transactions have locked are skipped.
struct ClaimableJobs: ClaimSource {
  typealias Failure = any Error

  private let transaction: JobTransaction
  private let claim: JobClaim
  private let worker: WorkerID
  private let queue: JobQueueRecord
  private var lists: [PlainList] = []
  /// The index in `lists` of the job that was returned last.
  private var lastList = 0
  private var hasKeys = false
  /// The records of the candidates.
  private var records: [JobID: JobRecord] = [:]
  private var chosen: [JobRecord] = []
  private var taken: Set<JobID> = []
  /// The numbers of running jobs by key, with those of this claim.
  ///
  /// Only the holder of the limits lock claims, so the numbers can only decrease in the meantime.
  private var running: [String: Int] = [:]
  private var buckets: [String: RateBucket] = [:]
  private var changedBuckets: Set<String> = []
  /// How many jobs in a row were not admitted.
  private var refusalCount = 0
  /// After this many refusals, one statement finds the next key with room, which avoids a request for each key.
  private static let maxRefusalCount = 3

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

  private var isAging: Bool { queue.settings.agingInterval != nil }

  init(_ transaction: JobTransaction, _ claim: JobClaim, _ worker: WorkerID, _ queue: JobQueueRecord) {
    (self.transaction, self.claim, self.worker, self.queue) = (transaction, claim, worker, queue)
  }

  // MARK: Statements

  private static let plain = "state = 2 AND crashes = 0 AND limit_key IS NULL"
  private static let keyed = "state = 2 AND crashes = 0 AND limit_key IS NOT NULL"
  private static let suspects = "state = 2 AND crashes > 0"
  private static let isKnown = """
    queue = $1 AND (deadline IS NULL OR deadline > $2) AND EXISTS (
    SELECT FROM unnest($3::text[], $4::bigint[]) AS x(known, newest) WHERE known = kind AND version <= newest)
    """

  /// Returns a statement whose first parameters are the queue, the time, and the kinds that the worker knows.
  private func statement(
    _ condition: String, _ rest: String, as whole: (_ select: String) -> String = { $0 }
  ) -> Statement {
    var statement = transaction.statement(
      whole("SELECT \(JobRow.unfinishedColumns) FROM headway.job WHERE \(condition) AND \(Self.isKnown) \(rest)"))
    let kinds = claim.kinds.sorted { $0.key < $1.key }
    statement.add(claim.queue)
    statement.add(transaction.now)
    statement.add(array: kinds.map(\.key.rawValue))
    statement.add(array: kinds.map { Int64($0.value) })
    return statement
  }

  private func jobs(_ statement: Statement) throws -> [JobRecord] {
    try transaction.run(statement).rows.map(JobRow.read)
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
    var select = statement(Self.plain, "ORDER BY priority DESC, position LIMIT $5 FOR UPDATE SKIP LOCKED")
    select.add(count)
    return try jobs(select)
  }

  /// Returns jobs after the marks of their priorities, in order.
  private func plainJobs(_ count: Int, in levels: [(priority: Int, position: Int64)]) throws -> [JobRecord] {
    // The server executes this as a loop over the levels, which ends as soon as there are enough jobs.
    var select = statement(
      Self.plain, "AND priority = level.value AND position > mark ORDER BY position LIMIT $5 FOR UPDATE SKIP LOCKED"
    ) { select in
      """
      SELECT waiting.* FROM unnest($6::bigint[], $7::bigint[]) AS level(value, mark)
      CROSS JOIN LATERAL (\(select)) waiting LIMIT $5
      """
    }
    select.add(count)
    select.add(array: levels.map { Int64($0.priority) })
    select.add(array: levels.map(\.position))
    return try jobs(select)
  }

  // MARK: Opening

  mutating func open(hasKeys: Bool) throws {
    self.hasKeys = hasKeys
    for isSuspect in claim.allowsSuspect ? [false, true] : [false] {
      for priority in try isAging ? priorities(isSuspect ? Self.suspects : Self.plain) : [nil] {
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
    var select = statement(
      list.isSuspect ? Self.suspects : Self.plain,
      """
      AND ($5::bigint IS NULL OR priority = $5)
      AND ($6::bigint IS NULL OR priority < $6 OR priority = $6 AND position > $7)
      ORDER BY priority DESC, position LIMIT $8 FOR UPDATE SKIP LOCKED
      """)
    select.add(list.priority)
    select.add(last?.priority)
    select.add(last?.position)
    select.add(size)
    list.page = try jobs(select)
    list.index = 0
    list.isComplete = list.page.count < size
    for job in list.page { records[job.id] = job }
  }

  /// Returns the priorities of waiting jobs, highest first.
  private func priorities(_ condition: String) throws -> [Int?] {
    try transaction.run(
      """
      WITH RECURSIVE level AS (
        SELECT max(priority) AS priority FROM headway.job WHERE \(condition) AND queue = $1
        UNION ALL SELECT (SELECT max(priority) FROM headway.job WHERE \(condition) AND queue = $1
        AND priority < level.priority) FROM level WHERE level.priority IS NOT NULL)
      SELECT priority FROM level WHERE priority IS NOT NULL
      """, claim.queue
    ).rows.map { $0.int(0) }
  }

  private func candidate(_ job: JobRecord, isSuspect: Bool) -> ClaimCandidate {
    ClaimCandidate(
      id: job.id, priority: queue.priority(job.priority, since: job.readyTime, at: transaction.now),
      position: job.position,
      isSuspect: isSuspect, key: job.settings.limit?.storedKey, slots: job.settings.limit?.slots)
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

  func levels() throws -> [(level: Int, turn: KeyTurn)] {
    guard hasKeys else { return [] }
    return try priorities(Self.keyed).compactMap(\.self).map { level in
      (level, try transaction.turn(of: claim.queue, level: level))
    }
  }

  mutating func firstJob(ofKeyAfter key: String?, level: Int) throws -> ClaimCandidate? {
    guard refusalCount >= Self.maxRefusalCount else { return try firstJob("limit_key > $6", key ?? "", level) }
    guard let free = try firstKeyWithRoom(after: key ?? "", level: level) else { return nil }
    return try firstJob("limit_key >= $6", free, level)
  }

  /// Returns the next key whose limit might admit its first job.
  private func firstKeyWithRoom(after key: String, level: Int) throws -> String? {
    let condition = "\(Self.keyed) AND queue = $1 AND priority = $5 AND limit_key >"
    var select = statement("\(Self.keyed) AND priority = $5 AND limit_key = key.value", "ORDER BY position LIMIT 1") {
      """
      WITH RECURSIVE key(value) AS (
        SELECT min(limit_key) FROM headway.job WHERE \(condition) $6
        UNION ALL SELECT (SELECT min(limit_key) FROM headway.job WHERE \(condition) key.value) FROM key
        WHERE value IS NOT NULL)
      SELECT value FROM key CROSS JOIN LATERAL (\($0)) waiting
      CROSS JOIN LATERAL (
        SELECT count(*) AS count FROM headway.job WHERE state = 3 AND limit_key IS NOT NULL AND limit_key = key.value
      ) running
      WHERE CASE
        WHEN slots > 0 THEN count < slots
        WHEN slots = 0 THEN count = 0 AND NOT EXISTS (
          SELECT FROM headway.job other WHERE other.slots = 0 AND other.state > 0 AND other.limit_key = key.value
          AND other.position < waiting.position)
        ELSE true END
      LIMIT 1
      """
    }
    select.add(level)
    select.add(key)
    return try transaction.run(select).first?.text(0)
  }

  mutating func firstJob(ofKey key: String, level: Int) throws -> ClaimCandidate? {
    try firstJob("limit_key = $6", key, level)
  }

  private mutating func firstJob(_ condition: String, _ key: String, _ level: Int) throws -> ClaimCandidate? {
    var select = statement(
      Self.keyed,
      """
      AND priority = $5 AND \(condition) AND id <> ALL($7)
      ORDER BY limit_key, position LIMIT 1 FOR UPDATE SKIP LOCKED
      """)
    select.add(level)
    select.add(key)
    select.add(array: taken.map(\.rawValue))
    guard let job = try jobs(select).first else { return nil }
    records[job.id] = job
    return candidate(job, isSuspect: false)
  }

  // MARK: Limits

  mutating func admits(_ job: ClaimCandidate) throws -> Bool {
    let isAdmitted = try hasRoom(for: job)
    refusalCount = isAdmitted ? 0 : refusalCount + 1
    return isAdmitted
  }

  private mutating func hasRoom(for job: ClaimCandidate) throws -> Bool {
    guard let key = job.key, let record = records[job.id] else { return true }
    guard let slots = job.slots else {
      guard case .rate(let rate)? = record.settings.limit?.rule else { return true }
      let old = try bucket(key)
      var bucket = old
      let hasToken = bucket.hasToken(rate, at: transaction.now)
      if bucket != old {
        set(bucket, key)
        // Workers must try again at the time of the next token.
        if !hasToken { transaction.hints.hasScheduled = true }
      }
      return hasToken
    }
    let count = try running[key] ?? transaction.runningCount(ofKey: key)
    running[key] = count
    return try JobLimit.admits(slots: slots, runningCount: count) {
      try transaction.firstJob(ofSerialKey: key) == job.id
    }
  }

  private mutating func bucket(_ key: String) throws -> RateBucket {
    if let bucket = buckets[key] { return bucket }
    let bucket = try transaction.bucket(key)
    buckets[key] = bucket
    return bucket
  }

  private mutating func set(_ bucket: RateBucket, _ key: String) {
    buckets[key] = bucket
    changedBuckets.insert(key)
  }

  mutating func take(_ job: ClaimCandidate) throws {
    guard let record = records[job.id], taken.insert(job.id).inserted else { return }
    // A claim has at most one suspect.
    if job.isSuspect { lists.removeAll(where: \.isSuspect) }
    chosen.append(record)
    guard let key = job.key, record.damage == nil else { return }
    running[key] = try (running[key] ?? transaction.runningCount(ofKey: key)) + 1
    guard case .rate(let rate)? = record.settings.limit?.rule else { return }
    var bucket = try bucket(key)
    bucket.take(rate, at: transaction.now)
    set(bucket, key)
  }

  func keep(_ turn: KeyTurn, level: Int) throws { transaction.keep(turn, of: claim.queue, level: level) }

  /// Claims the chosen jobs.
  mutating func takeAll() throws -> [JobRecord] {
    for key in changedBuckets.sorted() { if let bucket = buckets[key] { transaction.write(bucket, key) } }
    return try transaction.take(chosen, by: worker)
  }
}
#endif
