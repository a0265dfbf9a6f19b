/// The rows of a store that keeps its tables in memory.
@_spi(JobStore) public protocol MemoryTableRows: JobRows {
  /// The tables.
  var memory: MemoryJobs { get set }
  /// Writes an error group, which might be new.
  func put(_ group: JobErrorGroup)
  /// Removes an error group.
  func removeErrorGroup(_ id: JobErrorGroup.ID)
}

@_spi(JobStore) extension MemoryTableRows {
  /// Claims jobs for a worker.
  ///
  /// - Parameters:
  ///   - claim: The queue, with the number of jobs to claim.
  ///   - worker: The worker that claims the jobs.
  /// - Returns: The claimed jobs, to be run in this order.
  /// - Throws: An error of the store.
  public func claim(_ claim: JobClaim, by worker: WorkerID) throws -> [JobRecord] {
    try MemoryClaim.run(claim, by: worker, in: self)
  }

  /// Records the endings of attempts and claims jobs for a worker that ``memory`` contains.
  ///
  /// - Parameter exchange: The endings and claims of the worker.
  /// - Returns: The result for each ending, and the claimed jobs.
  /// - Throws: An error of the store.
  public func exchange(_ exchange: JobExchange) throws -> JobExchangeAnswer {
    try self.exchange(exchange, isRegistered: { memory.workers[exchange.worker] != nil }) {
      try exchange.claimed { try claim($0, by: exchange.worker) }
    }
  }

  /// Makes the changes that are due, such as adding the jobs of ticks.
  ///
  /// - Returns: The time of the next change; nil if there is none.
  /// - Throws: An error of the store.
  public func advance() throws -> StoreTime? {
    let limit = JobCommand.maxChangedCount
    let hasMoreTicks = try addDueJobs(limit: limit)
    try continueCascades()
    let (hasMoreLate, hasMoreDue) = (try expireLateJobs(limit: limit), try startDueJobs(limit: limit))
    return hasMoreTicks || hasMoreLate || hasMoreDue ? now : nextTime(after: now)
  }

  /// Returns the next time when ``advance()`` must be called.
  ///
  /// - Parameter now: The time of the store's clock.
  /// - Returns: The time, which is in the past if something is due; nil if nothing will be due.
  public func nextTime(after now: StoreTime) -> StoreTime? {
    memory.graph.cascades.isEmpty ? memory.nextTime(after: now) : now
  }
}
