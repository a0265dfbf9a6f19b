#if PostgreSQL
@_spi(JobStore) import HeadwayJobs

extension JobTransaction {
  // MARK: Endings

  /// Records endings, as if they arrived one after another.
  func end(_ endings: [JobEnding]) throws -> [JobExchangeAnswer.Verdict] {
    guard Set(endings.map(\.fence.id)).count == endings.count else {
      // A job has several endings, whose order matters.
      return try endings.flatMap { try end([$0]) }
    }
    var succeeded = try succeed(endings)
    let others = endings.filter { succeeded[$0.fence.id] == nil }
    let loaded = Dictionary(uniqueKeysWithValues: try findUnfinished(others.map(\.fence.id)).map { ($0.id, $0) })
    return try endings.map { ending in
      if let success = succeeded.removeValue(forKey: ending.fence.id) {
        try note(success, ending.fence.id)
        return .recorded
      }
      return try end(ending, of: loaded[ending.fence.id] ?? find(ending.fence.id))
    }
  }

  /// The columns of a job that has succeeded, for the rest of the transaction.
  private struct Success {
    let flags: Int
    let queue: String
  }

  /// Makes the same changes as `JobTransitions.end` for successes whose attempts run their jobs.
  ///
  /// - Returns: The jobs that have succeeded. The other endings need the general path.
  private func succeed(_ endings: [JobEnding]) throws -> [JobID: Success] {
    var (fences, results) = ([JobFence](), [[UInt8]?]())
    for ending in endings {
      guard case .succeed(let result) = ending.action else { continue }
      fences.append(ending.fence)
      results.append(result?.bytes)
    }
    guard !fences.isEmpty else { return [:] }
    var finish = statement(Self.finish)
    finish.add(array: fences.map(\.id.rawValue))
    finish.add(array: fences.map { Int64($0.attempt) })
    finish.add(array: fences.map { Int64($0.epoch) })
    finish.add(array: fences.map(\.owner.rawValue))
    finish.add(array: results)
    finish.add(now)
    var succeeded: [JobID: Success] = [:]
    for row in try run(finish).rows { succeeded[row.id(0)] = Success(flags: row.int(1), queue: row.text(2)) }
    let steps = succeeded.filter { $1.flags & JobRow.hasCheckpoints != 0 }.keys.sorted()
    if !steps.isEmpty {
      // A separate statement, which sees a signal that was committed while the first one waited for the job's row.
      var deletion = statement("DELETE FROM headway.checkpoint WHERE job = ANY($1)")
      deletion.add(array: steps.map(\.rawValue))
      runLater(deletion)
    }
    return succeeded
  }

  private static let finish = """
    WITH ending AS (
      SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bytea[])
      AS x(job, at_attempt, at_epoch, by_owner, value)),
    locked AS MATERIALIZED (
      SELECT j.id, x.value FROM headway.job j JOIN ending x ON j.id = x.job AND j.attempt = x.at_attempt
      AND j.epoch = x.at_epoch AND j.owner = x.by_owner AND j.\(JobSQL.isRunning) WHERE j.keep IS NOT NULL
      ORDER BY j.id FOR UPDATE OF j),
    gone AS (DELETE FROM headway.job j USING locked l WHERE j.id = l.id RETURNING j.*, l.value),
    kept AS (
      INSERT INTO headway.done (\(JobSQL.list(JobRow.common + JobRow.finished)))
      SELECT \(JobSQL.list(JobRow.common.map { $0 == "state" ? "4" : $0 })), $6,
      $6 + keep * interval '1 microsecond', NULL, NULL, value, NULL FROM gone
      WHERE keep > 0 OR flags & \(JobRow.hasDependents) <> 0),
    edges AS (
      DELETE FROM headway.edge e USING gone g WHERE e.dependent = g.id
      AND NOT (g.keep > 0 OR g.flags & \(JobRow.hasDependents) <> 0))
    SELECT id, flags, queue FROM gone
    """

  private func note(_ success: Success, _ id: JobID) throws {
    if success.flags & JobRow.hasDependents != 0 { ended.append(JobGraph.Standing(id: id, state: .succeeded)) }
    try note(.succeed(result: nil), of: success.queue)
    let settings = try queues()[success.queue]?.settings
    if settings?.maxRunningJobCount != nil { hints.claimableQueues.insert(success.queue) }
    if settings?.maxPendingJobCount != nil { hints.queuesWithRoom.insert(success.queue) }
    hints.finished.append(id)
  }

  // MARK: Writes

  func checkpoints(_ name: String, of ids: [JobID]) throws -> [JobID: JobPayload] {
    guard !ids.isEmpty else { return [:] }
    var select = statement("SELECT job, value FROM headway.checkpoint WHERE job = ANY($1) AND name = $2")
    select.add(array: ids.map(\.rawValue))
    select.add(name)
    var values: [JobID: JobPayload] = [:]
    for row in try run(select).rows { values[row.id(0)] = JobPayload(bytes: row.bytes(1)) }
    return values
  }

  func putCheckpoint(_ name: String, _ value: JobPayload, of id: JobID) throws {
    try session.sendDeferredIfMany()
    runLater(
      """
      INSERT INTO headway.checkpoint (job, name, value) VALUES ($1, $2, $3)
      ON CONFLICT (job, name) DO UPDATE SET value = excluded.value
      """, id.rawValue, name, value.bytes)
    runLater("UPDATE headway.job SET flags = flags | \(JobRow.hasCheckpoints) WHERE id = $1", id.rawValue)
  }

  func setProgress(_ progress: JobProgress, of id: JobID) {
    var update = statement("UPDATE headway.job SET progress = $2, progress_text = $3 WHERE id = $1")
    update.add(id.rawValue)
    update.add(progress.fraction)
    update.add(progress.text?.withoutNull)
    runLater(update)
  }

  /// Returns whether an attempt runs its job, and locks the job if it does.
  func isRun(by fence: JobFence) throws -> Bool {
    var lock = statement("SELECT id FROM headway.job WHERE \(JobSQL.isRun) FOR UPDATE")
    JobRow.add(fence, to: &lock)
    return try !run(lock).isEmpty
  }
}
#endif
