#if PostgreSQL
import Headway
@_spi(JobStore) import HeadwayJobs

extension JobTransaction {
  func select(
    for command: JobCommand, prepare: ([JobRecord]) throws -> Void, where isIncluded: (inout JobRecord) throws -> Bool
  ) throws -> [JobRecord] {
    guard let filter = command.filter else { return [] }
    return try JobSelection(filter).jobs(
      areFinished: command.changesFinished, after: nil, limit: JobCommand.maxChangedCount, locks: true,
      { try run($0.translated(for: schema)) }, condition: { Self.addCondition(of: command, to: &$0) },
      prepare: { jobs in
        try prepare(jobs)
        // Last, because this function can wait for locks, and other transactions take keys in the meantime.
        if case .retry = command { try findHolders(of: jobs.compactMap(\.settings.unique)) }
      }, where: isIncluded)
  }

  /// Adds the parameters of the condition that a command can change a job to a statement.
  ///
  /// - Returns: The condition.
  private static func addCondition(of command: JobCommand, to statement: inout Statement) -> String {
    switch command {
    case .cancel: return "(state <> 3 OR flags & \(JobRow.cancelRequested) = 0)"
    case .abandon: return "state = 3"
    case .retry: return "state > 4"
    case .delete: return "NOT \(JobRow.isNeeded("done.id"))"
    case .change(_, .priority(let priority)):
      statement.add(priority.rawValue)
      return "(state < 3 AND priority <> $\(statement.parameters.count))"
    case .change(_, .queue(let queue)):
      statement.add(queue)
      return "(state < 3 AND queue <> $\(statement.parameters.count))"
    case .change: return "state < 3"
    case .signal, .setPaused, .configure, .prune: return "true"
    }
  }

  func willRestart(_ jobs: [JobRecord]) { finishedJobs.formUnion(jobs.map(\.id)) }

  func prune() throws -> Int {
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
    // The turns of queues without waiting jobs that have keys.
    runLater(
      """
      DELETE FROM headway.turn WHERE (queue, priority) IN (SELECT queue, priority FROM headway.turn t
      WHERE NOT EXISTS (SELECT FROM headway.job WHERE \(ClaimableJobs.keyed) AND queue = t.queue)
      ORDER BY queue, priority LIMIT \(JobCommand.maxPrunedKeyCount) FOR UPDATE SKIP LOCKED)
      """)
    sweepCheckpoints()
    var lock = statement("SELECT id FROM headway.done WHERE id = ANY($1) AND expires <= $2 FOR UPDATE SKIP LOCKED")
    lock.add(array: expired.map(\.rawValue))
    lock.add(now)
    return try delete(run(lock).rows.map { $0.id(0) })
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
  func delete(_ locked: [JobID]) throws -> Int {
    guard !locked.isEmpty else { return 0 }
    // Checked again, because a job could have been added before its dependency was locked.
    var unneeded = statement(
      "SELECT id FROM unnest($1::bigint[]) AS x(id) WHERE NOT \(JobRow.isNeeded("x.id")) ORDER BY id")
    unneeded.add(array: locked.map(\.rawValue))
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
