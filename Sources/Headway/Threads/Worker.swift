import Dispatch
import Synchronization

/// One thread of a pool.
final class Worker: @unchecked Sendable {
  // `wake`, `sleeps`, `leavesSoon`, `waitsForLock` and `running` protect themselves. The pool's lock protects `status`,
  // `blockedSince`, `visit` and `isDismissed`. Only the pool manager's thread uses `seen`. `probe` is set under the
  // pool's lock, before the worker first searches for work. The rest belongs to the worker's own thread.

  /// The status of a worker from the view of its pool.
  enum Status {
    /// It was created or woken and has not searched for work since.
    case coming
    case working
    case asleep
    /// It has announced that it blocks.
    case blocked
    /// The pool manager found it blocked.
    ///
    /// It counts as blocked until it computes or searches for work.
    case foundBlocked
  }

  let pool: WorkerPool
  /// The name of the thread, for people.
  let name: String
  let wake = DispatchSemaphore(value: 0)
  var status = Status.coming
  /// When the worker was found blocked, in nanoseconds of uptime.
  var blockedSince: UInt64 = 0
  /// Whether the worker must end when it wakes, so that another pool can have a thread.
  var isDismissed = false
  /// An object that the thread keeps for its next visit to a queue; belongs to the thread.
  var kept: AnyObject?
  /// Whether the thread uses that object, because it is visiting a queue; belongs to the thread.
  var isVisiting = false
  /// The owner of the work that the worker has taken.
  var visit: ObjectIdentifier?
  /// Lets other threads find out whether this thread is blocked.
  private(set) var probe: ThreadProbe?
  /// The state of the worker at the pool manager's last check.
  var seen: (sleepCount: UInt64, time: UInt64, processorTime: UInt64)?
  /// The thread's nice value was raised and could not be restored, so the thread must not be used further.
  private(set) var isWornOut = false
  /// The thread keeps a raised nice value, which it has inherited from a user's thread.
  ///
  /// It works while there is work and ends instead of sleeping, so that another thread can create the next worker.
  private(set) var hasInheritedNiceness = false

  private static let lastNormal = Atomic<Int>(0)
  private static let lastLow = Atomic<Int>(0)

  init(of pool: WorkerPool) {
    self.pool = pool
    name =
      pool.workerClass == .normal
      ? "headway-\(Self.lastNormal.add(1, ordering: .relaxed).newValue)"
      : "headway-low-\(Self.lastLow.add(1, ordering: .relaxed).newValue)"
  }

  // MARK: The current thread

  /// The worker that the calling thread belongs to; nil on other threads.
  static var current: Worker? {
    ThreadValues.existing?.pointee.worker.map { Unmanaged<Worker>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Runs the worker's thread.
  private func run() {
    hasInheritedNiceness = !ThreadNiceness.enter(pool.workerClass)
    ThreadValues.current.pointee.worker = Unmanaged.passUnretained(self).toOpaque()
    let probe = ThreadProbe()
    pool.state.withLock { _ in self.probe = probe }
    pool.run(self)
    // Still as a worker: if its nice value is raised, it leaves critical sections to the pool manager.
    WorkerPool.serveHungry()
    dismissFromPoolManager()
    // Destructors of thread-specific data that user code has set run after this, on a thread that is no longer a
    // worker.
    ThreadValues.current.pointee = ThreadValues()
  }

  // MARK: Progress

  /// How often the worker has fallen asleep in the pool.
  ///
  /// Relaxed: the pool manager checks again a millisecond later.
  private let sleeps = Atomic<UInt64>(0)

  var sleepCount: UInt64 { sleeps.load(ordering: .relaxed) }

  func noteSleep() { sleeps.store(sleepCount &+ 1, ordering: .relaxed) }

  /// Whether the worker must search for other work, or sleep, when its operation has finished.
  let leavesSoon = Atomic<Bool>(false)

  // MARK: Blocking

  /// Whether the worker waits for the lock of the queue that it visits, or is about to.
  ///
  /// A thread that holds the lock was preempted, because the processors are busy. Other workers would only wait for the
  /// same lock, so a worker that waits for it is not replaced.
  ///
  /// Relaxed: the pool manager checks again a millisecond later.
  let waitsForLock = Atomic<Bool>(false)

  /// Called under the pool's lock.
  func beginBlocking(_ state: inout WorkerPool.State) {
    guard status == .working || status == .foundBlocked else { return }
    if status == .working { state.blocked += 1 }
    status = .blocked
  }

  /// Called under the pool's lock.
  func endBlocking(_ state: inout WorkerPool.State) {
    guard status == .blocked else { return }
    status = .working
    state.blocked -= 1
    if state.atWork > state.width { leavesSoon.store(true, ordering: .relaxed) }
  }

  // MARK: Seeing what the thread does

  /// The address of the operation that the worker runs, or has run last in its batch; 0 if there is none.
  ///
  /// Relaxed: snapshots compare it with the addresses of operations that they keep alive.
  let running = Atomic<UInt>(0)

  /// Sets the operation that the calling thread runs, if the thread is a worker.
  ///
  /// - Returns: The address of the operation that it ran before.
  static func setRunning(_ address: UInt) -> UInt {
    guard let pointer = ThreadValues.existing?.pointee.worker else { return 0 }
    return Unmanaged<Worker>.fromOpaque(pointer)._withUnsafeGuaranteedRef { worker in
      defer { worker.running.store(address, ordering: .relaxed) }
      return worker.running.load(ordering: .relaxed)
    }
  }

  // MARK: Raising the thread

  /// The address of the operation that a worker of a low class runs, or has taken and is about to begin;
  /// 0 if there is none.
  ///
  /// The lowest bit is set if the thread was given a lower nice value for the operation. `Worker+Raising.swift`
  /// describes the protocol.
  let raisable = Atomic<UInt>(0)

  // MARK: Thread priority

  /// The thread has a raised nice value, so it must not hold locks that other threads acquire.
  var isLow: Bool { pool.workerClass != .normal || isLowered || isWornOut }

  private var isLowered = false

  /// Runs `body` with a share of the processor that corresponds to a thread priority from 0.0 to 1.0.
  func withPriority(_ priority: Double, _ body: () -> Void) {
    let nice = ThreadNiceness.current
    let wanted = nice + Int32(((0.5 - priority) * 38).rounded())
    guard PoolManager.shared.admitLowWorker() else { return body() }
    let (wasLowered, wasWornOut) = (isLowered, isWornOut)
    (isLowered, ThreadNiceness.current) = (true, wanted)
    body()
    ThreadNiceness.current = nice
    isWornOut = ThreadNiceness.current != nice
    isLowered = wasLowered
    if !isWornOut || wasWornOut { PoolManager.shared.dismissLowWorker() }
  }

  /// Removes the worker from the pool manager, because its thread ends or could not be created.
  func dismissFromPoolManager() {
    if pool.workerClass != .normal { PoolManager.shared.dismissLowWorker() }
    if isWornOut { PoolManager.shared.dismissLowWorker() }
  }

  // MARK: The thread

  /// Creates the worker's thread.
  ///
  /// A thread inherits the nice value of its creator. Therefore, a thread with a raised value leaves the creation to
  /// the pool manager.
  func start() {
    if Worker.current?.isLow == true { return PoolManager.perform { self.makeThread() } }
    makeThread()
  }

  private func makeThread() {
    let isAdmitted = pool.workerClass == .normal || PoolManager.shared.admitLowWorker()
    guard !isAdmitted || startThread(named: name, { self.run() }) != 0 else { return }
    if isAdmitted { dismissFromPoolManager() }
    pool.threadWasRefused(self)
  }
}
