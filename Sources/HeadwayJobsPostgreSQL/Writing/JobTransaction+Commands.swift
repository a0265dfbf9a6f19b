#if PostgreSQL
@_spi(JobStore) import HeadwayJobs

extension JobTransaction {
  func willRestart(_ jobs: [JobRecord]) { finishedJobs.formUnion(jobs.map(\.id)) }

  func prune() throws -> Int {
    try pruneKeys()
    runLater(JobSQL.pruneTurns)
    runLater(EnqueueSQL.pruneReceipts)
    runLater(CheckpointSQL.sweep)
    try pruneErrors()
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
    try deleteFinishedRows(of: ids)
    return ids.count
  }
}
#endif
