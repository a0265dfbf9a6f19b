#if canImport(Glibc)
import Foundation
import Testing

/// The largest resident memory that the process ever had, in bytes.
///
/// Not `ru_maxrss`, which includes the memory of the parent process before it became this one.
func peakMemory() throws -> Int {
  let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
  let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
  return try #require(Int(line.split(separator: " ").dropFirst().first ?? "")) * 1_024
}
#endif
