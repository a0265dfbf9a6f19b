import Dispatch
import Synchronization

extension WorkerPool {
  /// A worker that comes for a queue runs this many operations at most before it looks whether others wait for it.
  private static let operationsInOneRun = 64

  /// What a worker's thread does until it ends.
  func run(_ worker: Worker) {
    while true {
      if let work = nextWork(for: worker) {
        work.runOnWorker(atMost: Self.operationsInOneRun)
        if worker.isWornOut { return retire() }
      } else if !sleep(worker) {
        return
      }
    }
  }

  /// The oldest work; or nil, and then the worker is among the sleeping.
  private func nextWork(for worker: Worker) -> (any PoolWork)? {
    var next: (any PoolWork)?
    changeAndSend { state in
      if worker.isComing {
        worker.isComing = false
        state.coming -= 1
      }
      // When more are at work than may be, because blocked ones have come back, this one goes.
      if state.atWork <= state.width { next = state.work.popFirst() }
      if next != nil {
        state.taken &+= 1
      } else {
        worker.isComing = true  // When it next looks, it will have been sent.
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
      state.workers -= 1
      return true
    }
    // Chosen to be woken in that very moment: the signal is on its way.
    if !isLeaving { worker.wake.wait() }
    return !isLeaving
  }

  /// A worker ends although there may be work; another comes in its place.
  private func retire() { changeAndSend { $0.workers -= 1 } }
}
