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

  /// Sets the nice value of the thread to that of a class, if that is allowed.
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
