import Dispatch
import Synchronization

/// Headway's threads of one class, shared by all queues of the process.
///
/// A worker takes the oldest piece of work. If there is none, it sleeps on its own semaphore, and ends after some
/// seconds. The number of workers at work is the number of processors. The ``PoolManager`` finds blocked workers, and
/// other workers take their places. `README.md` next to this file explains why no work is forgotten.
final class WorkerPool: WorkExecutor {
  private static let normal = WorkerPool(.normal)
  private static let utility = WorkerPool(.utility)
  private static let background = WorkerPool(.background)

  let workerClass: WorkerClass

  private init(_ workerClass: WorkerClass) { self.workerClass = workerClass }

  /// The pool of normal workers.
  ///
  /// It passes work for other classes on to the pool of that class.
  static var shared: WorkerPool { normal }

  static func pool(of workerClass: WorkerClass) -> WorkerPool {
    switch workerClass {
    case .normal: normal
    case .utility: utility
    case .background: background
    }
  }

  /// The state that the lock protects.
  struct State {
    var work = WaitingWork()
    /// The sleeping workers.
    ///
    /// The worker that fell asleep last, whose memory is warm, wakes first.
    var sleeping: [Worker] = []
    /// All workers.
    var workers: [Worker] = []
    /// The number of workers that were created or woken and have not searched for work since.
    var coming = 0
    /// The number of blocked workers, which announced that they block or were found blocked.
    var blocked = 0
    /// How many more workers than processors can be at work, because all workers at work were found blocked.
    var burst = 0
    /// There is no burst before this time, in nanoseconds of uptime, because workers that were found blocked have
    /// computed again.
    var noBurstBefore: UInt64 = 0
    /// Whether one worker can be added to the workers at work, for work that has waited a long time while all of them
    /// are busy with other work.
    var helpsOut = false
    /// The number of pieces of work that were taken.
    ///
    /// It shows progress to the pool manager.
    var taken: UInt64 = 0
    /// Whether the pool manager checks the workers, or has been requested to.
    var isWatched = false
    /// Whether the pool has reported that no further thread can be created.
    var hasReportedLimit = false

    /// The number of workers that are at work or coming.
    var atWork: Int { workers.count - sleeping.count - blocked }
    /// The maximum number of workers at work.
    var width: Int { ProcessorCount.usable + burst }
    /// How many more workers can come now.
    ///
    /// A worker that helps out can come even if the maximum is reached: workers that computed a moment too long, or
    /// that were wrongly considered blocked, would otherwise keep it out forever. One comes at a time.
    var room: Int { helpsOut && coming == 0 ? max(1, width - atWork) : width - atWork }
  }

  let state = Guarded(State())

  /// Whether work waits; readable without a lock.
  ///
  /// A worker that has worked for a long time then lets other work have its turn.
  let workWaits = Atomic<Bool>(false)

  let spinning = SpinPolicy()

  // MARK: Work

  /// Requests `count` workers for `work`.
  func submit(_ work: any PoolWork, count: Int) { changeAndSend { $0.work.append(work, count: count) } }

  /// Requests `count` workers of a class for `work`.
  func submit(_ work: any PoolWork, count: Int, on workerClass: WorkerClass) {
    Self.pool(of: workerClass).submit(work, count: count)
  }

  /// Requests `count` workers of a class to help with `work`.
  func summon(_ count: Int, for work: any HelpedWork, on workerClass: WorkerClass) {
    Self.pool(of: workerClass).changeAndSend { $0.work.append(helpersFor: work, count: count) }
  }

  /// Withdraws the requests for workers of a class to help with `work`.
  ///
  /// - Returns: How many of the requested workers had not arrived yet.
  func withdraw(_ work: any HelpedWork, on workerClass: WorkerClass) -> Int {
    var count = 0
    Self.pool(of: workerClass).changeAndSend { count = $0.work.withdraw(work) }
    return count
  }

  /// Runs `body`, which blocks the calling thread.
  ///
  /// If that thread is a worker, another worker can take its place during this time.
  static func blocking(_ body: () -> Void) {
    guard let worker = Worker.current else { return body() }
    worker.pool.changeAndSend { worker.beginBlocking(&$0) }
    BlockingReports.noteBlocked(worker)
    body()
    BlockingReports.noteContinued(worker)
    worker.pool.state.withLock { worker.endBlocking(&$0) }
  }

  // MARK: Sending workers

  /// Changes the state under the lock.
  ///
  /// Then, outside the lock, wakes and creates the threads that the change requires.
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
    /// The waiting work that gets no thread, because the limit is reached.
    var refused: [any PoolWork] = []
    var isLimited = false
    /// The pool had been denied a thread, and no longer needs one.
    var isSatisfied = false
    var beginsWatch = false
    var hurries = false
  }

  /// Chooses the sleeping workers to wake, and the threads to create, for the work that no worker is coming for.
  ///
  /// If no further worker is allowed, the pool manager is requested to watch that work.
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
        // If all waiting work consists of blocks, the first queue that waits later is notified instead.
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
