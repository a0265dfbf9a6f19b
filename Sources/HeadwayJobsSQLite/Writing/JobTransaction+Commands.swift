#if Jobs
import GRDB
@_spi(JobStore) import HeadwayJobs

extension JobTransaction {
  func select(
    for command: JobCommand, prepare: ([JobRecord]) throws -> Void, where isIncluded: (inout JobRecord) throws -> Bool
  ) throws -> [JobRecord] {
    guard let filter = command.filter else { return [] }
    return try JobSelection(filter, reader).jobs(
      for: command, limit: JobCommand.maxChangedCount, prepare: prepare, where: isIncluded)
  }

  func prune() throws -> Int {
    for sql in [JobSQL.pruneKeys, JobSQL.pruneBuckets] { try run(sql) { $0.add(now) } }
    try run(JobSQL.pruneTurns) { _ in }
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
