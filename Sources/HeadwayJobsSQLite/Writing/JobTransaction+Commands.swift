#if Jobs
import GRDB
@_spi(JobStore) import HeadwayJobs

extension JobTransaction {
  func select(
    for command: JobCommand, prepare: ([JobRecord]) throws -> Void, where isIncluded: (inout JobRecord) throws -> Bool
  ) throws -> [JobRecord] {
    guard let filter = command.filter else { return [] }
    let states = command.changedStates
    return try JobSelection(filter).jobs(
      areFinished: command.changesFinished, after: nil, limit: JobCommand.maxChangedCount, database
    ) { job in
      guard states.contains(job.state) else { return false }
      if case .delete = command, try isNeeded(job.id) { return false }
      try prepare([job])
      return try isIncluded(&job)
    }
  }

  func prune() throws -> Int {
    for (table, time) in [("headway_key", "until"), ("headway_bucket", "full")] {
      let deletion = try statement(
        """
        DELETE FROM \(table) WHERE key IN (SELECT key FROM \(table) WHERE \(time) <= ?1 ORDER BY \(time)
        LIMIT \(JobCommand.maxPrunedKeyCount))
        """)
      deletion.bind(now.microseconds, at: 1)
      try deletion.run()
    }
    // The turns of queues without waiting jobs that have keys.
    try statement(
      """
      DELETE FROM headway_turn WHERE (queue, priority) IN (SELECT queue, priority FROM headway_turn t
      WHERE NOT EXISTS (
        SELECT 1 FROM headway_job WHERE state = 2 AND crashes = 0 AND limit_key NOT NULL AND queue = t.queue)
      LIMIT \(JobCommand.maxPrunedKeyCount))
      """
    ).run()
    let find = try statement("SELECT 1 FROM headway_done WHERE id = ?1 AND expires <= ?2")
    return try delete(
      expired.filter { id in
        find.bind(id.rawValue, at: 1)
        find.bind(now.microseconds, at: 2)
        defer { find.reset() }
        return try find.step() && !isNeeded(id)
      })
  }

  func delete(_ ids: [JobID]) throws -> Int {
    for sql in [
      "DELETE FROM headway_done WHERE id = ?1", "DELETE FROM headway_checkpoint WHERE job = ?1",
      "DELETE FROM headway_edge WHERE dependent = ?1",
    ] {
      let deletion = try statement(sql)
      for id in ids {
        deletion.bind(id.rawValue, at: 1)
        try deletion.run()
      }
    }
    if !ids.isEmpty { try noteDeleted(ids.count) }
    return ids.count
  }

  /// Returns whether unfinished jobs depend on a job, so that they might read its result.
  private func isNeeded(_ id: JobID) throws -> Bool {
    let statement = try statement("SELECT \(JobRow.isNeeded("?1"))")
    defer { statement.reset() }
    statement.bind(id.rawValue, at: 1)
    return try statement.step() && statement.int(0) != 0
  }
}
#endif
