import Dispatch
import Synchronization

/// Makes the threads of the pools.
///
/// A thread inherits the nice value of the one that makes it and can't lower it. So threads with a raised nice value
/// leave the making of threads to one that has none: it is there from before the first of them is made.
final class ThreadMaker: Sendable {
  private static let shared = ThreadMaker()

  private let waiting = Mutex<[Worker]>([])
  private let wake = DispatchSemaphore(value: 0)

  private init() {
    startThread {
      while true {
        Self.shared.wake.wait()
        Self.shared.waiting.withLock { $0.popLast() }?.start()
      }
    }
  }

  /// Before a thread raises its nice value, or makes one that will.
  static func prepare() { _ = shared }

  /// Makes the worker's thread.
  static func start(_ worker: Worker) {
    if worker.pool.workerClass != .normal { prepare() }
    guard let current = Worker.current, !current.isNormal else { return worker.start() }
    shared.waiting.withLock { $0.append(worker) }
    shared.wake.signal()
  }
}
