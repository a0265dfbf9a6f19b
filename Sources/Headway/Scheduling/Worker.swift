import Dispatch
import Synchronization

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// One thread of the pool.
final class Worker: @unchecked Sendable {  // `wake` protects itself; the pool's lock protects `isComing`.
  enum Role {
    case work, monitor
  }

  let role: Role
  let wake = DispatchSemaphore(value: 0)
  /// Counted among the coming.
  var isComing = true

  init(_ role: Role) { self.role = role }

  // MARK: The current thread

  private static let key = ThreadKey()

  /// Whether the calling thread is a worker.
  static var isCurrentThread: Bool { key.value != nil }

  fileprivate func becomeCurrentThread() { Self.key.value = Unmanaged.passUnretained(self).toOpaque() }
}

extension WorkerPool {
  /// Makes the worker's thread.
  ///
  /// If that is refused and others are there, its work is left to them.
  func start(_ worker: Worker) {
    let argument = Unmanaged.passRetained(worker)
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    #if canImport(Darwin)
      var thread: pthread_t?
      let result = pthread_create(&thread, &attributes, { WorkerPool.main($0) }, argument.toOpaque())
    #else
      var thread = pthread_t()
      let result = pthread_create(&thread, &attributes, { WorkerPool.main($0!) }, argument.toOpaque())
    #endif
    guard result != 0 else { return }
    argument.release()
    let remaining = state.withLock { state in
      if worker.role == .monitor {
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

  private static func main(_ argument: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
    let worker = Unmanaged<Worker>.fromOpaque(argument).takeRetainedValue()
    switch worker.role {
    case .work:
      worker.becomeCurrentThread()
      shared.run(worker)
    case .monitor:
      shared.runMonitor(worker)
    }
    return nil
  }
}
