import Synchronization

extension WorkerPool {
  /// The maximum number of workers that count as blocked before any of them has been blocked for ``trial``.
  ///
  /// Workers that take their places might soon have to share the processors with them.
  private static let mostOnTrial = 2
  /// After this time, in nanoseconds, a worker is likely to be blocked for a long time.
  private static let trial: UInt64 = 8_000_000
  /// For this time, in nanoseconds, after workers that were found blocked have computed again, there is no burst.
  private static let caution: UInt64 = 100_000_000
  /// The maximum of `burst`: how many more workers than processors are admitted instead of blocked ones.
  private static let greatestBurst = 8 * ProcessorCount.usable

  /// Applies the result of a check by the pool manager.
  ///
  /// - Returns: Whether anything changed.
  func take(_ sample: PoolSample) -> Bool {
    var isChanged = sample.helpsOut
    changeAndSend { state in
      for (worker, sleepCount) in sample.computing where worker.sleepCount == sleepCount {
        worker.blockedSince = 0
        guard worker.status == .foundBlocked else { continue }
        worker.status = .working
        BlockingReports.noteContinued(worker)
        state.blocked -= 1
        state.noBurstBefore = sample.now + Self.caution
        isChanged = true
        if state.atWork > state.width { worker.leavesSoon.store(true, ordering: .relaxed) }
      }
      if noteBlocked(sample, &state) { isChanged = true }
      if sample.helpsOut, state.hasUnvisitedWork { state.helpsOut = true }
    }
    return isChanged
  }

  private func noteBlocked(_ sample: PoolSample, _ state: inout State) -> Bool {
    let now = sample.now
    func isLong(_ worker: Worker) -> Bool { now - worker.blockedSince >= Self.trial }
    var (onTrial, hasLong) = (0, false)
    for worker in state.workers where worker.status == .foundBlocked {
      if isLong(worker) { hasLong = true } else { onTrial += 1 }
    }
    var new: [Worker] = []
    for (worker, sleepCount) in sample.blocked {
      // The worker might have continued during the check.
      guard worker.status == .working, worker.sleepCount == sleepCount else { continue }
      if worker.blockedSince == 0 { worker.blockedSince = now }
      if isLong(worker) { hasLong = true }
      new.append(worker)
    }
    // Operations block for a long time, and none has computed afterwards, so the next ones will probably also block.
    let isBurst = hasLong && !sample.isSomeBusy && sample.computing.isEmpty && now >= state.noBurstBefore
    var isChanged = false
    for worker in new where isBurst || isLong(worker) || onTrial < Self.mostOnTrial {
      if !isLong(worker) { onTrial += 1 }
      worker.status = .foundBlocked
      BlockingReports.noteBlocked(worker, since: worker.blockedSince)
      worker.leavesSoon.store(true, ordering: .relaxed)
      state.blocked += 1
      isChanged = true
    }
    if sample.isSomeBusy || !sample.computing.isEmpty || now < state.noBurstBefore {
      state.burst = 0
    } else if isBurst, isChanged {
      state.burst = min(max(1, state.burst * 2), Self.greatestBurst)
    }
    return isChanged || !new.isEmpty
  }

  /// Whether the pool manager must check again: nil if not; otherwise, whether work waits.
  ///
  /// Work that arrives later starts the watch again.
  func continuesWatch() -> Bool? {
    state.withLock { state in
      if state.work.isEmpty { (state.burst, state.helpsOut) = (0, false) }
      guard state.work.isEmpty, !state.workers.contains(where: { $0.status == .foundBlocked }) else {
        return !state.work.isEmpty
      }
      state.isWatched = false
      return nil
    }
  }
}

extension WorkerPool.State {
  /// Whether there is waiting work that no worker is working for.
  fileprivate var hasUnvisitedWork: Bool {
    let visited = visited
    return work.works.contains { !visited.contains($0.owner) }
  }

  /// The owners of the work of all workers that are not blocked.
  var visited: Set<ObjectIdentifier> { Set(workers.lazy.filter { $0.status == .working }.compactMap(\.visit)) }
}
