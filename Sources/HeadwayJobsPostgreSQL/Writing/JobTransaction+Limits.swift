#if PostgreSQL
@_spi(JobStore) import HeadwayJobs

extension JobTransaction {
  // MARK: Queues

  /// The queues that are paused or have settings.
  func queues() throws -> [String: JobQueueRecord] {
    if let knownQueues { return knownQueues }
    let queues = QueueRow.readAll(try run(QueueRow.select))
    knownQueues = queues
    return queues
  }

  func lockedQueue(_ name: String) throws -> JobQueueRecord? {
    // Read again, because others could have changed it before its row was locked.
    QueueRow.readAll(try run(QueueRow.select + " WHERE name = $1 FOR UPDATE", name))[name]
  }

  func put(_ queue: JobQueueRecord, named name: String) {
    runLater(QueueRow.write(queue, name: name, self))
    knownQueues?[name] = queue == JobQueueRecord() ? nil : queue
  }

  /// Notes how an attempt has ended, in the record of its queue.
  func note(_ action: JobEnding.Action, of queue: String) throws {
    guard let known = try queues()[queue], known.settings.maxFailureCount != nil else { return }
    if case .succeed = action, known.failureCount == 0 { return }
    if !hasLockedFailureCounts {
      // In a fixed order, so that exchanges don't deadlock.
      hasLockedFailureCounts = true
      runLater("SELECT name FROM headway.queue WHERE failure_limit IS NOT NULL ORDER BY name FOR UPDATE")
    }
    try changeQueue(queue) { $0.note(action) }
  }

  // MARK: Full queues

  func enqueue(_ batch: [NewJob], beforeDependentsOf parent: JobID? = nil) throws -> [Enqueued] {
    let full = try fullQueues(for: batch)
    guard try session.mayInsertJobs(schema) else { return try call(batch, full) }
    try requireRoom(for: batch, full)
    return try addAll(batch, beforeDependentsOf: parent)
  }

  func hasPending(_ count: Int, in queue: String) throws -> Bool {
    // Counts only up to the limit.
    try run("SELECT headway.pending_count($1, $2) >= $2", queue, count).first?.bool(0) ?? false
  }

  // MARK: Counting

  /// Waits until no other claim counts jobs, so that the counts remain true until this transaction ends.
  func lockLimits() throws {
    guard !holdsLimitsLock else { return }
    holdsLimitsLock = true
    runLater("SELECT pg_advisory_xact_lock($1, $2)", schema.lockClass, StoreLock.limits.rawValue)
  }

  /// Returns the number of running jobs of a queue.
  func runningCount(ofQueue queue: String) throws -> Int {
    try run("SELECT count(*) FROM headway.job WHERE state = 3 AND queue = $1", queue).first?.int(0) ?? 0
  }

  /// Returns the sum of the weights of running jobs whose first limit has a key.
  func runningWeight(ofKey key: String) throws -> Int {
    try run("SELECT coalesce(sum(weight), 0)::bigint FROM headway.job WHERE \(Self.isRunningKey)", key).first?.int(0)
      ?? 0
  }

  /// Returns the sum for a key, and the sums of the weights of running jobs by the keys of their further limits.
  func runningWeights(ofKey key: String) throws -> (first: Int, further: [String: Int]) {
    let rows = try run(
      """
      SELECT NULL::text, coalesce(sum(weight), 0)::bigint FROM headway.job WHERE \(Self.isRunningKey)
      UNION ALL SELECT further, count(*) FROM headway.job WHERE state = 3 AND further > '-' GROUP BY further
      """, key
    ).rows
    let counts = rows.compactMap { row in row.optional(0, row.text).map { (group: $0, count: row.int(1)) } }
    return (rows.first { $0.isNull(0) }?.int(1) ?? 0, JobSettings.furtherWeights(counts))
  }

  private static let isRunningKey = "state = 3 AND limit_key IS NOT NULL AND limit_key = $1"

  /// Returns the first job of a serial key that has not ended.
  func firstJob(ofSerialKey key: String) throws -> JobID? {
    try run(
      "SELECT id FROM headway.job WHERE slots = 0 AND state > 0 AND limit_key = $1 ORDER BY position LIMIT 1", key
    ).first?.id(0)
  }

  // MARK: Rates

  func bucket(ofKey key: String) throws -> RateBucket? {
    let found = try run("SELECT fills, next FROM headway.bucket WHERE key = $1", key).first
    return found.map { RateBucket(full: $0.time(0), next: $0.optional(1, $0.time)) }
  }

  func write(_ bucket: RateBucket, ofKey key: String) {
    var statement = statement(
      """
      INSERT INTO headway.bucket (key, fills, next) VALUES ($1, $2, $3)
      ON CONFLICT (key) DO UPDATE SET fills = excluded.fills, next = excluded.next
      """)
    statement.add(key)
    statement.add(bucket.full)
    statement.add(bucket.next)
    runLater(statement)
  }

  // MARK: Turns

  /// Returns the priorities of waiting jobs, highest first, with the turn of each.
  func turns(of queue: String, where condition: String) throws -> [(level: Int, turn: KeyTurn)] {
    try run(
      """
      WITH RECURSIVE level AS (
        SELECT max(priority) AS priority FROM headway.job WHERE \(condition) AND queue = $1
        UNION ALL SELECT (SELECT max(priority) FROM headway.job WHERE \(condition) AND queue = $1
        AND priority < level.priority) FROM level WHERE level.priority IS NOT NULL)
      SELECT level.priority, key, coalesce(plain_next, false), heavy, further
      FROM level LEFT JOIN headway.turn t ON t.queue = $1 AND t.priority = level.priority
      WHERE level.priority IS NOT NULL ORDER BY level.priority DESC
      """, queue
    ).rows.map { row in
      let turn = KeyTurn(
        key: row.optional(1, row.text), isPlainNext: row.bool(2),
        heavyJobs: KeyTurn.heavyJobs(stored: row.optional(3, row.text)), lastGroup: row.optional(4, row.text))
      return (row.int(0), turn)
    }
  }

  func keep(_ turn: KeyTurn, of queue: String, level: Int) {
    var statement = statement(
      """
      INSERT INTO headway.turn (queue, priority, key, plain_next, heavy, further) VALUES ($1, $2, $3, $4, $5, $6)
      ON CONFLICT (queue, priority) DO UPDATE SET key = excluded.key, plain_next = excluded.plain_next,
      heavy = excluded.heavy, further = excluded.further
      """)
    statement.add(queue)
    statement.add(level)
    statement.add(turn.key)
    statement.add(turn.isPlainNext)
    statement.add(turn.storedHeavyJobs)
    statement.add(turn.lastGroup)
    runLater(statement)
  }
}
#endif
