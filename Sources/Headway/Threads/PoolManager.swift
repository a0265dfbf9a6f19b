import Dispatch
import Synchronization

/// The thread that looks after the workers of all pools.
///
/// It finds blocked workers while work waits (``WorkerWatch``). For workers with a raised nice value, it runs the
/// critical sections of locks that other threads acquire (``Guarded``). It also creates threads: a thread created by
/// such a worker would inherit its nice value and could not lower it. It runs no user code and blocks only on those
/// locks.
///
/// It starts with the first worker that has a raised nice value, or with the first work that has to wait. It ends a few
/// seconds after there are no such workers and no such work.
final class PoolManager: Sendable {
  static let shared = PoolManager()

  /// How long it sleeps with nothing to do before it ends.
  private static let idleTime = DispatchTimeInterval.seconds(5)

  /// Whether the pool manager's thread runs, or is about to run.
  private let isRunning = Atomic<Bool>(false)
  private let signal = DispatchSemaphore(value: 0)
  /// The critical sections to run: a stack of requests.
  ///
  /// The requests are on the stacks of the threads that wait for them.
  private let requests = Atomic<UInt>(0)
  /// The classes whose workers must be checked: one bit per class.
  private let watched = Atomic<UInt8>(0)
  /// Whether the pool manager sleeps longer than usual between two checks.
  private let isDozing = Atomic<Bool>(false)
  /// The number of workers that need the pool manager.
  private let lowWorkers = Atomic<Int>(0)

  private init() {}

  // MARK: Sections for others

  /// Whether there is, or has been, a worker with a raised nice value.
  ///
  /// Every lock loads this once.
  private static let hasLowWorkers = Atomic<Bool>(false)

  @inline(__always)
  static var isNeeded: Bool { hasLowWorkers.load(ordering: .relaxed) }

  private struct Request {
    let body: () -> Void
    let done: DispatchSemaphore
    var next: UInt
  }

  /// Makes the pool manager call `body` and waits until it has returned.
  ///
  /// Called by workers with a raised nice value, which keep the pool manager running.
  static func perform(_ body: () -> Void) {
    withoutActuallyEscaping(body) { body in
      let done = DispatchSemaphore(value: 0)
      var request = Request(body: body, done: done, next: 0)
      withUnsafeMutablePointer(to: &request) { pointer in
        let address = UInt(bitPattern: pointer)
        var top = shared.requests.load(ordering: .relaxed)
        while true {
          pointer.pointee.next = top
          let (exchanged, original) = shared.requests.weakCompareExchange(
            expected: top, desired: address, successOrdering: .sequentiallyConsistent, failureOrdering: .relaxed)
          if exchanged { break }
          top = original
        }
        shared.signal.signal()
        // The pool manager runs, unless its thread could not be created for the worker that needed it first.
        while done.wait(timeout: .now() + .milliseconds(50)) == .timedOut { _ = shared.run() }
      }
    }
  }

  /// Calls `body`, which acquires locks many times, on a thread that may acquire them.
  ///
  /// Therefore, a worker with a raised nice value is not preempted for a long time between two of its critical
  /// sections.
  static func performIfLow(_ body: () -> Void) { if Guarded<Void>.isLow { perform(body) } else { body() } }

  private func carryOutRequests() {
    var position = requests.exchange(0, ordering: .acquiringAndReleasing)
    while let request = UnsafeMutablePointer<Request>(bitPattern: position) {
      position = request.pointee.next
      Self.carryOut(request)
      // Once this is signaled, the request no longer exists.
      let done = request.pointee.done
      done.signal()
    }
  }

  // A separate function, so that no reference to the body, which must not escape, remains when it returns.
  @inline(never)
  private static func carryOut(_ request: UnsafeMutablePointer<Request>) { request.pointee.body() }

  // MARK: Requests

  /// Ensures that the thread runs, before a worker that needs it is created.
  ///
  /// - Returns: False if the thread can't be created.
  func admitLowWorker() -> Bool {
    Self.hasLowWorkers.store(true, ordering: .sequentiallyConsistent)
    lowWorkers.add(1, ordering: .sequentiallyConsistent)
    if run() { return true }
    dismissLowWorker()
    return false
  }

  /// Removes a worker that needed the pool manager: it ends, or could not be created.
  func dismissLowWorker() { lowWorkers.subtract(1, ordering: .sequentiallyConsistent) }

  /// Starts checking the workers of a class, soon and repeatedly, until ``WorkerPool/continuesWatch()`` returns nil.
  func watch(_ workerClass: WorkerClass) {
    watched.bitwiseOr(workerClass.bit, ordering: .sequentiallyConsistent)
    signal.signal()
    _ = run()
  }

  /// Checks soon, if the thread sleeps longer than usual.
  func hurry() {
    runIfNeeded()
    if isDozing.load(ordering: .relaxed), isDozing.exchange(false, ordering: .acquiringAndReleasing) { signal.signal() }
  }

  /// Starts the thread, if it could not be created when it was needed.
  func runIfNeeded() {
    if !isRunning.load(ordering: .relaxed), watched.load(ordering: .sequentiallyConsistent) != 0 { _ = run() }
  }

  // MARK: Its thread

  /// Starts the thread, if it is not running.
  ///
  /// A thread adds its request first and then checks whether the pool manager runs. A pool manager that ends first
  /// clears its flag, then checks for requests. All four accesses are sequentially consistent, so one of the two
  /// threads sees the other.
  private func run() -> Bool {
    guard !isRunning.exchange(true, ordering: .sequentiallyConsistent) else { return true }
    guard startThread(named: "headway-manager", { self.work() }) != 0 else { return true }
    isRunning.store(false, ordering: .sequentiallyConsistent)
    WorkerPool.noteMissingThread()
    return false
  }

  private func work() {
    // If this fails, the thread is as slow as the user's thread that has created it, until it ends.
    _ = ThreadNiceness.enter(.normal)
    var watch = WorkerWatch()
    while true {
      carryOutRequests()
      if watch.isDue {
        let classes = watched.exchange(0, ordering: .sequentiallyConsistent)
        if classes != 0 { watched.bitwiseOr(watch.look(at: classes), ordering: .sequentiallyConsistent) }
      }
      let isWatching = watched.load(ordering: .sequentiallyConsistent) != 0
      let dozes = isWatching && watch.isPausing
      isDozing.store(dozes, ordering: .releasing)
      let result = signal.wait(timeout: isWatching ? watch.nextLook : .now() + Self.idleTime)
      if dozes, !isDozing.exchange(false, ordering: .acquiringAndReleasing) { watch.hurry() }
      if !isWatching, result == .timedOut, ends() { return }
    }
  }

  private func ends() -> Bool {
    isRunning.store(false, ordering: .sequentiallyConsistent)
    guard
      lowWorkers.load(ordering: .sequentiallyConsistent) != 0 || watched.load(ordering: .sequentiallyConsistent) != 0
        || requests.load(ordering: .sequentiallyConsistent) != 0
    else { return true }
    // Another one might have been started for new requests.
    return isRunning.exchange(true, ordering: .sequentiallyConsistent)
  }
}
