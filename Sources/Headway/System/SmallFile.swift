#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// Files of the system that contain one line of information, such as those in `/proc` and `/sys`.
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
