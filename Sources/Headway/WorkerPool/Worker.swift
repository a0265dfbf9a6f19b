import Dispatch
import Synchronization

/// One thread of a pool.
final class Worker: @unchecked Sendable {
  // `wake`, `sleeps` and `leavesSoon` protect themselves; the pool's lock protects `status`, `blockedSince`, `visit`
  // and `isDismissed`; the pool manager's thread alone uses `seen`; `probe` is set before the worker first looks for
  // work, under the pool's lock; the rest belongs to the worker's own thread.

  /// What the pool knows of a worker.
  enum Status {
    /// Made or woken; it has not looked for work since.
    case coming
    case working
    case asleep
    /// It has announced that it blocks.
    case blocked
    /// The pool manager found it blocked; until it computes, or looks for work, it is taken to be.
    case foundBlocked
  }

  let pool: WorkerPool
  /// For people: what the thread is called.
  let name: String
  let wake = DispatchSemaphore(value: 0)
  var status = Status.coming
  /// When it was found blocked, in nanoseconds of uptime.
  var blockedSince: UInt64 = 0
  /// It is to end, when it wakes, so that another pool may have a thread.
  var isDismissed = false
  /// What the thread keeps for its next visit to a queue; belongs to the thread.
  var kept: AnyObject?
  /// Its thread is in a visit to a queue, for which it uses that; belongs to the thread.
  var isVisiting = false
  /// The owner of the work that it has taken.
  var visit: ObjectIdentifier?
  /// Lets others look at the thread.
  private(set) var probe: ThreadProbe?
  /// What the pool manager saw when it last looked.
  var seen: (sleepCount: UInt64, time: UInt64, processorTime: UInt64)?
  /// The thread's nice value was raised and could not be set back: the thread is not to be used further.
  private(set) var isWornOut = false
  /// The thread keeps a raised nice value, which it has inherited from a thread of the user's: it works while there is
  /// work, and ends in place of sleeping, so that another thread may make the next.
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

  /// The worker whose thread the calling thread is.
  static var current: Worker? {
    ThreadValues.existing?.pointee.worker.map { Unmanaged<Worker>.fromOpaque($0).takeUnretainedValue() }
  }

  /// What the worker's thread does.
  private func run() {
    hasInheritedNiceness = !ThreadNiceness.enter(pool.workerClass)
    ThreadValues.current.pointee.worker = Unmanaged.passUnretained(self).toOpaque()
    let probe = ThreadProbe()
    pool.state.withLock { _ in self.probe = probe }
    pool.run(self)
    // As a worker still, which leaves it to the pool manager if its nice value is raised.
    WorkerPool.serveHungry()
    dismissFromPoolManager()
    // Destructors of thread-specific data that others have set run after this, on a thread that is no worker any more.
    ThreadValues.current.pointee = ThreadValues()
  }

  // MARK: Progress

  /// How often it has fallen asleep in the pool.
  ///
  /// Relaxed: the pool manager looks again a millisecond later.
  private let sleeps = Atomic<UInt64>(0)

  var sleepCount: UInt64 { sleeps.load(ordering: .relaxed) }

  func noteSleep() { sleeps.store(sleepCount &+ 1, ordering: .relaxed) }

  /// The worker is to look for other work, or to sleep, when its operation is done.
  let leavesSoon = Atomic<Bool>(false)

  // MARK: Blocking

  /// Under the pool's lock.
  func beginBlocking(_ state: inout WorkerPool.State) {
    guard status == .working || status == .foundBlocked else { return }
    if status == .working { state.blocked += 1 }
    status = .blocked
  }

  /// Under the pool's lock.
  func endBlocking(_ state: inout WorkerPool.State) {
    guard status == .blocked else { return }
    status = .working
    state.blocked -= 1
    if state.atWork > state.width { leavesSoon.store(true, ordering: .relaxed) }
  }

  // MARK: Raising the thread

  /// On a worker of a low class, the address of the operation that it runs, or has taken and is about to begin; or 0.
  ///
  /// The lowest bit is set if the thread was given a lower nice value for it. `Worker+Raising.swift` describes the
  /// protocol.
  let raisable = Atomic<UInt>(0)

  // MARK: Thread priority

  /// The thread has a raised nice value: it must not hold locks that others take.
  var isLow: Bool { pool.workerClass != .normal || isLowered || isWornOut }

  private var isLowered = false

  /// Runs `body` with a share of the processor given as a thread priority from 0.0 to 1.0.
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

  /// The worker's thread ends, or could not be made.
  func dismissFromPoolManager() {
    if pool.workerClass != .normal { PoolManager.shared.dismissLowWorker() }
    if isWornOut { PoolManager.shared.dismissLowWorker() }
  }

  // MARK: The thread

  /// Makes the worker's thread.
  ///
  /// A thread inherits the nice value of the one that makes it, so one with a raised value leaves that to the pool
  /// manager.
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
