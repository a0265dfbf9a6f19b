import Dispatch
import Synchronization

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The threads of this library of one class, shared by all queues of the process.
///
/// A worker takes the oldest piece of work; when there is none it sleeps on its own semaphore, and after some seconds
/// it ends. As many workers as there are processors are at work; a monitor lets more work when those are stuck.
/// `README.md` beside this file says why no work is forgotten.
final class WorkerPool: WorkExecutor {
  /// The pool of normal threads; work for others goes on from it to the pool of that class.
  static let shared = WorkerPool(.normal)
  private static let utility = WorkerPool(.utility)
  private static let background = WorkerPool(.background)

  let workerClass: WorkerClass

  private init(_ workerClass: WorkerClass) { self.workerClass = workerClass }

  static func pool(of workerClass: WorkerClass) -> WorkerPool {
    switch workerClass {
    case .normal: shared
    case .utility: utility
    case .background: background
    }
  }

  /// How many workers may be at work, those that announced a wait not counted, when the monitor finds them stuck.
  static let maximumWorkerCount = 64
  /// How many workers are at work while they make progress.
  static let processorCount = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
  /// No more threads than this are made, whatever they wait for.
  static let hardThreadLimit = 512
  /// How long a worker, or the monitor, sleeps before its thread ends.
  static let idleTime = DispatchTimeInterval.seconds(5)

  /// What the lock protects.
  struct State {
    var work = FirstInFirstOut<any PoolWork>()
    /// The workers asleep; the one that fell asleep last, whose memory is warm, wakes first.
    var sleeping: [Worker] = []
    /// Workers that were made or woken and have not looked for work since.
    var coming = 0
    /// All workers: asleep, coming, at work, blocked.
    var workers = 0
    /// Workers that announced that they block.
    var blocked = 0
    /// How many may be at work.
    var width = WorkerPool.processorCount
    /// Counts the pieces of work taken, by which the monitor sees progress.
    var taken: UInt64 = 0
    var monitor: Worker?
    /// The monitor is looking, or has been told to.
    var isMonitored = false

    /// Workers at work or coming.
    var atWork: Int { workers - sleeping.count - blocked }
  }

  let state = Mutex(State())

  // MARK: Work

  /// Sends `count` workers of a class for `work`.
  func submit(_ work: any PoolWork, count: Int, on workerClass: WorkerClass) {
    Self.pool(of: workerClass).changeAndSend { state in
      for _ in 0..<count { state.work.append(work) }
    }
  }

  /// Runs `body`, which blocks the calling thread.
  ///
  /// If that is a worker, another may take its place meanwhile.
  static func blocking(_ body: () -> Void) {
    guard let pool = Worker.current?.pool else { return body() }
    pool.changeAndSend { $0.blocked += 1 }
    body()
    pool.state.withLock { $0.blocked -= 1 }
  }

  // MARK: Sending workers

  /// Changes the state under the lock; then, outside it, wakes and makes the threads that the change calls for.
  func changeAndSend(_ change: (inout State) -> Void) {
    let calls = state.withLock { state in
      change(&state)
      return self.calls(&state)
    }
    for worker in calls.woken { worker.wake.signal() }
    for worker in calls.made { ThreadMaker.start(worker) }
  }

  private struct Calls {
    var woken: [Worker] = []
    var made: [Worker] = []
  }

  /// Chooses the sleeping workers to wake, and the threads to make, for the work that no worker is coming for.
  ///
  /// Where there may be no more workers, the monitor is set to look after that work.
  private func calls(_ state: inout State) -> Calls {
    var calls = Calls()
    var missing = state.work.count - state.coming
    guard missing > 0 else { return calls }
    var allowed = min(missing, state.width - state.atWork)
    while allowed > 0 {
      if let worker = state.sleeping.popLast() {
        calls.woken.append(worker)
      } else if state.workers < Self.hardThreadLimit {
        state.workers += 1
        calls.made.append(Worker(.work, of: self))
      } else {
        break
      }
      state.coming += 1
      allowed -= 1
      missing -= 1
    }
    if missing > 0, !state.isMonitored {
      state.isMonitored = true
      if let monitor = state.monitor {
        calls.woken.append(monitor)
      } else {
        let monitor = Worker(.monitor, of: self)
        state.monitor = monitor
        calls.made.append(monitor)
      }
    }
    return calls
  }
}
