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
}
