#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// Processor time in nanoseconds.
package enum ProcessorTime {
  /// The time that the calling thread has used.
  package static var ofThread: UInt64 { time(of: CLOCK_THREAD_CPUTIME_ID) }
  /// The time that all threads of the process have used.
  package static var ofProcess: UInt64 { time(of: CLOCK_PROCESS_CPUTIME_ID) }

  private static func time(of clock: clockid_t) -> UInt64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}
