#if Jobs
import GRDB
@_spi(JobStore) import HeadwayJobs

extension JobTransaction {
  func prune() throws -> Int {
    try pruneKeys()
    try run(JobSQL.pruneTurns) { _ in }
    try pruneErrors()
    return try delete(
      expired.filter { id in
        let isExpired = try !rows(JobSQL.findExpired, for: [id], { $1.add($0.rawValue) }, constants: { $0.add(now) }) {
          _ in
        }.isEmpty
        return try isExpired && !isNeeded(id)
      })
  }

  func delete(_ ids: [JobID]) throws -> Int {
    try deleteFinishedRows(of: ids)
    if !ids.isEmpty { try noteDeleted(ids.count) }
    return ids.count
  }

  /// Returns whether unfinished jobs depend on a job, so that they might read its result.
  private func isNeeded(_ id: JobID) throws -> Bool { try !rows(JobSQL.findNeeded, for: [id]) { _ in }.isEmpty }
}
#endif
