#if Compression
/// The bytes of a compressed file, for the library that unpacks it: those that were read to find out what it is, and
/// then the rest.
///
/// Used by the one that owns the file.
final class CompressedBytes {
  private let descriptor: Int32
  /// Bytes that were read before this was made, and were not handed out yet.
  private var head: [UInt8]
  private let buffer: UnsafeMutableRawBufferPointer
  /// How many bytes of the file have been read.
  private(set) var bytesRead: Int

  private static let bufferSize = 128 << 10

  /// - Parameters:
  ///   - head: What has been read of the file.
  ///   - descriptor: The file, which is not closed.
  init(head: [UInt8], descriptor: Int32) {
    (self.head, self.descriptor, bytesRead) = (head, descriptor, head.count)
    buffer = .allocate(byteCount: max(Self.bufferSize, head.count), alignment: 16)
  }

  deinit { buffer.deallocate() }

  /// The bytes that come next, which stay until the next call; none at the end.
  ///
  /// - Throws: `Platform.Failure`.
  func next() throws(Platform.Failure) -> UnsafeMutableRawBufferPointer {
    let count: Int
    if head.isEmpty {
      count = try Platform.read(descriptor, into: buffer)
      bytesRead += count
    } else {
      count = head.count
      buffer.copyBytes(from: head)
      head = []
    }
    return UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
  }
}
#endif
