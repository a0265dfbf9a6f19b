import CHeadway
package import Dispatch

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// Distinguishes the main dispatch queue from other queues.
///
/// It uses a value that is set on the queue. On Linux, each read of `DispatchQueue.main` creates another object, so the
/// objects can't be compared. Once `dispatchMain()` or an asynchronous `main` serves the queue, the process's first
/// thread has ended and Dispatch runs the queue on any of its threads, so the thread is not sufficient either.
package enum MainDispatchQueue {
  private static let key: DispatchSpecificKey<Void> = {
    let key = DispatchSpecificKey<Void>()
    DispatchQueue.main.setSpecific(key: key, value: ())
    return key
  }()

  /// Whether `queue` is the main dispatch queue.
  package static func isSame(as queue: DispatchQueue) -> Bool { queue.getSpecific(key: key) != nil }

  /// Whether the calling code runs on the main dispatch queue, or on the thread that initially serves the queue.
  static var isCurrent: Bool { isFirstThread || DispatchQueue.getSpecific(key: key) != nil }

  private static var isFirstThread: Bool {
    #if canImport(Darwin)
    pthread_main_np() != 0
    #else
    headway_thread_identifier() == getpid()
    #endif
  }
}
