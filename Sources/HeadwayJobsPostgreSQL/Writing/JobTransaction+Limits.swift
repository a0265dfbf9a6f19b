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

  /// Returns the number of running jobs of a key.
  func runningCount(ofKey key: String) throws -> Int {
    try run(
      "SELECT count(*) FROM headway.job WHERE state = 3 AND limit_key IS NOT NULL AND limit_key = $1", key
    ).first?.int(0) ?? 0
  }

  /// Returns the first job of a serial key that has not ended.
  func firstJob(ofSerialKey key: String) throws -> JobID? {
    try run(
      "SELECT id FROM headway.job WHERE slots = 0 AND state > 0 AND limit_key = $1 ORDER BY position LIMIT 1", key
    ).first?.id(0)
  }

  // MARK: Rates

  func bucket(_ key: String) throws -> RateBucket {
    guard let row = try run("SELECT fills, next FROM headway.bucket WHERE key = $1", key).first else {
      return RateBucket(full: now)
    }
    return RateBucket(full: row.time(0), next: row.optional(1, row.time))
  }

  func write(_ bucket: RateBucket, _ key: String) {
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

  func turn(of queue: String, level: Int) throws -> KeyTurn {
    let found = try run(
      "SELECT key, plain_next FROM headway.turn WHERE queue = $1 AND priority = $2", queue, level)
    return found.first.map { KeyTurn(key: $0.optional(0, $0.text), isPlainNext: $0.bool(1)) } ?? KeyTurn()
  }

  func keep(_ turn: KeyTurn, of queue: String, level: Int) {
    var statement = statement(
      """
      INSERT INTO headway.turn (queue, priority, key, plain_next) VALUES ($1, $2, $3, $4)
      ON CONFLICT (queue, priority) DO UPDATE SET key = excluded.key, plain_next = excluded.plain_next
      """)
    statement.add(queue)
    statement.add(level)
    statement.add(turn.key)
    statement.add(turn.isPlainNext)
    runLater(statement)
  }
}
#endif
