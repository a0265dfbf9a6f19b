@_spi(JobStore) extension SQLJobRows {
  // MARK: Queues

  /// Returns the queues that are paused or have settings.
  public func queues() throws -> [String: JobQueueRecord] {
    if let knownQueues { return knownQueues }
    let queues = QueueRow.byName(try rows(Limits.queues, { _ in }) { QueueRow.read($0) })
    knownQueues = queues
    return queues
  }

  /// Writes a queue, or removes it if it is not paused and has no settings.
  public func put(_ queue: JobQueueRecord, named name: String) throws {
    let isEmpty = queue == JobQueueRecord()
    try run(isEmpty ? Limits.deleteQueue : Limits.putQueue) { values in
      if isEmpty { values.add(name) } else { QueueRow.write(queue, name: name, to: &values) }
    }
    knownQueues?[name] = isEmpty ? nil : queue
  }

  // MARK: Counting

  /// Returns the maximum number of jobs of a claim; 0 if the queue is paused.
  ///
  /// If the number of running jobs is limited, lock the limits before.
  public func maxCount(of claim: JobClaim, in queue: JobQueueRecord) throws -> Int {
    guard claim.count > 0, !queue.isPaused else { return 0 }
    guard let limit = queue.settings.maxRunningJobCount else { return claim.count }
    let running = try rows(Limits.runningCount, { $0.add(claim.queue) }) { $0.int(0) }.first ?? 0
    return max(0, min(claim.count, limit - running))
  }

  /// Returns the sum of the weights of running jobs whose first limit has a key.
  public func runningWeight(ofKey key: String) throws -> Int {
    try rows(Limits.runningWeight, { $0.add(key) }) { $0.int(0) }.first ?? 0
  }

  /// Returns the first job of a serial key that has not ended.
  public func firstJob(ofSerialKey key: String) throws -> JobID? {
    try rows(Limits.firstOfSerialKey, { $0.add(key) }) { $0.id(0) }.first
  }

  // MARK: Rates and turns

  /// Returns the bucket of a key; nil if it is full.
  public func bucket(ofKey key: String) throws -> RateBucket? {
    try rows(Limits.bucket, { $0.add(key) }) { RateBucket(fullTime: $0.time(0), nextTime: $0.optional(1, $0.time)) }
      .first
  }

  /// Writes a bucket, and notes whether a job waits for its tokens.
  public func keep(_ bucket: RateBucket, ofKey key: String, isAwaited: Bool) throws {
    try run(Limits.putBucket) { values in
      values.add(key)
      values.add(bucket.fullTime)
      values.add(bucket.nextTime)
    }
    // Workers must try again when there are enough tokens.
    if isAwaited { hints.hasScheduled = true }
  }

  /// Writes which key is next at a priority of a queue.
  public func keep(_ turn: KeyTurn, of queue: String, level: Int) throws {
    try run(Limits.putTurn) { values in
      values.add(queue)
      values.add(level)
      values.add(turn.key)
      values.add(turn.isPlainNext)
      values.add(turn.storedHeavyJobs)
      values.add(turn.lastGroup)
    }
  }

  /// Reads a turn from four columns: `key, plain_next, heavy, further`.
  public static func readTurn(_ row: Row, at column: Int) -> KeyTurn {
    KeyTurn(
      key: row.optional(column, row.text), isPlainNext: row.bool(column + 1),
      heavyJobs: KeyTurn.heavyJobs(stored: row.optional(column + 2, row.text)),
      lastGroup: row.optional(column + 3, row.text))
  }
}
