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

  /// Returns the sum of the weights of running jobs whose first limit has a key.
  func runningWeight(ofKey key: String) throws -> Int {
    let statement = try statement(
      "SELECT sum(weight) FROM headway_job WHERE state = 3 AND limit_key NOT NULL AND limit_key = ?1")
    defer { statement.reset() }
    statement.bind(key, at: 1)
    return try statement.step() && !statement.isNull(0) ? statement.int(0) : 0
  }

  /// Returns the sums of the weights of running jobs by the keys of their further limits.
  func furtherWeights() throws -> [String: Int] {
    let statement = try statement(
      "SELECT further, count(*) FROM headway_job WHERE state = 3 AND further > '-' GROUP BY further")
    var counts: [(group: String, count: Int)] = []
    try statement.forEachRow { counts.append(($0.text(0), $0.int(1))) }
    return JobSettings.furtherWeights(counts)
  }

  /// Returns the first job of a serial key that has not ended.
  func firstJob(ofSerialKey key: String) throws -> JobID? {
    let statement = try statement(
      """
      SELECT id FROM headway_job WHERE slots = 0 AND state > 0 AND limit_key = ?1 ORDER BY position LIMIT 1
      """)
    defer { statement.reset() }
    statement.bind(key, at: 1)
    return try statement.step() ? JobID(rawValue: statement.int64(0)) : nil
  }

  // MARK: Rates

  /// Returns the rate of a job whose first limit is a rate; nil if the rate can't be read.
  ///
  /// The job is damaged then, and fails when it is claimed.
  func rate(of id: JobID) throws -> JobRate? {
    let statement = try statement("SELECT settings FROM headway_job WHERE id = ?1")
    defer { statement.reset() }
    statement.bind(id.rawValue, at: 1)
    guard try statement.step(), !statement.isNull(0) else { return nil }
    return (try? JobSettings(stored: statement.bytes(0)))?.firstLimit?.jobRate
  }

  func bucket(ofKey key: String) throws -> RateBucket? {
    let statement = try statement("SELECT full, next FROM headway_bucket WHERE key = ?1")
    defer { statement.reset() }
    statement.bind(key, at: 1)
    guard try statement.step() else { return nil }
    let next = statement.isNull(1) ? nil : StoreTime(microseconds: statement.int64(1))
    return RateBucket(full: StoreTime(microseconds: statement.int64(0)), next: next)
  }

  func write(_ bucket: RateBucket, ofKey key: String) throws {
    let statement = try statement("INSERT OR REPLACE INTO headway_bucket (key, full, next) VALUES (?1, ?2, ?3)")
    statement.bind(key, at: 1)
    statement.bind(bucket.full.microseconds, at: 2)
    statement.bind(bucket.next?.microseconds, at: 3)
    try statement.run()
  }

  // MARK: Turns

  func turn(of queue: String, level: Int) throws -> KeyTurn {
    let statement = try statement(
      "SELECT key, plain_next, heavy, further FROM headway_turn WHERE queue = ?1 AND priority = ?2")
    defer { statement.reset() }
    statement.bind(queue, at: 1)
    statement.bind(level, at: 2)
    guard try statement.step() else { return KeyTurn() }
    return KeyTurn(
      key: statement.isNull(0) ? nil : statement.text(0), isPlainNext: statement.int(1) != 0,
      heavyJobs: KeyTurn.heavyJobs(stored: statement.isNull(2) ? nil : statement.text(2)),
      lastGroup: statement.isNull(3) ? nil : statement.text(3))
  }

  func keep(_ turn: KeyTurn, of queue: String, level: Int) throws {
    let statement = try statement(
      """
      INSERT OR REPLACE INTO headway_turn (queue, priority, key, plain_next, heavy, further)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6)
      """)
    statement.bind(queue, at: 1)
    statement.bind(level, at: 2)
    statement.bind(turn.key, at: 3)
    statement.bind(turn.isPlainNext ? 1 : 0, at: 4)
    statement.bind(turn.storedHeavyJobs, at: 5)
    statement.bind(turn.lastGroup, at: 6)
    try statement.run()
  }
}
#endif
