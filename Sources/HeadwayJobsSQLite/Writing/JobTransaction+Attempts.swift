#if Jobs
import GRDB
@_spi(JobStore) import HeadwayJobs

extension JobTransaction {
  /// Makes the same changes as `JobTransitions.end`, but only for successful attempts that are still running their
  /// jobs.
  func succeed(_ endings: [JobEnding]) throws -> [JobID: JobSuccess] {
    var successes: [JobID: JobSuccess] = [:]
    for ending in endings {
      guard case .succeed(let result) = ending.action else { continue }
      successes[ending.fence.id] = try succeed(ending.fence, result)
    }
    return successes
  }

  func countErrors(_ failures: [JobErrorGroup]) throws { try writeErrors(failures, at: 0) }

  /// Records a success.
  ///
  /// Returns nil if the attempt no longer runs its job, or if the general code must record the ending.
  private func succeed(_ fence: JobFence, _ result: JobPayload?) throws -> JobSuccess? {
    guard let (flags, keep, queue, kind, claimed) = try succeeding(fence) else { return nil }
    let (id, hasDependents) = (fence.id, flags & JobRow.hasDependents != 0)
    if keep > 0 || hasDependents {
      let copy = try statement(JobSQL.copySucceeded)
      copy.bind(id.rawValue, at: 1)
      copy.bind(now.microseconds, at: 2)
      copy.bind(result?.bytes, at: 3)
      try copy.run()
    } else {
      try noteDeleted(1)
      try run(GraphSQL.deleteEdges, for: [id])
    }
    try run(JobSQL.deleteUnfinished, for: [id])
    if flags & JobRow.hasCheckpoints != 0 { try deleteCheckpoints(of: [id]) }
    return JobSuccess(queue: queue, kind: kind, claimedTime: claimed, hasDependents: hasDependents)
  }

  /// Returns the properties of a job that a success requires.
  ///
  /// - Returns: The flags of the job, how long it is kept, its queue and kind, and when the attempt began.
  private func succeeding(
    _ fence: JobFence
  ) throws -> (flags: Int, keep: Int64, queue: String, kind: JobKind, claimed: StoreTime?)? {
    let row = try statement(JobSQL.findSucceeding)
    JobRow.bind(fence, to: row)
    defer { row.reset() }
    guard try row.step() else { return nil }
    return (row.int(0), row.int64(1), row.text(2), row.kind(3), row.optional(4, row.time))
  }
}
#endif
