import Dispatch
import Synchronization

/// The threads of this library of one class, shared by all queues of the process.
///
/// A worker takes the oldest piece of work; when there is none it sleeps on its own semaphore, and after some seconds
/// it ends. As many workers as there are processors are at work; the ``PoolManager`` finds those that are blocked, and
/// others work in their place. `README.md` beside this file says why no work is forgotten.
final class WorkerPool: WorkExecutor {
  private static let normal = WorkerPool(.normal)
  private static let utility = WorkerPool(.utility)
  private static let background = WorkerPool(.background)

  let workerClass: WorkerClass

  private init(_ workerClass: WorkerClass) { self.workerClass = workerClass }

  /// Work for other classes goes on from it to the pool of that class.
  static var shared: WorkerPool { normal }

  static func pool(of workerClass: WorkerClass) -> WorkerPool {
    switch workerClass {
    case .normal: normal
    case .utility: utility
    case .background: background
    }
  }

  /// What the lock protects.
  struct State {
    var work = WaitingWork()
    /// The workers asleep; the one that fell asleep last, whose memory is warm, wakes first.
    var sleeping: [Worker] = []
    /// All workers.
    var workers: [Worker] = []
    /// Workers that were made or woken and have not looked for work since.
    var coming = 0
    /// Workers that announced that they block, and those that were found blocked.
    var blocked = 0
    /// How many more than there are processors may be at work, since all that are were found blocked.
    var burst = 0
    /// No burst before this time, in nanoseconds of uptime: workers that were found blocked have computed again.
    var noBurstBefore: UInt64 = 0
    /// One more than are at work now may come, for work that has waited long while all are busy with other work.
    var helpsOut = false
    /// Counts the pieces of work taken, by which the pool manager sees progress.
    var taken: UInt64 = 0
    /// The pool manager looks at the workers, or has been told to.
    var isWatched = false
    /// It has been told that no more threads may be made.
    var hasReportedLimit = false

    /// Workers at work or coming.
    var atWork: Int { workers.count - sleeping.count - blocked }
    /// How many may be.
    var width: Int { ProcessorCount.usable + burst }
    /// How many more may come now.
    ///
    /// One that helps out may come however many there are already: those that computed a moment too long, or that were
    /// taken to be blocked, would keep it out for ever. One comes at a time.
    var room: Int { helpsOut && coming == 0 ? max(1, width - atWork) : width - atWork }
  }

  let state = Guarded(State())

  /// Says without a lock whether work waits: a worker that has worked for long then lets others have their turn.
  let workWaits = Atomic<Bool>(false)

  let spinning = SpinPolicy()

  // MARK: Work

  /// Sends `count` workers for `work`.
  func submit(_ work: any PoolWork, count: Int) { changeAndSend { $0.work.append(work, count: count) } }

  /// Sends `count` workers of a class for `work`.
  func submit(_ work: any PoolWork, count: Int, on workerClass: WorkerClass) {
    Self.pool(of: workerClass).submit(work, count: count)
  }

  /// Sends `count` workers of a class to help with `work`.
  func summon(_ count: Int, for work: any HelpedWork, on workerClass: WorkerClass) {
    Self.pool(of: workerClass).changeAndSend { $0.work.append(helpersFor: work, count: count) }
  }

  /// Sends no further workers of a class to help with `work`.
  ///
  /// - Returns: How many were still to come.
  func withdraw(_ work: any HelpedWork, on workerClass: WorkerClass) -> Int {
    var count = 0
    Self.pool(of: workerClass).changeAndSend { count = $0.work.withdraw(work) }
    return count
  }

  /// Runs `body`, which blocks the calling thread.
  ///
  /// If that is a worker, another may take its place meanwhile.
  static func blocking(_ body: () -> Void) {
    guard let worker = Worker.current else { return body() }
    worker.pool.changeAndSend { worker.beginBlocking(&$0) }
    body()
    worker.pool.state.withLock { worker.endBlocking(&$0) }
  }

  // MARK: Sending workers

  /// Changes the state under the lock; then, outside it, wakes and makes the threads that the change calls for.
  func changeAndSend(_ change: (inout State) -> Void) {
    let calls = state.withLock { state in
      change(&state)
      let calls = self.calls(&state)
      workWaits.store(!state.work.isEmpty, ordering: .relaxed)
      return calls
    }
    for worker in calls.woken { worker.wake.signal() }
    for worker in calls.made { worker.start() }
    if calls.beginsWatch { PoolManager.shared.watch(workerClass) } else if calls.hurries { PoolManager.shared.hurry() }
    if calls.isLimited { askForThread() }
    if calls.isSatisfied { Self.serveHungry(lessUrgentThan: workerClass) }
    for work in calls.refused { work.threadLimitWasReached(ThreadLimit.current) }
  }

  private struct Calls {
    var woken: [Worker] = []
    var made: [Worker] = []
    /// What waits and gets no thread, since there are as many as there may be.
    var refused: [any PoolWork] = []
    var isLimited = false
    /// The pool had been refused a thread, and wants none any more.
    var isSatisfied = false
    var beginsWatch = false
    var hurries = false
  }

  /// Chooses the sleeping workers to wake, and the threads to make, for the work that no worker is coming for.
  ///
  /// Where there may be no more workers, the pool manager is set to look after that work.
  private func calls(_ state: inout State) -> Calls {
    var calls = Calls()
    var missing = state.work.count - state.coming
    var allowed = min(missing, state.room)
    while allowed > 0 {
      if let worker = state.sleeping.popLast() {
        worker.status = .coming
        calls.woken.append(worker)
      } else if ThreadLimit.takeThread(for: workerClass, isFirst: state.workers.isEmpty) {
        let worker = Worker(of: self)
        state.workers.append(worker)
        calls.made.append(worker)
      } else {
        // What waits may be blocks alone: then the first queue that comes to wait is notified.
        if !state.hasReportedLimit { calls.refused = state.work.works.filter(\.reportsThreadLimit) }
        if !calls.refused.isEmpty { state.hasReportedLimit = true }
        calls.isLimited = true
        break
      }
      state.coming += 1
      allowed -= 1
      missing -= 1
    }
    if !calls.isLimited { calls.isSatisfied = ThreadLimit.satisfy(workerClass) }
    if missing > 0 {
      calls.beginsWatch = !state.isWatched
      calls.hurries = state.isWatched
      state.isWatched = true
    }
    return calls
  }
}
