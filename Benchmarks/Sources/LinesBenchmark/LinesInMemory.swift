import Glibc

/// The bytes of a file, and the positions of its lines.
///
/// The remaining work is to create a value from each line.
enum LinesInMemory {
  nonisolated(unsafe) private static var bytes: [UInt8] = []
  nonisolated(unsafe) private static var ends: [Int] = []

  /// Reads the file.
  ///
  /// Call this on one thread, before any other member.
  static func load(_ path: String) {
    let file = open(path, O_RDONLY)
    defer { close(file) }
    let size = Int(lseek(file, 0, SEEK_END))
    lseek(file, 0, SEEK_SET)
    bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      while count < size, case let got = read(file, buffer.baseAddress! + count, size - count), got > 0 { count += got }
    }
    ends = bytes.indices.filter { bytes[$0] == UInt8(ascii: "\n") }
  }

  static func forEachLine(_ body: (UnsafeRawBufferPointer) -> Void) {
    bytes.withUnsafeBytes { bytes in
      var start = 0
      for end in ends {
        body(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
        start = end + 1
      }
    }
  }
}
