import Dispatch
import Synchronization

/// The thread that looks after the workers of all pools.
///
/// It finds workers that are blocked, while work waits (``WorkerWatch``). And it carries out, for workers with a raised
/// nice value, what must be done under locks that other threads take (``Guarded``), and the making of threads, which
/// would inherit that value and could not lower it. It runs nothing of the user's, and blocks on nothing but those
/// locks.
///
/// It is there from the first worker with a raised nice value, or the first work that has to wait, and ends some
/// seconds after none of that is left.
final class PoolManager: Sendable {
  static let shared = PoolManager()

  /// How long it sleeps, with nothing to do, before it ends.
  private static let idleTime = DispatchTimeInterval.seconds(5)

  /// Its thread runs, or is about to.
  private let isRunning = Atomic<Bool>(false)
  private let signal = DispatchSemaphore(value: 0)
  /// Sections to be carried out: a stack of requests, which are on the stacks of threads that wait for them.
  private let requests = Atomic<UInt>(0)
  /// A bit for each class of workers that is to be looked at.
  private let watched = Atomic<UInt8>(0)
  /// It sleeps for longer than usual between two looks.
  private let isDozing = Atomic<Bool>(false)
  /// How many workers there are that need it.
  private let lowWorkers = Atomic<Int>(0)

  private init() {}

  // MARK: Sections for others

  /// Whether there are, or have been, workers with a raised nice value: one load on the path of every lock.
  private static let hasLowWorkers = Atomic<Bool>(false)

  @inline(__always)
  static var isNeeded: Bool { hasLowWorkers.load(ordering: .relaxed) }

  private struct Request {
    let body: () -> Void
    let done: DispatchSemaphore
    var next: UInt
  }

  /// Has the pool manager call `body`, and waits until it has.
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
        // It runs, unless its thread could not be made for the one who needed it first.
        while done.wait(timeout: .now() + .milliseconds(50)) == .timedOut { _ = shared.run() }
      }
    }
  }

  private func carryOutRequests() {
    var position = requests.exchange(0, ordering: .acquiringAndReleasing)
    while let request = UnsafeMutablePointer<Request>(bitPattern: position) {
      position = request.pointee.next
      Self.carryOut(request)
      // Once it is signalled, the request is gone.
      let done = request.pointee.done
      done.signal()
    }
  }

  // A function of its own: when it returns, it has no reference to the body any more, which must not escape.
  @inline(never)
  private static func carryOut(_ request: UnsafeMutablePointer<Request>) { request.pointee.body() }

  // MARK: What it is asked for

  /// Makes sure that the thread runs, before a worker is made that needs it.
  ///
  /// - Returns: False if the thread can't be made.
  func admitLowWorker() -> Bool {
    Self.hasLowWorkers.store(true, ordering: .sequentiallyConsistent)
    lowWorkers.add(1, ordering: .sequentiallyConsistent)
    if run() { return true }
    dismissLowWorker()
    return false
  }

  /// A worker that needed the pool manager ends, or could not be made.
  func dismissLowWorker() { lowWorkers.subtract(1, ordering: .sequentiallyConsistent) }

  /// Sees to it that the workers of a class are looked at, soon and again and again, as long as
  /// ``WorkerPool/stopsWatching()`` says no.
  func watch(_ workerClass: WorkerClass) {
    watched.bitwiseOr(workerClass.bit, ordering: .sequentiallyConsistent)
    signal.signal()
    _ = run()
  }

  /// Looks soon, if it sleeps for longer than usual.
  func hurry() {
    runIfNeeded()
    if isDozing.load(ordering: .relaxed), isDozing.exchange(false, ordering: .acquiringAndReleasing) { signal.signal() }
  }

  /// Starts the thread, if it could not be made when it was needed.
  func runIfNeeded() {
    if !isRunning.load(ordering: .relaxed), watched.load(ordering: .sequentiallyConsistent) != 0 { _ = run() }
  }

  // MARK: Its thread

  /// Starts the thread, if it does not run.
  ///
  /// A request is made first, and then looked whether the thread runs; a thread that ends says so first, and then looks
  /// for requests. All four are sequentially consistent, so one of the two sees the other.
  private func run() -> Bool {
    guard !isRunning.exchange(true, ordering: .sequentiallyConsistent) else { return true }
    guard startThread(named: "headway-manager", { self.work() }) != 0 else { return true }
    isRunning.store(false, ordering: .sequentiallyConsistent)
    WorkerPool.noteMissingThread()
    return false
  }

  private func work() {
    // Where it can't, it is as slow as the thread of the user's that has made it, until it ends.
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
    // Another may have been started for what came meanwhile.
    return isRunning.exchange(true, ordering: .sequentiallyConsistent)
  }
}
