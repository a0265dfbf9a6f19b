#if Jobs
import GRDB
@_spi(JobStore) import HeadwayJobs

extension JobTransaction {
  // MARK: Endings

  func end(_ endings: [JobEnding]) throws -> [JobExchangeAnswer.Verdict] {
    try endings.map { ending in
      if case .succeed(let result) = ending.action, try succeed(ending.fence, result) { return .recorded }
      return try end(ending, of: find(ending.fence.id))
    }
  }

  /// Makes the same change as `JobTransitions.end` for a success, if the attempt runs the job.
  ///
  /// The statements have no `RETURNING` clauses, because SQLite would create a table for each execution.
  private func succeed(_ fence: JobFence, _ result: JobPayload?) throws -> Bool {
    guard let (flags, keep, queue) = try succeeding(fence) else { return false }
    if keep > 0 || flags & JobRow.hasDependents != 0 {
      let copy = try statement(JobSQL.copySucceeded)
      copy.bind(fence.id.rawValue, at: 1)
      copy.bind(now.microseconds, at: 2)
      copy.bind(result?.bytes, at: 3)
      try copy.run()
    } else {
      try noteDeleted(1)
      try deleteEdges(to: fence.id)
    }
    try delete(fence.id, from: "headway_job", "id")
    if flags & JobRow.hasCheckpoints != 0 { try delete(fence.id, from: "headway_checkpoint", "job") }
    if flags & JobRow.hasDependents != 0 { ended.append(JobGraph.Standing(id: fence.id, state: .succeeded)) }
    try changeQueue(queue) { $0.note(.succeed(result: result)) }
    noteLimits(of: queue)
    hints.finished.append(fence.id)
    return true
  }

  /// Returns the properties of a job that a success requires.
  ///
  /// - Returns: The flags of the job, how long it is kept, and its queue, or an empty string if no queue has settings.
  ///   Nil if the attempt does not run the job, or the ending needs the general path.
  private func succeeding(_ fence: JobFence) throws -> (flags: Int, keep: Int64, queue: String)? {
    let haveSettings = try !queues().isEmpty
    let row = try statement("SELECT flags, keep, queue FROM headway_job WHERE \(JobSQL.isRun) AND keep NOT NULL")
    JobRow.bind(fence, to: row)
    defer { row.reset() }
    guard try row.step() else { return nil }
    return (row.int(0), row.int64(1), haveSettings ? row.text(2) : "")
  }

  // MARK: Writes

  func checkpoints(_ name: String, of ids: [JobID]) throws -> [JobID: JobPayload] {
    var values: [JobID: JobPayload] = [:]
    for id in ids { values[id] = try reader.checkpoint(name, of: id) }
    return values
  }

  func putCheckpoint(_ name: String, _ value: JobPayload, of id: JobID) throws {
    let statement = try statement("INSERT OR REPLACE INTO headway_checkpoint (job, name, value) VALUES (?1, ?2, ?3)")
    statement.bind(id.rawValue, at: 1)
    statement.bind(name, at: 2)
    statement.bind(value.bytes, at: 3)
    try statement.run()
    let flag = try self.statement("UPDATE headway_job SET flags = flags | \(JobRow.hasCheckpoints) WHERE id = ?1")
    flag.bind(id.rawValue, at: 1)
    try flag.run()
  }

  func setProgress(_ progress: JobProgress, of id: JobID) throws {
    let statement = try statement("UPDATE headway_job SET progress = ?2, progress_text = ?3 WHERE id = ?1")
    statement.bind(id.rawValue, at: 1)
    statement.bind(progress.fraction, at: 2)
    statement.bind(progress.text, at: 3)
    try statement.run()
  }

  func isRun(by fence: JobFence) throws -> Bool {
    let statement = try statement("SELECT 1 FROM headway_job WHERE \(JobSQL.isRun)")
    defer { statement.reset() }
    JobRow.bind(fence, to: statement)
    return try statement.step()
  }
}
#endif
