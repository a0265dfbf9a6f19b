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
/// Raising it takes no privilege; lowering it does.
enum ThreadNiceness {
  #if canImport(Darwin)
    /// Threads have a quality of service instead.
    static func enter(_ workerClass: WorkerClass) {
      switch workerClass {
      case .normal: break
      case .utility: pthread_set_qos_class_self_np(QOS_CLASS_UTILITY, 0)
      case .background: pthread_set_qos_class_self_np(QOS_CLASS_BACKGROUND, 0)
      }
    }

    static var current: Int32 {
      get { 0 }
      set {}
    }
  #else
    /// That of the process's first thread when the first worker began.
    private static let normal = value(of: getpid())

    /// Gives the calling thread the nice value of a class.
    static func enter(_ workerClass: WorkerClass) {
      let normal = normal
      if workerClass != .normal { current = normal + workerClass.niceValue }
    }

    /// Values beyond the ends are taken to the ends; one for which the privilege is missing is ignored.
    static var current: Int32 {
      get { value(of: headway_thread_identifier()) }
      set { setpriority(Int32(PRIO_PROCESS.rawValue), id_t(headway_thread_identifier()), newValue) }
    }

    private static func value(of thread: pid_t) -> Int32 { getpriority(Int32(PRIO_PROCESS.rawValue), id_t(thread)) }
  #endif
}
