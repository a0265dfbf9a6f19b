#if PostgreSQL
import Headway
@_spi(JobStore) import HeadwayJobs

extension JobTransaction {
  func select(
    for command: JobCommand, prepare: ([JobRecord]) throws -> Void, where isIncluded: (inout JobRecord) throws -> Bool
  ) throws -> [JobRecord] {
    guard let filter = command.filter else { return [] }
    return try JobSelection(filter, reader).jobs(
      for: command, limit: JobCommand.maxChangedCount,
      prepare: { jobs in
        try prepare(jobs)
        // Last, because this function can wait for locks, and other transactions take keys in the meantime.
        if case .retry = command { try findHolders(of: jobs.compactMap(\.settings.unique)) }
      }, where: isIncluded)
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
      "SELECT id FROM unnest($1::bigint[]) AS x(id) WHERE NOT \(JobSQL.isNeeded("x.id")) ORDER BY id")
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
