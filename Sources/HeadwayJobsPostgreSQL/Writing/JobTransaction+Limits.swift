#if PostgreSQL
import HeadwayJobs

extension JobTransaction {
  // MARK: Queues

  /// The queues that are paused or have settings.
  func queues() throws -> [String: JobQueueRecord] {
    if let knownQueues { return knownQueues }
    let queues = QueueRow.readAll(try run(QueueRow.select))
    knownQueues = queues
    return queues
  }

  /// Changes the record of a queue.
  ///
  /// - Returns: The number of changes.
  @discardableResult
  func changeQueue(_ name: String, _ body: (inout JobQueueRecord) -> Void) throws -> Int {
    // Read again, because others could have changed it before its row was locked.
    let found = QueueRow.readAll(try run(QueueRow.select + " WHERE name = $1 FOR UPDATE", name))
    let old = found[name] ?? JobQueueRecord()
    var queue = old
    body(&queue)
    guard queue != old else { return 0 }
    runLater(QueueRow.write(queue, name: name, self))
    knownQueues?[name] = queue == JobQueueRecord() ? nil : queue
    if queue.mayClaimMore(than: old) { hints.claimableQueues.insert(name) }
    if queue.settings.pendingLimit != old.settings.pendingLimit { hints.queuesWithRoom.insert(name) }
    return 1
  }

  /// Notes how an attempt has ended, in the record of its queue.
  func note(_ action: JobEnding.Action, of queue: String) throws {
    guard let known = try queues()[queue], known.settings.failureLimit != nil else { return }
    if case .succeed = action, known.failureCount == 0 { return }
    if !hasLockedFailureCounts {
      // In a fixed order, so that exchanges don't deadlock.
      hasLockedFailureCounts = true
      runLater("SELECT name FROM headway.queue WHERE failure_limit IS NOT NULL ORDER BY name FOR UPDATE")
    }
    try changeQueue(queue) { $0.note(action) }
  }

  /// Notes the queues in which a changed job might allow other jobs to be claimed or added.
  func noteLimits(of job: JobRecord) throws {
    let settings = try queues()[job.queue]?.settings
    if job.state != .running, job.settings.limit != nil || settings?.limit != nil {
      hints.claimableQueues.insert(job.queue)
    }
    if !job.state.isPending, settings?.pendingLimit != nil { hints.queuesWithRoom.insert(job.queue) }
  }

  /// Moves a job that waits again to the end of its queue, unless it keeps its place.
  func place(_ job: inout JobRecord) throws {
    if !job.keepsPlace { (job.position, job.ready) = (try nextPosition(), now) }
  }

  // MARK: Full queues

  /// Adds all jobs, or none if a queue is full.
  ///
  /// - Parameters:
  ///   - batch: The jobs.
  ///   - parent: The running job whose dependents must also wait for the new ones; nil if there is none.
  /// - Throws: `JobError`, or `PostgresError`.
  /// - Returns: The number of each job.
  func enqueue(_ batch: [NewJob], beforeDependentsOf parent: JobID? = nil) throws -> [Enqueued] {
    let limits = try queues().compactMapValues(\.settings.pendingLimit)
    let queues = limits.isEmpty ? [] : Set(batch.map(\.queue))
    let full = try limits.filter { queue, limit in try queues.contains(queue) && isFull(queue, limit) }
    guard try session.mayInsertJobs(schema) else { return try call(batch, full) }
    for new in batch {
      guard let limit = full[new.queue] else { continue }
      if try new.settings.unique.flatMap({ try holder(of: $0) }) == nil {
        throw JobError(full: new.queue, limit: limit)
      }
    }
    return try addAll(batch, beforeDependentsOf: parent)
  }

  /// Returns whether a queue has reached its pending limit, and counts only up to that limit.
  private func isFull(_ queue: String, _ limit: Int) throws -> Bool {
    try run("SELECT headway.pending_count($1, $2) >= $2", queue, limit).first?.bool(0) ?? false
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
