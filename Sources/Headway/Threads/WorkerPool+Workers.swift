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

  /// Runs a worker's thread until it ends.
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

  /// Returns the oldest work.
  ///
  /// If there is none, adds the worker to the sleeping ones, or makes it end.
  private func nextWork(for worker: Worker) -> Next {
    var next = Next.sleep
    changeAndSend { state in
      switch worker.status {
      case .coming: state.coming -= 1
      case .foundBlocked:
        BlockingReports.noteContinued(worker)
        state.blocked -= 1
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

  /// Sleeps until the worker is woken.
  ///
  /// Returns false if its time was up or it was dismissed, and the thread must end.
  private func sleep(_ worker: Worker) -> Bool {
    let start = DispatchTime.now()
    if worker.wake.wait(timeout: start + Self.idleTime) == .success {
      spinning.noteSleep(of: DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds)
      return !state.withLock { _ in worker.isDismissed }
    }
    let isLeaving = state.withLock { state in
      guard let position = state.sleeping.firstIndex(where: { $0 === worker }) else { return worker.isDismissed }
      state.sleeping.remove(at: position)
      state.remove(worker)
      return true
    }
    // The worker was chosen to be woken at that moment, so the signal is on its way.
    if !isLeaving { worker.wake.wait() }
    return !isLeaving
  }

  /// Ends a worker although there might be work.
  ///
  /// Another worker takes the thread's place.
  private func retire(_ worker: Worker) {
    changeAndSend { state in
      if worker.status == .foundBlocked { state.blocked -= 1 }
      state.remove(worker)
    }
  }

  // MARK: Threads that are missing

  /// Removes a worker whose thread could not be created.
  ///
  /// Its work waits, and the creation is tried again: by the pool manager at each check, or, if the pool manager's
  /// thread is missing, too, with the next work and by threads that wait.
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

  /// Tries again to create threads, if one could not be created.
  static func retryMissingThreads() {
    guard isThreadMissing.load(ordering: .relaxed), isThreadMissing.exchange(false, ordering: .relaxed) else { return }
    for workerClass in WorkerClass.allCases { pool(of: workerClass).changeAndSend { _ in } }
    PoolManager.shared.runIfNeeded()
  }

  // MARK: The limit

  /// Makes a sleeping worker of another class end, so that this class can have its thread.
  ///
  /// If there is none, makes the workers of less urgent classes leave after their current operations.
  ///
  /// This pool is already marked as hungry. Therefore, a worker that would fall asleep later ends instead, as does a
  /// less urgent worker that searches for work later.
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

  /// Makes the classes that were denied a thread try again, the most urgent first, because there might be room for one.
  ///
  /// - Parameter limit: If it is not nil, only the classes that are less urgent than this one try again.
  static func serveHungry(lessUrgentThan limit: WorkerClass? = nil) {
    for workerClass in WorkerClass.allCases
    where ThreadLimit.isHungry(workerClass.bit) && (limit.map { workerClass.moreUrgent & $0.bit != 0 } ?? true) {
      pool(of: workerClass).changeAndSend { _ in }
    }
  }
}

extension WorkerPool.State {
  /// Takes work for a worker that is now at work.
  fileprivate mutating func takeWork() -> (any PoolWork)? {
    if atWork <= width { return work.popFirst() }
    // If blocked workers have continued, more workers can be at work than allowed. Then this worker gets no work,
    // unless it helps out.
    guard helpsOut else { return nil }
    helpsOut = false
    let visited = visited
    return work.popFirst { !visited.contains($0.owner) }
  }

  /// Removes a worker whose thread ends.
  mutating func remove(_ worker: Worker) {
    guard let position = workers.firstIndex(where: { $0 === worker }) else { return }
    workers.swapAt(position, workers.count - 1)
    workers.removeLast()
    hasReportedLimit = false
    ThreadLimit.giveThread()
  }
}
