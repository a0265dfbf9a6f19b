import Dispatch
import Synchronization

extension WorkerPool {
  /// How long a worker sleeps before its thread ends.
  private static let idleTime = DispatchTimeInterval.seconds(5)

  private enum Next {
    case work(any PoolWork)
    case sleep
    case end
  }

  /// What a worker's thread does until it ends.
  func run(_ worker: Worker) {
    while true {
      switch nextWork(for: worker) {
      case .work(let work):
        work.runOnWorker(of: workerClass, atMost: .max)
        if worker.isWornOut { return retire(worker) }
      case .sleep:
        if !sleep(worker) { return }
      case .end:
        return
      }
    }
  }

  /// The oldest work; or else the worker is among the sleeping, or is to end.
  private func nextWork(for worker: Worker) -> Next {
    var next = Next.sleep
    changeAndSend { state in
      switch worker.status {
      case .coming: state.coming -= 1
      case .foundBlocked: state.blocked -= 1
      case .working, .asleep, .blocked: break
      }
      worker.status = .working
      worker.blockedSince = 0
      worker.leavesSoon.store(false, ordering: .relaxed)
      worker.visit = nil
      if ThreadLimit.isWantedByMoreUrgent(than: workerClass, isLast: state.atWork == 1) {
        state.remove(worker)
        next = .end
      } else if let work = state.takeWork() {
        state.taken &+= 1
        worker.visit = work.owner
        next = .work(work)
      } else if worker.hasInheritedNiceness || ThreadLimit.isHungry(~workerClass.bit) {
        state.remove(worker)
        next = .end
      } else {
        worker.status = .asleep
        worker.noteSleep()
        state.sleeping.append(worker)
      }
    }
    return next
  }

  /// Sleeps until woken; false when the time was up, or it was dismissed, and the thread is to end.
  private func sleep(_ worker: Worker) -> Bool {
    if worker.wake.wait(timeout: .now() + Self.idleTime) == .success {
      return !state.withLock { _ in worker.isDismissed }
    }
    let isLeaving = state.withLock { state in
      guard let position = state.sleeping.firstIndex(where: { $0 === worker }) else { return worker.isDismissed }
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

  // MARK: Threads that are missing

  /// The worker's thread could not be made; its work waits, and it is tried again: by the pool manager at each of its
  /// looks, or, if that is missing too, with the next work and by threads that wait.
  func threadWasRefused(_ worker: Worker) {
    let beginsWatch = state.withLock { state in
      state.remove(worker)
      state.coming -= 1
      defer { state.isWatched = true }
      return !state.isWatched
    }
    Self.noteMissingThread()
    if beginsWatch { PoolManager.shared.watch(workerClass) }
  }

  private static let isThreadMissing = Atomic<Bool>(false)

  static func noteMissingThread() { isThreadMissing.store(true, ordering: .relaxed) }

  /// Tries again to make threads, if one could not be made.
  static func retryMissingThreads() {
    guard isThreadMissing.load(ordering: .relaxed), isThreadMissing.exchange(false, ordering: .relaxed) else { return }
    for workerClass in WorkerClass.allCases { pool(of: workerClass).changeAndSend { _ in } }
    PoolManager.shared.runIfNeeded()
  }

  // MARK: The limit

  /// Has a sleeping worker of another class end, so that this one may have its thread; or else, those of less urgent
  /// classes when they have done what they are at.
  ///
  /// This pool is known to be hungry by now, so a worker that falls asleep later ends instead, and a less urgent one
  /// that looks for work later does, too.
  func askForThread() {
    for workerClass in WorkerClass.allCases where workerClass != self.workerClass {
      let dismissed = Self.pool(of: workerClass).state.withLock { state -> Worker? in
        guard let worker = state.sleeping.popLast() else { return nil }
        worker.isDismissed = true
        state.remove(worker)
        return worker
      }
      guard let dismissed else { continue }
      dismissed.wake.signal()
      return Self.serveHungry()
    }
    for workerClass in WorkerClass.allCases where workerClass.moreUrgent & self.workerClass.bit != 0 {
      Self.pool(of: workerClass).state.withLock { state in
        for worker in state.workers { worker.leavesSoon.store(true, ordering: .relaxed) }
      }
    }
  }

  /// There may be room for another thread: the classes that were refused one try again, the most urgent first.
  ///
  /// - Parameter limit: If it is not nil, only the classes that are less urgent than that.
  static func serveHungry(lessUrgentThan limit: WorkerClass? = nil) {
    for workerClass in WorkerClass.allCases
    where ThreadLimit.isHungry(workerClass.bit) && (limit.map { workerClass.moreUrgent & $0.bit != 0 } ?? true) {
      pool(of: workerClass).changeAndSend { _ in }
    }
  }
}

extension WorkerPool.State {
  /// Work for a worker that is at work now.
  fileprivate mutating func takeWork() -> (any PoolWork)? {
    if atWork <= width { return work.popFirst() }
    // When more are at work than may be, because blocked ones have come back, this one goes; unless it helps out.
    guard helpsOut else { return nil }
    helpsOut = false
    let visited = visited
    return work.popFirst { !visited.contains($0.owner) }
  }

  /// Forgets a worker whose thread ends.
  mutating func remove(_ worker: Worker) {
    guard let position = workers.firstIndex(where: { $0 === worker }) else { return }
    workers.swapAt(position, workers.count - 1)
    workers.removeLast()
    hasReportedLimit = false
    ThreadLimit.giveThread()
  }
}
