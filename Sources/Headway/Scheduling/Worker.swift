import Dispatch
import Synchronization

/// One thread of a pool.
final class Worker: @unchecked Sendable {
  // `wake` protects itself; the pool's lock protects `isComing`; the rest belongs to the worker's own thread.

  enum Role {
    case work, monitor
  }

  let role: Role
  let pool: WorkerPool
  let wake = DispatchSemaphore(value: 0)
  /// Counted among the coming.
  var isComing = true
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
      pool.run(self)
    case .monitor:
      pool.runMonitor(self)
    }
  }

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
        state.workers -= 1
        state.coming -= 1
      }
      return state.workers
    }
    require(
      remaining > 0, "No thread could be made (pthread_create returned \(result)), and there is none to do the work.")
  }
}
