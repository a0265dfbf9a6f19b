import CSystemStatistics
import Glibc

/// The memory of this process.
enum Memory {
  /// Bytes that are allocated, by the statistics of the C library.
  static var allocatedBytes: Int { Int(system_statistics_allocated_bytes()) }

  /// Bytes of this process that are in memory.
  static var residentBytes: Int {
    let pages = ProcessFile.text("/proc/self/statm").split(separator: " ")
    return (Int(pages[1]) ?? 0) * sysconf(Int32(_SC_PAGESIZE))
  }

  static func trim() { system_statistics_trim() }
}
