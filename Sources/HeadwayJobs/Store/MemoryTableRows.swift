/// The rows of a store that keeps its tables in memory.
@_spi(JobStore) public protocol MemoryTableRows: JobRows {
  /// The tables.
  var memory: MemoryJobs { get set }
}

@_spi(JobStore) extension MemoryTableRows {
  /// Claims jobs for a worker.
  ///
  /// - Parameters:
  ///   - claim: The claim.
  ///   - worker: The worker.
  /// - Returns: The claimed jobs, in the order in which to run them.
  /// - Throws: An error of the store.
  public func claim(_ claim: JobClaim, by worker: WorkerID) throws -> [JobRecord] {
    try MemoryClaim.run(claim, by: worker, in: self)
  }

  /// Returns the values of one name that jobs have stored.
  ///
  /// - Parameters:
  ///   - name: The name of the checkpoints.
  ///   - ids: The jobs.
  /// - Returns: The values of the jobs that have one.
  public func checkpoints(_ name: String, of ids: [JobID]) -> [JobID: JobPayload] {
    Dictionary(
      ids.compactMap { id in memory.checkpoints[id]?[name].map { (id, $0) } }, uniquingKeysWith: { first, _ in first })
  }
}
