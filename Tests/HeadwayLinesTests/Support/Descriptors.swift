#if os(Linux)
import Foundation

/// The number of descriptors of this process that refer to a file.
func descriptorCount(of path: String) throws -> Int {
  try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count {
    (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == path
  }
}
#endif
