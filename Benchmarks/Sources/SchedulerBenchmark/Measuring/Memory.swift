import CSystemStatistics
import Glibc

/// The memory of this process.
enum Memory {
  /// The number of allocated bytes, according to the statistics of the C library.
  static var allocatedBytes: Int { Int(system_statistics_allocated_bytes()) }

  /// The number of bytes of this process in physical memory.
  static var residentBytes: Int {
    let pages = ProcessFile.text("/proc/self/statm").split(separator: " ")
    return (Int(pages[1]) ?? 0) * sysconf(Int32(_SC_PAGESIZE))
  }

  static func trim() { system_statistics_trim() }
}
