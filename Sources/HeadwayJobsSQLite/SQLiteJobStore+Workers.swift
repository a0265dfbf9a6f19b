#if Jobs
@_spi(JobStore) public import HeadwayJobs

@_spi(JobStore) extension SQLiteJobStore {
  /// Adds a worker.
  ///
  /// - Parameter description: A description of the worker.
  /// - Returns: The identity of the worker.
  /// - Throws: `JobError`.
  public func register(_ description: WorkerDescription) async throws -> WorkerID {
    let info = description.stored
    let (worker, lock) = try await change { [locks] transaction in
      let worker = try transaction.nextWorker()
      // The file is locked before the row is visible to others. Otherwise, they would find the worker dead.
      let lock = try locks.lock(worker)
      try transaction.insert(worker, info)
      locks.deleteLeftovers(except: try transaction.workers())
      return (worker, lock)
    }
    locks.keep(lock, of: worker)
    return worker
  }

  /// Confirms that a worker is alive.
  ///
  /// - Parameters:
  ///   - worker: The worker that is alive.
  ///   - attempts: The attempts that it runs.
  /// - Returns: The cancelled and lost attempts, and whether the worker is still registered.
  /// - Throws: `JobError`.
  public func beat(_ worker: WorkerID, running attempts: [JobFence]) async throws -> WorkerBeat {
    let isHeld = locks.holds(worker)
    if attempts.isEmpty, let workers = changes.answers(at: changes.version()).workers {
      return WorkerBeat(isRegistered: isHeld && workers.contains(worker))
    }
    return try await read { reader in
      let isKnown = try !reader.rows(StoreStatement(WorkerSQL.find, .integer(worker.rawValue))) { _ in }.isEmpty
      var beat = WorkerBeat(isRegistered: isHeld && isKnown)
      for fence in attempts {
        let job = StoreStatement(
          WorkerSQL.beat, .integer(fence.id.rawValue), .integer(Int64(fence.attempt)), .integer(Int64(fence.epoch)),
          .integer(fence.owner.rawValue))
        switch try reader.rows(job, { $0.bool(0) }).first {
        case nil: beat.lost.insert(fence)
        case true: beat.cancellations.insert(fence)
        case false: break
        }
      }
      return beat
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
    guard !isRunningCode else { return try await change { try $0.noteStopped(worker) } }
    let limit = JobCommand.maxChangedCount
    while try await change(
      size: WriterInbox.maxSize, { try $0.remove(worker, isDead: false, limit: limit).count == limit })
    {}
    locks.release(worker)
  }

  /// Returns the jobs of dead workers to their queues and counts a crash for each.
  ///
  /// - Returns: The jobs that were returned, or have failed or were cancelled instead.
  /// - Throws: `JobError`.
  public func rescue() async throws -> [JobID] {
    let workers = try await readWorkers()
    // While this function holds the locks of dead workers, no other process finds these workers. A file that can't be
    // opened, such as another user's file, is skipped.
    let dead = workers.compactMap { worker in (try? locks.lockIfDead(worker)).map { (worker, $0) } }
    guard !dead.isEmpty else { return [] }
    var (jobs, rest) = ([JobID](), dead.map(\.0))
    while !rest.isEmpty {
      let (rescued, count) = try await change(size: WriterInbox.maxSize) { [locks, rest] transaction in
        let answer = try transaction.rescue(rest, limit: JobCommand.maxChangedCount)
        if answer.count == rest.count { locks.deleteLeftovers(except: try transaction.workers()) }
        return answer
      }
      jobs += rescued
      rest.removeFirst(count)
    }
    for (_, lock) in dead { lock.unlinkFile() }
    return jobs
  }

  private func readWorkers() async throws -> [WorkerID] {
    let version = changes.version()
    if let workers = changes.answers(at: version).workers { return workers }
    let workers = try await read { try $0.rows(StoreStatement(WorkerSQL.all)) { $0.worker(0) } }
    changes.note(at: version) { $0.workers = workers }
    return workers
  }
}

extension SQLiteJobStore {
  /// Marks a worker as dead, as if its process had been killed.
  ///
  /// - Parameter worker: A worker of this object.
  package func kill(_ worker: WorkerID) { locks.abandon(worker) }
}
#endif
