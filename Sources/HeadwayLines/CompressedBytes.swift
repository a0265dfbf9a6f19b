#if Compression
/// Supplies the bytes of a compressed file to the library that unpacks it: first the bytes that were read to detect the
/// format, then the rest.
///
/// Used only by the object that owns the file.
final class CompressedBytes {
  private let descriptor: Int32
  private let isSeekable: Bool
  /// Bytes that were read before this object was created and that have not been handed out.
  private var head: [UInt8]
  private let buffer: UnsafeMutableRawBufferPointer
  /// How many bytes of the file have been read.
  private(set) var bytesRead: Int

  private static let bufferSize = 128 << 10

  /// - Parameters:
  ///   - head: The bytes that have already been read from the file.
  ///   - descriptor: The open file, which contains compressed data. This object does not close it.
  ///   - isSeekable: Whether bytes at any position of the file can be read.
  init(head: [UInt8], descriptor: Int32, isSeekable: Bool) {
    (self.head, self.descriptor, self.isSeekable, bytesRead) = (head, descriptor, isSeekable, head.count)
    buffer = .allocate(byteCount: max(Self.bufferSize, head.count), alignment: 16)
  }

  deinit { buffer.deallocate() }

  /// Returns the next bytes, which stay valid until the next call.
  ///
  /// Empty at the end of the file.
  ///
  /// - Throws: `Platform.Failure`.
  func next() throws(Platform.Failure) -> UnsafeMutableRawBufferPointer {
    let count: Int
    if head.isEmpty {
      count = try Platform.read(descriptor, into: buffer, at: isSeekable ? bytesRead : nil)
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
