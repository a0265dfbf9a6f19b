import Dispatch
import Synchronization

/// One thread of a pool.
final class Worker: @unchecked Sendable {
  // `wake`, `serial` and `leavesSoon` protect themselves; the pool's lock protects `status` and `visit`; the monitor's
  // thread alone uses `seen`; `probe` is set before the worker first looks for work, under the pool's lock; the rest
  // belongs to the worker's own thread.

  enum Role {
    case work, monitor
  }

  /// What the pool knows of a worker.
  enum Status {
    /// Made or woken; it has not looked for work since.
    case coming
    case working
    case asleep
    /// It has announced that it blocks.
    case blocked
    /// The monitor found it blocked; until it next looks for work, it is taken to be.
    case foundBlocked
  }

  let role: Role
  let pool: WorkerPool
  let wake = DispatchSemaphore(value: 0)
  var status = Status.coming
  /// Where it keeps the operations that it has taken from a queue.
  let operationRun = OperationRun()
  /// The work that it has taken.
  var visit: ObjectIdentifier?
  /// Lets others look at the thread.
  private(set) var probe: ThreadProbe?
  /// What the monitor saw when it last looked.
  var seen: (serial: UInt64, processorTime: UInt64)?
  /// The thread's nice value was raised and could not be set back: the thread is not to be used further.
  private(set) var isWornOut = false

  init(_ role: Role, of pool: WorkerPool) {
    self.role = role
    self.pool = pool
  }

  // MARK: The current thread

  private static let key = ThreadKey()

  /// The worker whose thread the calling thread is.
  static var current: Worker? {
    key.value.map { Unmanaged<Worker>.fromOpaque($0).takeUnretainedValue() }
  }

  /// What the worker's thread does.
  fileprivate func run() {
    ThreadNiceness.enter(pool.workerClass)
    switch role {
    case .work:
      Self.key.value = Unmanaged.passUnretained(self).toOpaque()
      let probe = ThreadProbe()
      pool.state.withLock { _ in self.probe = probe }
      pool.run(self)
    case .monitor:
      pool.runMonitor(self)
    }
  }

  // MARK: Progress

  /// Changes with each operation, by which the monitor sees that the worker goes on.
  ///
  /// Relaxed: the monitor looks again a millisecond later.
  let serial = Atomic<UInt64>(0)

  /// The worker is to look for other work, or to sleep, when its operation is done.
  let leavesSoon = Atomic<Bool>(false)

  /// The worker begins with another operation.
  func beginsNext() { serial.store(serial.load(ordering: .relaxed) &+ 1, ordering: .relaxed) }

  // MARK: Blocking

  /// Under the pool's lock.
  func beginsToBlock(_ state: inout WorkerPool.State) {
    guard status == .working else { return }
    status = .blocked
    state.blocked += 1
  }

  /// Under the pool's lock.
  func hasBlocked(_ state: inout WorkerPool.State) {
    guard status == .blocked else { return }
    status = .working
    state.blocked -= 1
    if state.atWork > state.width { leavesSoon.store(true, ordering: .relaxed) }
  }

  /// Under the pool's lock: the monitor has found that the worker is blocked.
  func wasFoundBlocked(_ state: inout WorkerPool.State) {
    status = .foundBlocked
    state.blocked += 1
    leavesSoon.store(true, ordering: .relaxed)
  }

  // MARK: Thread priority

  /// The thread's nice value is that of normal workers.
  var isNormal: Bool { pool.workerClass == .normal && !isLowered && !isWornOut }

  private var isLowered = false

  /// Runs `body` with a share of the processor given as a thread priority from 0.0 to 1.0.
  func withPriority(_ priority: Double, _ body: () -> Void) {
    let nice = ThreadNiceness.current
    let wanted = nice + Int32(((0.5 - priority) * 38).rounded())
    ThreadMaker.prepare()
    (isLowered, ThreadNiceness.current) = (true, wanted)
    body()
    (isLowered, ThreadNiceness.current) = (false, nice)
    isWornOut = ThreadNiceness.current != nice
  }
}

extension Worker {
  /// Makes the worker's thread.
  ///
  /// If that is refused and others are there, its work is left to them.
  func start() {
    let result = startThread { self.run() }
    guard result != 0 else { return }
    let remaining = pool.state.withLock { state in
      if role == .monitor {
        state.monitor = nil
        state.isMonitored = false
      } else {
        state.remove(self)
        state.coming -= 1
      }
      return state.workers.count
    }
    require(
      remaining > 0, "No thread could be made (pthread_create returned \(result)), and there is none to do the work.")
  }
}
