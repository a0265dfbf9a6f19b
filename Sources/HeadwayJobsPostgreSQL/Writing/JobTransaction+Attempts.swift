#if PostgreSQL
@_spi(JobStore) import HeadwayJobs

extension JobTransaction {
  /// Makes the same changes as `JobTransitions.end`, but only for successful attempts that are still running their
  /// jobs.
  func succeed(_ endings: [JobEnding]) throws -> [JobID: JobSuccess] {
    let successes = endings.compactMap { ending in
      if case .succeed(let result) = ending.action { (fence: ending.fence, result: result) } else { nil }
    }
    let succeeded = try rows(
      JobSQL.succeed, for: successes,
      { success, values in
        JobRow.write(success.fence, to: &values)
        values.add(success.result?.bytes)
      }, constants: { $0.add(now) }
    ) { row in
      let flags = row.int(1)
      let success = JobSuccess(
        queue: row.text(2), kind: row.kind(3), claimedTime: row.optional(4, row.time),
        hasDependents: flags & JobRow.hasDependents != 0)
      return (id: row.id(0), success: success, hasCheckpoints: flags & JobRow.hasCheckpoints != 0)
    }
    // A separate statement, which sees a signal that was committed while the first one waited for the job's row.
    try deleteCheckpoints(of: succeeded.filter(\.hasCheckpoints).map(\.id).sorted())
    return Dictionary(uniqueKeysWithValues: succeeded.map { ($0.id, $0.success) })
  }

  /// Notes failed attempts, which ``writeErrors()`` writes.
  func countErrors(_ failures: [JobErrorGroup]) { for failure in failures { errors.add(failure) } }

  /// Writes the failed attempts of the transaction; call it before the commit.
  ///
  /// The rows of error groups are the last that a transaction locks, and it locks them in ascending order of ID.
  /// Therefore, exchanges don't deadlock, and they hold the locks only while they commit.
  func writeErrors() throws {
    guard !errors.isEmpty else { return }
    let failures = errors.values.sorted { $0.id < $1.id }
    errors = [:]
    try writeErrors(failures, at: 1 + Int(session.backend.process % Int64(ErrorSQL.placeCount)))
  }
}
#endif
