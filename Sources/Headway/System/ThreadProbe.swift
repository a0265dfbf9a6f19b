import CHeadway

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// Lets other threads find out whether a thread is blocked.
struct ThreadProbe: Sendable {
  #if canImport(Darwin)
  private let port: mach_port_t

  /// Creates a probe for the calling thread.
  init() { port = pthread_mach_thread_np(pthread_self()) }

  /// The processor time that the thread has used, in nanoseconds; nil once the thread has ended.
  var processorTime: UInt64? {
    information.map { information in
      let seconds = UInt64(information.user_time.seconds + information.system_time.seconds)
      return seconds * 1_000_000_000
        + UInt64(information.user_time.microseconds + information.system_time.microseconds) * 1_000
    }
  }

  /// Whether the thread sleeps in the kernel, as opposed to waiting for a processor; nil if unknown.
  var isSleeping: Bool? {
    information.map { [TH_STATE_WAITING, TH_STATE_UNINTERRUPTIBLE].contains($0.run_state) }
  }

  /// Does nothing: the quality of service of a thread can't be changed from outside.
  func setNiceness(of workerClass: WorkerClass) {}

  private var information: thread_basic_info_data_t? {
    var information = thread_basic_info_data_t()
    let words = MemoryLayout<thread_basic_info_data_t>.size / MemoryLayout<natural_t>.size
    var count = mach_msg_type_number_t(words)
    let result = withUnsafeMutablePointer(to: &information) { pointer in
      pointer.withMemoryRebound(to: integer_t.self, capacity: words) {
        thread_info(port, thread_flavor_t(THREAD_BASIC_INFO), $0, &count)
      }
    }
    return result == KERN_SUCCESS ? information : nil
  }
  #else
  private let identifier: pid_t
  private let clock: clockid_t

  /// Creates a probe for the calling thread.
  init() {
    identifier = headway_thread_identifier()
    var clock = clockid_t()
    pthread_getcpuclockid(pthread_self(), &clock)
    self.clock = clock
  }

  /// Sets the nice value of the thread to a class's value, if that is allowed.
  func setNiceness(of workerClass: WorkerClass) { ThreadNiceness.set(workerClass, of: identifier) }

  /// The processor time that the thread has used, in nanoseconds; nil once the thread has ended.
  ///
  /// Like the wall clock, libfaketime moves this clock: it can be negative, which is nil too, and it can jump.
  var processorTime: UInt64? {
    var time = timespec()
    guard clock_gettime(clock, &time) == 0, time.tv_sec >= 0 else { return nil }
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  /// Whether the thread sleeps in the kernel, as opposed to waiting for a processor; nil if unknown.
  ///
  /// It is unknown if no file can be opened, or if `/proc` is missing.
  ///
  /// The state is the letter after the name, which ends at the last closing parenthesis (proc_pid_stat(5)): S and D
  /// mean that the thread sleeps.
  var isSleeping: Bool? {
    guard let line = SmallFile.text(at: "/proc/self/task/\(identifier)/stat")?.utf8,
      let name = line.lastIndex(of: UInt8(ascii: ")"))
    else { return nil }
    return line[name...].dropFirst(2).first.map { $0 == UInt8(ascii: "S") || $0 == UInt8(ascii: "D") }
  }
  #endif
}

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
  /// Sets the nice value of the calling thread, which has just been created, to a class's value.
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

  /// Sets the nice value of another thread to a class's value, if that is allowed.
  static func set(_ workerClass: WorkerClass, of thread: pid_t) {
    let wanted = min(value(of: getpid()) + workerClass.niceValue, greatest)
    setpriority(Int32(PRIO_PROCESS.rawValue), id_t(thread), wanted)
  }

  private static func value(of thread: pid_t) -> Int32 { getpriority(Int32(PRIO_PROCESS.rawValue), id_t(thread)) }
  #endif
}

/// Lets another thread run on the processor of the calling thread.
func yieldProcessor() { sched_yield() }
