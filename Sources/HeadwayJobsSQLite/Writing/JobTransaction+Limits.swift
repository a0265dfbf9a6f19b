#if Jobs
import GRDB
@_spi(JobStore) import HeadwayJobs

extension JobTransaction {
  // MARK: Queues

  /// The queues that are paused or have settings.
  func queues() throws -> [String: JobQueueRecord] {
    if let knownQueues { return knownQueues }
    let queues = try QueueRow.readAll(database)
    knownQueues = queues
    return queues
  }

  func put(_ queue: JobQueueRecord, named name: String) throws {
    try QueueRow.write(queue, name: name, database)
    knownQueues?[name] = queue == JobQueueRecord() ? nil : queue
  }

  /// Notes that a job without a limit has ended.
  func noteLimits(of queue: String) {
    if knownQueues?[queue]?.settings.maxRunningJobCount != nil { hints.claimableQueues.insert(queue) }
  }

  func hasPending(_ limit: Int, in queue: String) throws -> Bool {
    // Counts only up to the limit.
    var count = 0
    for condition in Self.pendingConditions where count < limit {
      let statement = try statement(
        "SELECT count(*) FROM (SELECT 1 FROM headway_job WHERE \(condition) AND queue = ?1 LIMIT ?2)")
      defer { statement.reset() }
      statement.bind(queue, at: 1)
      statement.bind(limit - count, at: 2)
      if try statement.step() { count += statement.int(0) }
    }
    return count >= limit
  }

  /// The conditions of the pending jobs, in parts that each have an index.
  private static let pendingConditions = [
    "state = 2 AND crashes = 0 AND limit_key IS NULL", "state = 2 AND crashes = 0 AND limit_key NOT NULL",
    "state = 2 AND crashes > 0", "state = 1",
  ]

  // MARK: Counting

  /// Returns the number of running jobs of a queue.
  func runningCount(ofQueue queue: String) throws -> Int {
    // The jobs are counted by worker, because there is an index for that.
    let statement = try statement(
      """
      SELECT count(*) FROM headway_worker CROSS JOIN headway_job
      ON headway_job.owner = headway_worker.id AND headway_job.queue = ?1 AND headway_job.state = 3
      """)
    defer { statement.reset() }
    statement.bind(queue, at: 1)
    return try statement.step() ? statement.int(0) : 0
  }

  /// Returns whether the limit of a job permits a claim.
  func admits(_ job: ClaimCandidate, key: String) throws -> Bool {
    guard let slots = job.slots else {
      guard let rate = try rate(of: job.id) else { return true }
      let old = try bucket(key)
      var bucket = old
      let hasToken = bucket.hasToken(rate, at: now)
      if bucket != old {
        try write(bucket, key)
        // Workers must try again at the time of the next token.
        if !hasToken { hints.hasScheduled = true }
      }
      return hasToken
    }
    let running = try statement(
      """
      SELECT count(*) FROM (SELECT 1 FROM headway_job WHERE state = 3 AND limit_key NOT NULL AND limit_key = ?1
      LIMIT ?2)
      """)
    defer { running.reset() }
    running.bind(key, at: 1)
    running.bind(max(1, slots), at: 2)
    let runningCount = try running.step() ? running.int(0) : 0
    return try JobLimit.admits(slots: slots, runningCount: runningCount) {
      let first = try statement(
        """
        SELECT id FROM headway_job WHERE slots = 0 AND state > 0 AND limit_key = ?1 ORDER BY position LIMIT 1
        """)
      defer { first.reset() }
      first.bind(key, at: 1)
      return try first.step() && first.int64(0) == job.id.rawValue
    }
  }

  // MARK: Rates

  /// Takes a token for a claimed job, if its key has a rate.
  func takeToken(for job: JobRecord) throws {
    guard let limit = job.settings.limit, case .rate(let rate) = limit.rule else { return }
    var bucket = try bucket(limit.storedKey)
    bucket.take(rate, at: now)
    try write(bucket, limit.storedKey)
  }

  /// The rate of a job; nil if it can't be read.
  ///
  /// The job is damaged then, and fails when it is claimed.
  private func rate(of id: JobID) throws -> JobRate? {
    let statement = try statement("SELECT settings FROM headway_job WHERE id = ?1")
    defer { statement.reset() }
    statement.bind(id.rawValue, at: 1)
    guard try statement.step(), !statement.isNull(0),
      case .rate(let rate)? = (try? JobSettings(stored: statement.bytes(0)))?.limit?.rule
    else { return nil }
    return rate
  }

  private func bucket(_ key: String) throws -> RateBucket {
    let statement = try statement("SELECT full, next FROM headway_bucket WHERE key = ?1")
    defer { statement.reset() }
    statement.bind(key, at: 1)
    guard try statement.step() else { return RateBucket(full: now) }
    let next = statement.isNull(1) ? nil : StoreTime(microseconds: statement.int64(1))
    return RateBucket(full: StoreTime(microseconds: statement.int64(0)), next: next)
  }

  private func write(_ bucket: RateBucket, _ key: String) throws {
    let statement = try statement("INSERT OR REPLACE INTO headway_bucket (key, full, next) VALUES (?1, ?2, ?3)")
    statement.bind(key, at: 1)
    statement.bind(bucket.full.microseconds, at: 2)
    statement.bind(bucket.next?.microseconds, at: 3)
    try statement.run()
  }

  // MARK: Turns

  func turn(of queue: String, level: Int) throws -> KeyTurn {
    let statement = try statement("SELECT key, plain_next FROM headway_turn WHERE queue = ?1 AND priority = ?2")
    defer { statement.reset() }
    statement.bind(queue, at: 1)
    statement.bind(level, at: 2)
    guard try statement.step() else { return KeyTurn() }
    return KeyTurn(key: statement.isNull(0) ? nil : statement.text(0), isPlainNext: statement.int(1) != 0)
  }

  func keep(_ turn: KeyTurn, of queue: String, level: Int) throws {
    let statement = try statement(
      "INSERT OR REPLACE INTO headway_turn (queue, priority, key, plain_next) VALUES (?1, ?2, ?3, ?4)")
    statement.bind(queue, at: 1)
    statement.bind(level, at: 2)
    statement.bind(turn.key, at: 3)
    statement.bind(turn.isPlainNext ? 1 : 0, at: 4)
    try statement.run()
  }
}
#endif
