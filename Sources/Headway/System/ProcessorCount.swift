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

/// The number of processors that the process can use, as opposed to the number that the machine has.
enum ProcessorCount {
  /// The number is determined once, when Headway is first used.
  static let usable = max(1, quota.map { min($0, allowed) } ?? allowed)

  #if canImport(Darwin)
  private static var allowed: Int { Int(sysconf(_SC_NPROCESSORS_ONLN)) }
  private static var quota: Int? { nil }
  #else
  /// The number from the affinity mask (sched_getaffinity(2)), which `taskset` and container runtimes set.
  private static var allowed: Int {
    var mask = [UInt](repeating: 0, count: 128)  // 8,192 processors: the maximum that Linux can be built for.
    let size = headway_affinity_mask(&mask, UInt(mask.count * MemoryLayout<UInt>.stride))
    let count = mask.reduce(0) { $0 + $1.nonzeroBitCount }
    return size > 0 && count > 0 ? count : Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))
  }

  /// The number from the quota of the process's control groups, rounded up; nil if there is no quota.
  private static var quota: Int? {
    quota(controlGroups: SmallFile.text(at: "/proc/self/cgroup") ?? "") { SmallFile.text(at: "/sys/fs/cgroup" + $0) }
  }
  #endif

  /// Returns the smallest quota of the groups in `/proc/self/cgroup` and of their parent groups.
  ///
  /// Version 2 has "quota period" or "max period" in `cpu.max`. Version 1 has one file for each value (kernel.org,
  /// "Control Group v2", "CPU Interface Files").
  ///
  /// - Parameters:
  ///   - controlGroups: Lines in the form "number:controllers:path".
  ///   - read: Reads a file below the mount point.
  /// - Returns: The number of processors, rounded up; nil if there is no quota.
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

/// System files that contain one line of information, such as the files in `/proc` and `/sys`.
enum SmallFile {
  /// Returns the first bytes of a file as text.
  ///
  /// - Parameter path: The path of the file.
  /// - Returns: The text, or nil if the file can't be read.
  static func text(at path: String) -> String? {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    return withUnsafeTemporaryAllocation(byteCount: 4_096, alignment: 1) { buffer in
      let count = read(file, buffer.baseAddress, buffer.count)
      return count >= 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
    }
  }
}

/// Memory of the size of a cache line, so that the properties before and after it are in different ones.
struct CacheLine: Sendable {
  private let words: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0, 0, 0)
}
