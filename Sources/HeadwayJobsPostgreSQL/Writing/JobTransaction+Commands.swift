#if PostgreSQL
import Headway
@_spi(JobStore) import HeadwayJobs

extension JobTransaction {
  func select(
    for command: JobCommand, prepare: ([JobRecord]) throws -> Void, where isIncluded: (inout JobRecord) throws -> Bool
  ) throws -> [JobRecord] {
    guard let filter = command.filter else { return [] }
    return try JobSelection(filter, reader).jobs(
      for: command, limit: JobCommand.maxChangedCount, prepare: prepare, where: isIncluded)
  }

  func willRestart(_ jobs: [JobRecord]) { finishedJobs.formUnion(jobs.map(\.id)) }

  func prune() throws -> Int {
    for sql in [JobSQL.pruneKeys, JobSQL.pruneBuckets] { try run(sql) { $0.add(now) } }
    runLater(JobSQL.pruneTurns)
    runLater(EnqueueSQL.pruneReceipts)
    runLater(CheckpointSQL.sweep)
    let locked = try rows(JobSQL.lockExpired, for: expired, { $1.add($0.rawValue) }, constants: { $0.add(now) }) {
      row in
      row.id(0)
    }
    return try delete(locked)
  }

  /// Deletes finished jobs, whose rows are locked, unless they are needed.
  func delete(_ locked: [JobID]) throws -> Int {
    // Checked again, because a job could have been added before its dependency was locked.
    let ids = try rows(JobSQL.unneeded, for: locked) { $0.id(0) }
    for sql in [JobSQL.deleteFinished, CheckpointSQL.delete, GraphSQL.deleteEdges] { try run(sql, for: ids) }
    return ids.count
  }
}
#endif
