import Dispatch
import Synchronization

extension WorkerPool {
  /// What a worker's thread does until it ends.
  func run(_ worker: Worker) {
    while true {
      if let work = nextWork(for: worker) {
        worker.beginsNext()
        work.runOnWorker(atMost: .max)
        if worker.isWornOut { return retire(worker) }
      } else if !sleep(worker) {
        return
      }
    }
  }

  /// The oldest work; or nil, and then the worker is among the sleeping.
  private func nextWork(for worker: Worker) -> (any PoolWork)? {
    var next: (any PoolWork)?
    changeAndSend { state in
      switch worker.status {
      case .coming: state.coming -= 1
      case .foundBlocked: state.blocked -= 1
      case .working, .asleep, .blocked: break
      }
      worker.status = .working
      worker.leavesSoon.store(false, ordering: .relaxed)
      worker.visit = nil
      next = state.takeWork()
      if let next {
        state.taken &+= 1
        worker.visit = ObjectIdentifier(next)
      } else {
        worker.status = .asleep
        state.sleeping.append(worker)
      }
    }
    return next
  }

  /// Sleeps until woken; false when the time was up and the thread is to end.
  private func sleep(_ worker: Worker) -> Bool {
    if worker.wake.wait(timeout: .now() + Self.idleTime) == .success { return true }
    let isLeaving = state.withLock { state in
      guard let position = state.sleeping.firstIndex(where: { $0 === worker }) else { return false }
      state.sleeping.remove(at: position)
      state.remove(worker)
      return true
    }
    // Chosen to be woken in that very moment: the signal is on its way.
    if !isLeaving { worker.wake.wait() }
    return !isLeaving
  }

  /// A worker ends although there may be work; another comes in its place.
  private func retire(_ worker: Worker) {
    changeAndSend { state in
      if worker.status == .foundBlocked { state.blocked -= 1 }
      state.remove(worker)
    }
  }
}

extension WorkerPool.State {
  /// Work for a worker that is at work now.
  fileprivate mutating func takeWork() -> (any PoolWork)? {
    if atWork <= width { return work.popFirst() }
    // When more are at work than may be, because blocked ones have come back, this one goes.
    guard helpsOut, atWork == width + 1 else { return nil }
    helpsOut = false
    let visited = Set(workers.lazy.compactMap(\.visit))
    return work.popFirst { !visited.contains(ObjectIdentifier($0)) }
  }

  /// Forgets a worker whose thread ends.
  mutating func remove(_ worker: Worker) {
    guard let position = workers.firstIndex(where: { $0 === worker }) else { return }
    workers.swapAt(position, workers.count - 1)
    workers.removeLast()
    hasToldLimit = false
    ThreadLimit.giveThread()
  }
}
