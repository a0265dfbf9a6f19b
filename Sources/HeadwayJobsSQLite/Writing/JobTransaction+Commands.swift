#if Jobs
import GRDB
import HeadwayJobs

extension JobTransaction {
  /// Changes jobs or a queue.
  ///
  /// - Parameters:
  ///   - command: The change.
  ///   - expired: The jobs whose retention has expired, if the command prunes the store.
  /// - Throws: `JobError`, or an error of the database.
  /// - Returns: The number of jobs or queues that were changed.
  func perform(_ command: JobCommand, expired: [Int64] = []) throws -> Int {
    switch command {
    case .cancel(let filter):
      return try change(filter) { job in
        let isRunning = job.state == .running
        return (JobTransitions.cancel(&job, at: now), isRunning)
      }
    case .abandon(let filter): return try change(filter) { (JobTransitions.abandon(&$0, at: now), true) }
    case .retry(let filter): return try retry(filter)
    case .delete(let filter):
      return try delete(selected(filter, areFinished: true) { try !isNeeded($0.id) }.map(\.id.rawValue))
    case .prune: return try prune(expired)
    case .setPriority(let filter, let priority):
      return try change(filter) { job in
        guard !job.state.isFinished, job.state != .running, job.priority != priority else { return (false, false) }
        job.priority = priority
        return (true, false)
      }
    case .move(let filter, let queue):
      return try change(filter) { job in
        guard !job.state.isFinished, job.state != .running, job.queue != queue else { return (false, false) }
        job.queue = queue
        return (true, false)
      }
    case .setPaused(let queue, let isPaused): return try changeQueue(queue) { $0.setPaused(isPaused) }
    case .configure(let queue, let setting): return try changeQueue(queue) { $0.set(setting) }
    }
  }

  private func selected(
    _ filter: JobFilter, areFinished: Bool, where isIncluded: (inout JobRecord) throws -> Bool = { _ in true }
  ) throws -> [JobRecord] {
    try JobSelection(filter).jobs(
      areFinished: areFinished, after: nil, limit: JobCommand.maxChangedCount, database, where: isIncluded)
  }

  /// Changes unfinished jobs.
  ///
  /// The function returns whether it has changed the job, and whether the job's worker must be notified.
  private func change(
    _ filter: JobFilter, _ body: (inout JobRecord) -> (isChanged: Bool, concernsWorker: Bool)
  ) throws -> Int {
    let changed = try selected(filter, areFinished: false) { job in
      let (isChanged, concernsWorker) = body(&job)
      if isChanged, concernsWorker { hints.hasCancellation = true }
      return isChanged
    }
    for job in changed { try put(job) }
    return changed.count
  }

  private func retry(_ filter: JobFilter) throws -> Int {
    var retries = JobRetries()
    while retries.beginPass() {
      _ = try selected(filter, areFinished: true) { job in
        guard retries.accepts(job) else { return false }
        let (count, holder) = (retries.jobs.count, try job.settings.unique.flatMap(self.holder))
        retries.consider(job, try requirements(of: [job.id])[job.id] ?? [], holder: holder, at: now)
        // The selection ends when enough are chosen.
        return retries.jobs.count > count
      }
    }
    if retries.jobs.isEmpty, let refusal = retries.refusal { throw refusal }
    try restartAll(retries)
    return retries.jobs.count
  }

  /// Deletes jobs whose retention has expired, and everything else that is no longer needed.
  ///
  /// - Parameter expired: The jobs, which were found outside of the transaction.
  /// - Throws: An error of the database.
  /// - Returns: The number of deleted jobs.
  private func prune(_ expired: [Int64]) throws -> Int {
    for (table, time) in [("headway_key", "until"), ("headway_bucket", "full")] {
      let deletion = try statement(
        """
        DELETE FROM \(table) WHERE key IN (SELECT key FROM \(table) WHERE \(time) <= ?1 ORDER BY \(time)
        LIMIT \(JobCommand.maxPrunedKeyCount))
        """)
      deletion.bind(now.microseconds, at: 1)
      try deletion.run()
    }
    let find = try statement("SELECT 1 FROM headway_done WHERE id = ?1 AND expires <= ?2")
    let ids = try expired.filter { id in
      find.bind(id, at: 1)
      find.bind(now.microseconds, at: 2)
      defer { find.reset() }
      return try find.step() && !isNeeded(JobID(rawValue: id))
    }
    return try delete(ids)
  }

  /// Deletes finished jobs.
  private func delete(_ ids: [Int64]) throws -> Int {
    for sql in [
      "DELETE FROM headway_done WHERE id = ?1", "DELETE FROM headway_checkpoint WHERE job = ?1",
      "DELETE FROM headway_edge WHERE dependent = ?1",
    ] {
      let deletion = try statement(sql)
      for id in ids {
        deletion.bind(id, at: 1)
        try deletion.run()
      }
    }
    if !ids.isEmpty { try noteDeleted(ids.count) }
    return ids.count
  }
}
#endif
