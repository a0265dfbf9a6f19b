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
      prepare: prepare, where: isIncluded)
  }

  /// Adds the parameters of the condition that a command can change a job to a statement.
  ///
  /// - Returns: The condition.
  private static func addCondition(of command: JobCommand, to statement: inout Statement) -> String {
    switch command {
    case .cancel: return "(state <> 3 OR flags & \(JobRow.cancelRequested) = 0)"
    case .abandon: return "state = 3"
    case .retry: return "state > 4"
    case .delete: return "NOT \(JobSQL.isNeeded("done.id"))"
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
    for sql in [JobSQL.pruneKeys, JobSQL.pruneBuckets] { try run(sql) { $0.add(now) } }
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
