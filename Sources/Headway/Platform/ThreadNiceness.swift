#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import CHeadway
import Glibc
#elseif canImport(Musl)
import CHeadway
import Musl
#elseif canImport(Android)
import Android
import CHeadway
#endif

/// The nice value of the calling thread: on Linux each thread has its own (setpriority(2), "C library/kernel
/// differences").
///
/// Raising it takes no privilege; lowering it does. A thread inherits the value of the thread that makes it. So a
/// thread of the library that was made by one of the user's with a raised value can get its own value only in a process
/// that has the privilege (`CAP_SYS_NICE`, or `RLIMIT_NICE`); in others it keeps the value of its maker.
enum ThreadNiceness {
  #if canImport(Darwin)
  /// Threads have a quality of service instead.
  static func enter(_ workerClass: WorkerClass) -> Bool {
    switch workerClass {
    case .normal: break
    case .utility: pthread_set_qos_class_self_np(QOS_CLASS_UTILITY, 0)
    case .background: pthread_set_qos_class_self_np(QOS_CLASS_BACKGROUND, 0)
    }
    return true
  }

  static var current: Int32 {
    get { 0 }
    set {}
  }
  #else
  /// Gives the calling thread, which has just been made, the nice value of a class.
  ///
  /// - Returns: False if the thread keeps a greater one, which it has inherited and may not lower.
  static func enter(_ workerClass: WorkerClass) -> Bool {
    let wanted = min(value(of: getpid()) + workerClass.niceValue, greatest)
    if current != wanted { current = wanted }
    return current <= wanted
  }

  private static let greatest: Int32 = 19

  /// Values beyond the ends are taken to the ends; one for which the privilege is missing is ignored.
  static var current: Int32 {
    get { value(of: headway_thread_identifier()) }
    set { setpriority(Int32(PRIO_PROCESS.rawValue), id_t(headway_thread_identifier()), newValue) }
  }

  /// Gives another thread the nice value of a class, if that is allowed.
  static func set(_ workerClass: WorkerClass, of thread: pid_t) {
    let wanted = min(value(of: getpid()) + workerClass.niceValue, greatest)
    setpriority(Int32(PRIO_PROCESS.rawValue), id_t(thread), wanted)
  }

  private static func value(of thread: pid_t) -> Int32 { getpriority(Int32(PRIO_PROCESS.rawValue), id_t(thread)) }
  #endif
}
