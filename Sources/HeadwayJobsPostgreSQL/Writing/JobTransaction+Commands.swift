#if PostgreSQL
import HeadwayJobs

extension JobTransaction {
  /// Changes jobs or a queue.
  ///
  /// - Parameters:
  ///   - command: The change.
  ///   - expired: The jobs whose retention has expired, if the command prunes the store.
  /// - Throws: `PostgresError`, or `JobError`.
  /// - Returns: The number of jobs or queues that were changed.
  func perform(_ command: JobCommand, expired: [JobID] = []) throws -> Int {
    switch command {
    case .cancel(let filter):
      return try change(filter, "state <> 3 OR flags & \(JobRow.cancelRequested) = 0") { job in
        let isRunning = job.state == .running
        return (JobTransitions.cancel(&job, at: now), isRunning)
      }
    case .abandon(let filter):
      return try change(filter, "state = 3") { (JobTransitions.abandon(&$0, at: now), true) }
    case .retry(let filter): return try retry(filter)
    case .delete(let filter):
      return try delete(
        selected(filter, areFinished: true, "NOT \(JobRow.isNeeded("done.id"))").map(\.id.rawValue))
    case .prune: return try prune(expired)
    case .setPriority(let filter, let priority):
      return try change(filter, "state < 3 AND priority <>", priority) { job in
        guard !job.state.isFinished, job.state != .running, job.priority != priority else { return (false, false) }
        job.priority = priority
        return (true, false)
      }
    case .move(let filter, let queue):
      return try change(filter, "state < 3 AND queue <>", queue) { job in
        guard !job.state.isFinished, job.state != .running, job.queue != queue else { return (false, false) }
        job.queue = queue
        return (true, false)
      }
    case .setPaused(let queue, let isPaused): return try changeQueue(queue) { $0.setPaused(isPaused) }
    case .configure(let queue, let setting): return try changeQueue(queue) { $0.set(setting) }
    }
  }

  /// Returns jobs that a command can change, and locks their rows.
  ///
  /// - Parameters:
  ///   - filter: The filter of the command.
  ///   - areFinished: Whether to return finished or unfinished jobs.
  ///   - condition: The condition in SQL that a job can be changed.
  ///   - value: A value that follows the condition; nil for none.
  ///   - isIncluded: An additional condition. The function can change the job.
  ///   - prepare: Called with the jobs that the next calls of `isIncluded` examine.
  /// - Throws: `PostgresError`, or the error of the condition.
  /// - Returns: The jobs.
  private func selected(
    _ filter: JobFilter, areFinished: Bool, _ condition: String, _ value: (any BinaryValue)? = nil,
    where isIncluded: (inout JobRecord) throws -> Bool = { _ in true },
    prepare: ([JobRecord]) throws -> Void = { _ in }
  ) throws -> [JobRecord] {
    try JobSelection(filter).jobs(
      areFinished: areFinished, after: nil, limit: JobCommand.maxChangedCount, locks: true,
      { try run($0.translated(for: schema)) },
      condition: { statement in
        guard let value else { return "(\(condition))" }
        statement.add(any: value)
        return "(\(condition) $\(statement.parameters.count))"
      }, prepare: prepare, where: isIncluded)
  }

  /// Changes unfinished jobs.
  ///
  /// The function returns whether it has changed the job, and whether the job's worker must be notified.
  private func change(
    _ filter: JobFilter, _ condition: String, _ value: (any BinaryValue)? = nil,
    _ body: (inout JobRecord) -> (isChanged: Bool, concernsWorker: Bool)
  ) throws -> Int {
    let changed = try selected(filter, areFinished: false, condition, value) { job in
      let (isChanged, concernsWorker) = body(&job)
      if isChanged, concernsWorker { hints.hasCancellation = true }
      return isChanged
    }
    for job in changed { try put(job) }
    return changed.count
  }

  private func retry(_ filter: JobFilter) throws -> Int {
    var retries = JobRetries()
    var requirements: [JobID: [(edge: JobEdge, state: JobState?)]] = [:]
    while retries.beginPass() {
      _ = try selected(
        filter, areFinished: true, "state > 4",
        where: { job in
          guard retries.accepts(job) else { return false }
          let (count, holder) = (retries.jobs.count, try job.settings.unique.flatMap(self.holder))
          retries.consider(job, requirements[job.id] ?? [], holder: holder, at: now)
          // The selection ends when enough jobs are chosen.
          return retries.jobs.count > count
        },
        prepare: { jobs in
          requirements = try self.requirements(of: jobs.map(\.id))
          try findHolders(of: jobs.compactMap(\.settings.unique))
        })
    }
    if retries.jobs.isEmpty, let refusal = retries.refusal { throw refusal }
    finishedJobs.formUnion(retries.jobs.map(\.id))
    try restartAll(retries)
    return retries.jobs.count
  }

  /// Deletes jobs whose retention has expired, and everything else that is no longer needed.
  ///
  /// - Parameter expired: The jobs, which were found outside of the transaction.
  /// - Throws: `PostgresError`.
  /// - Returns: The number of deleted jobs.
  private func prune(_ expired: [JobID]) throws -> Int {
    for (table, time) in [("key", "until"), ("bucket", "fills")] {
      runLater(
        """
        DELETE FROM headway.\(table) WHERE key IN (SELECT key FROM headway.\(table) WHERE \(time) <= $1
        ORDER BY \(time) LIMIT \(JobCommand.maxPrunedKeyCount) FOR UPDATE SKIP LOCKED)
        """, now)
    }
    runLater(
      """
      DELETE FROM headway.receipt WHERE number IN (SELECT number FROM headway.receipt
      WHERE stored < clock_timestamp() - interval '1 hour' LIMIT \(JobCommand.maxPrunedKeyCount) FOR UPDATE SKIP LOCKED)
      """)
    sweepCheckpoints()
    var lock = statement("SELECT id FROM headway.done WHERE id = ANY($1) AND expires <= $2 FOR UPDATE SKIP LOCKED")
    lock.add(array: expired.map(\.rawValue))
    lock.add(now)
    return try delete(run(lock).rows.map { $0.int64(0) })
  }

  /// Deletes checkpoints of jobs that have succeeded or do not exist, in the next part of the table.
  ///
  /// Earlier versions of Headway left such checkpoints behind.
  private func sweepCheckpoints() {
    runLater(
      """
      WITH part AS (
        SELECT job, name FROM headway.checkpoint
        WHERE job > coalesce((SELECT value FROM headway.meta WHERE name = 'swept'), 0)
        ORDER BY job, name LIMIT \(JobCommand.maxChangedCount)),
      gone AS (
        DELETE FROM headway.checkpoint c USING part p WHERE c.job = p.job AND c.name = p.name
        AND NOT EXISTS (SELECT FROM headway.job WHERE id = c.job)
        AND NOT EXISTS (SELECT FROM headway.done WHERE id = c.job AND state <> 4))
      INSERT INTO headway.meta AS m VALUES ('swept', coalesce((SELECT max(job) FROM part), 0))
      ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE m.value <> excluded.value
      """)
  }

  /// Deletes finished jobs, whose rows are locked, unless they are needed.
  private func delete(_ locked: [Int64]) throws -> Int {
    guard !locked.isEmpty else { return 0 }
    // Checked again, because a job could have been added before its dependency was locked.
    var unneeded = statement(
      "SELECT id FROM unnest($1::bigint[]) AS x(id) WHERE NOT \(JobRow.isNeeded("x.id")) ORDER BY id")
    unneeded.add(array: locked)
    let ids = try run(unneeded).rows.map { $0.int64(0) }
    for sql in [
      "DELETE FROM headway.done WHERE id = ANY($1)", "DELETE FROM headway.checkpoint WHERE job = ANY($1)",
      "DELETE FROM headway.edge WHERE dependent = ANY($1)",
    ] {
      var deletion = statement(sql)
      deletion.add(array: ids)
      runLater(deletion)
    }
    return ids.count
  }
}
#endif
