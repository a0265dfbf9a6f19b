#if PostgreSQL
@_spi(JobStore) public import HeadwayJobs

@_spi(JobStore) extension PostgresJobStore {
  /// Adds a worker, with a lease that this store renews.
  ///
  /// - Parameter description: A description of the worker.
  /// - Returns: The identity of the worker.
  /// - Throws: `JobError`.
  public func register(_ description: WorkerDescription) async throws -> WorkerID {
    let info = description.stored
    let (leases, length) = (leases, Int64(leases.length / .microseconds(1)))
    let (worker, sent) = try await change(on: connections.control) { transaction in
      let sent = ContinuousClock.now
      let row = try transaction.run(WorkerSQL.insert, transaction.now, length, info).first
      guard let row else { throw JobTransaction.Conflict() }
      return (WorkerID(rawValue: row.int64(0)), sent)
    }
    leases.add(worker, sent: sent)
    connections.leasing.wake()
    return worker
  }

  /// Confirms that a worker is alive.
  ///
  /// If the lease of the worker could not be renewed in time, its jobs might already run elsewhere. In that case, the
  /// answer does not require the server.
  ///
  /// - Parameters:
  ///   - worker: The worker that is alive.
  ///   - attempts: The attempts that it runs.
  /// - Returns: The cancelled and lost attempts, and whether the worker is still registered.
  /// - Throws: `JobError`.
  public func beat(_ worker: WorkerID, running attempts: [JobFence]) async throws -> WorkerBeat {
    if leases.isLost(worker) { return WorkerBeat(isRegistered: false) }
    do {
      return try await ask(Self.beatStatements(worker, attempts)) { Self.beat(attempts, $0[0], $0[1]) }
    } catch {
      if leases.isLost(worker) { return WorkerBeat(isRegistered: false) }
      throw error
    }
  }

  /// Removes a worker that has stopped.
  ///
  /// Jobs that it has not ended return to their queues, and their attempts are not counted.
  ///
  /// - Parameters:
  ///   - worker: The worker that has stopped.
  ///   - isRunningCode: Whether code of jobs still runs in the process. The jobs then return to their queues after the
  ///     process has ended.
  /// - Throws: `JobError`.
  public func unregister(_ worker: WorkerID, isRunningCode: Bool) async throws {
    if isRunningCode || leases.isLost(worker) {
      // Code of a worker that has lost its lease could still run. When the lease has expired, its jobs return, too, and
      // that does not count as a crash, because the process is alive.
      try await change(on: connections.control) { transaction in
        transaction.runLater(WorkerSQL.stop, worker.rawValue)
      }
      if isRunningCode { return }
    } else {
      let limit = JobCommand.maxChangedCount
      while try await change(
        on: connections.control, hold: .alone,
        { try $0.remove(worker, limit: limit).count == limit })
      {}
    }
    leases.remove(worker)
  }

  /// Returns the jobs of dead workers to their queues and counts a crash for each.
  ///
  /// - Returns: The jobs that were returned, or have failed or were cancelled instead.
  /// - Throws: `JobError`.
  public func rescue() async throws -> [JobID] {
    let dead = Statement(WorkerSQL.hasDead, isFrequent: true)
    guard try await ask([dead], { $0[0].first?.bool(0) ?? false }) else { return [] }
    let limit = JobCommand.maxChangedCount
    var rescued: [JobID] = []
    while true {
      do {
        let ids = try await change(on: connections.control, hold: .alone) { try $0.rescue(limit: limit) }
        rescued += ids
        if ids.count < limit { return rescued }
      } catch {
        // The next call continues.
        if rescued.isEmpty { throw error }
        return rescued
      }
    }
  }
}

extension PostgresJobStore {
  /// Marks a worker as dead, as if its process had been killed a while ago.
  ///
  /// - Parameter worker: The worker to mark.
  /// - Throws: `JobError`.
  package func kill(_ worker: WorkerID) async throws {
    leases.remove(worker)
    try await change(on: connections.control) { transaction in
      transaction.runLater(WorkerSQL.expire, worker.rawValue)
    }
  }
}

extension PostgresJobStore {
  private static func beatStatements(_ worker: WorkerID, _ attempts: [JobFence]) -> [Statement] {
    let alive = Statement(WorkerSQL.isAlive, isFrequent: true, worker.rawValue)
    var running = Statement(WorkerSQL.beat, isFrequent: true)
    running.add(array: attempts.map(\.id.rawValue))
    running.add(array: attempts.map { Int64($0.attempt) })
    running.add(array: attempts.map { Int64($0.epoch) })
    running.add(array: attempts.map(\.owner.rawValue))
    return [alive, running]
  }

  private static func beat(_ attempts: [JobFence], _ alive: QueryResult, _ running: QueryResult) -> WorkerBeat {
    var beat = WorkerBeat(isRegistered: !alive.isEmpty, lost: Set(attempts))
    for row in running.rows {
      let fence = attempts[row.int(0) - 1]
      beat.lost.remove(fence)
      if row.bool(1) { beat.cancellations.insert(fence) }
    }
    return beat
  }
}
#endif
