import Foundation

/// The processor time and memory of this process, and the bytes that it has written.
enum ProcessFigures {
  /// The number of bytes of files that this process has changed.
  static func writtenBytes() throws -> Int {
    let lines = try String(contentsOfFile: "/proc/self/io", encoding: .utf8).split(separator: "\n")
    let line = lines.first { $0.hasPrefix("write_bytes: ") }
    guard let count = line.flatMap({ Int($0.dropFirst("write_bytes: ".count)) }) else {
      throw UsageError(text: "/proc/self/io has no line `write_bytes`")
    }
    return count
  }

  static func residentBytes() -> Int {
    let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ")
    return pages.flatMap { Int($0[1]) }.map { $0 * 4_096 } ?? 0
  }

  static func processorSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1_000_000_000
  }
}
