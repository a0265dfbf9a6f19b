/// Finds the last lines of a file without reading what is before them.
struct LastLines {
  let descriptor: Int32
  /// The number of bytes in the file.
  let size: Int
  let lineEnding: LineReader.Options.LineEnding

  private static let chunkSize = 64 << 10

  /// Returns the position where a number of complete lines at the end of the file begin.
  ///
  /// Bytes after the last line ending are not a complete line.
  ///
  /// - Parameters:
  ///   - count: The number of complete lines.
  ///   - check: Called before each read. If it throws, the search ends.
  /// - Returns: The position, in bytes. Zero if there are not so many lines.
  /// - Throws: `Platform.Failure`, or the error that `check` throws.
  /// - Complexity: O(*n*) in the number of bytes after the position.
  func start(ofLast count: Int, _ check: () throws -> Void) throws -> Int {
    let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.chunkSize, alignment: 16)
    defer { chunk.deallocate() }
    var remaining = count
    var end = size
    // The byte after the one that is examined; nil at the end of the file.
    var following: UInt8?
    while end > 0 {
      try check()
      let part = UnsafeMutableRawBufferPointer(rebasing: chunk[..<min(end, chunk.count)])
      let start = end - part.count
      // Fewer bytes: the file is being truncated, and begins again.
      guard try Platform.read(descriptor, into: part, at: start) == part.count else { return 0 }
      for offset in part.indices.reversed() {
        let byte = part[offset]
        if isLineEnd(byte, before: following) {
          if remaining == 0 { return start + offset + 1 }
          remaining -= 1
        }
        following = byte
      }
      end = start
    }
    return 0
  }

  /// Returns whether a byte is the last byte of a line ending.
  private func isLineEnd(_ byte: UInt8, before following: UInt8?) -> Bool {
    if byte == LineScanner.lineFeed { return true }
    guard lineEnding == .any, byte == LineScanner.carriageReturn, let following else { return false }
    return following != LineScanner.lineFeed
  }
}
