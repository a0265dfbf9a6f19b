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

/// How many processors the process may use: not what the machine has.
enum ProcessorCount {
  /// Read once, when the library is first used.
  static let usable = max(1, quota.map { min($0, allowed) } ?? allowed)

  #if canImport(Darwin)
  private static var allowed: Int { Int(sysconf(_SC_NPROCESSORS_ONLN)) }
  private static var quota: Int? { nil }
  #else
  /// By the affinity mask (sched_getaffinity(2)), which `taskset` and container runtimes set.
  private static var allowed: Int {
    var mask = [UInt](repeating: 0, count: 128)  // 8,192 processors, which is as many as Linux can be built for.
    let size = headway_affinity_mask(&mask, UInt(mask.count * MemoryLayout<UInt>.stride))
    let count = mask.reduce(0) { $0 + $1.nonzeroBitCount }
    return size > 0 && count > 0 ? count : Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))
  }

  /// By the quota of the control groups that the process is in, rounded up; nil if there is none.
  private static var quota: Int? {
    quota(controlGroups: SmallFile.text(at: "/proc/self/cgroup") ?? "") { SmallFile.text(at: "/sys/fs/cgroup" + $0) }
  }
  #endif

  /// The smallest quota of the groups in `/proc/self/cgroup` and of the groups around them.
  ///
  /// Version 2 says "quota period" or "max period" in `cpu.max`; version 1 has a file for each (kernel.org,
  /// "Control Group v2", "CPU Interface Files").
  ///
  /// - Parameters:
  ///   - controlGroups: Lines of "number:controllers:path".
  ///   - read: Reads a file below the mount point.
  /// - Returns: Whole processors, rounded up.
  static func quota(controlGroups: String, read: (String) -> String?) -> Int? {
    var smallest: Int?
    for line in controlGroups.split(separator: "\n") {
      let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard parts.count == 3 else { continue }
      var path = parts[2]
      while true {
        let folder = path == "/" ? "" : path
        if let processors = processors(parts[1], folder, read) { smallest = min(smallest ?? processors, processors) }
        guard let slash = path.lastIndex(of: "/"), !folder.isEmpty else { break }
        path = slash == path.startIndex ? "/" : path[..<slash]
      }
    }
    return smallest
  }

  private static func processors(
    _ controllers: Substring, _ folder: Substring, _ read: (String) -> String?
  ) -> Int? {
    var words: [Int?] = []
    if controllers.isEmpty {
      words = read("\(folder)/cpu.max")?.split(whereSeparator: \.isWhitespace).map { Int($0) } ?? []
    } else if controllers.split(separator: ",").contains("cpu") {
      words = ["quota", "period"].map { name in
        read("/cpu\(folder)/cpu.cfs_\(name)_us").flatMap { Int($0.filter { !$0.isWhitespace }) }
      }
    }
    guard words.count == 2, let quota = words[0], let period = words[1], quota > 0, period > 0 else { return nil }
    return (quota + period - 1) / period
  }
}
