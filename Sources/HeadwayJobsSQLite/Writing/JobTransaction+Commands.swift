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
    for sql in [JobSQL.pruneKeys, JobSQL.pruneBuckets] { try run(sql) { $0.add(now) } }
    return try delete(
      expired.filter { id in
        let isExpired = try !rows(JobSQL.findExpired, for: [id], { $1.add($0.rawValue) }, constants: { $0.add(now) }) {
          _ in
        }.isEmpty
        return try isExpired && !isNeeded(id)
      })
  }

  func delete(_ ids: [JobID]) throws -> Int {
    for sql in [JobSQL.deleteFinished, CheckpointSQL.delete, GraphSQL.deleteEdges] { try run(sql, for: ids) }
    if !ids.isEmpty { try noteDeleted(ids.count) }
    return ids.count
  }

  /// Returns whether unfinished jobs depend on a job, so that they might read its result.
  private func isNeeded(_ id: JobID) throws -> Bool { try !rows(JobSQL.findNeeded, for: [id]) { _ in }.isEmpty }
}
#endif
