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

/// The nice value of the calling thread.
///
/// On Linux, each thread has its own nice value (setpriority(2), "C library/kernel differences").
///
/// Raising it requires no privilege, but lowering it does. A thread inherits the value of the thread that creates it.
/// If a user's thread with a raised value creates a Headway thread, that thread can get its own value only in a process
/// with the privilege (`CAP_SYS_NICE`, or `RLIMIT_NICE`). Otherwise, it keeps the value of its creator.
enum ThreadNiceness {
  #if canImport(Darwin)
  /// On Darwin, threads have a quality of service instead.
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
  /// Sets the nice value of the calling thread, which has just been created, to that of a class.
  ///
  /// - Returns: False if the thread keeps a greater value, which it has inherited and is not allowed to lower.
  static func enter(_ workerClass: WorkerClass) -> Bool {
    let wanted = min(value(of: getpid()) + workerClass.niceValue, greatest)
    if current != wanted { current = wanted }
    return current <= wanted
  }

  private static let greatest: Int32 = 19

  /// Values outside the range are clamped.
  ///
  /// A value is ignored if the privilege for it is missing.
  static var current: Int32 {
    get { value(of: headway_thread_identifier()) }
    set { setpriority(Int32(PRIO_PROCESS.rawValue), id_t(headway_thread_identifier()), newValue) }
  }

  /// Sets the nice value of another thread to that of a class, if that is allowed.
  static func set(_ workerClass: WorkerClass, of thread: pid_t) {
    let wanted = min(value(of: getpid()) + workerClass.niceValue, greatest)
    setpriority(Int32(PRIO_PROCESS.rawValue), id_t(thread), wanted)
  }

  private static func value(of thread: pid_t) -> Int32 { getpriority(Int32(PRIO_PROCESS.rawValue), id_t(thread)) }
  #endif
}
