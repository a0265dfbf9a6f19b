#if Compression
import CArchive

/// Unpacks a file of gzip while it is read, by zlib, one member after the other, in constant memory.
///
/// Not by libarchive, which reads over gzip's checksums: a single wrong bit is mostly found by these alone, and other
/// bytes would come out of the file without an error.
///
/// Used by the one that owns the file.
final class GzipDecompressor: Unpacker, @unchecked Sendable {
  // Where it is must not change, since zlib refers to it.
  private let stream: UnsafeMutablePointer<z_stream>
  private let input: CompressedBytes
  /// A member has ended, and no other has begun.
  private var isBetweenMembers = false
  private var isAtEnd = false
  /// Found behind bytes that were handed out first.
  private var problem: UnpackingProblem?

  /// With a header and checksums as gzip has them, and a window of 32 KB.
  private static let windowBits = Int32(MAX_WBITS + 16)

  /// - Parameters:
  ///   - head: What has been read of the file.
  ///   - descriptor: The file, which is not closed.
  init(head: [UInt8], descriptor: Int32) {
    input = CompressedBytes(head: head, descriptor: descriptor)
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
    let size = Int32(MemoryLayout<z_stream>.size)
    guard inflateInit2_(stream, Self.windowBits, ZLIB_VERSION, size) == Z_OK else {
      fatalError("Out of memory: unpacking a file.")
    }
  }

  deinit {
    inflateEnd(stream)
    stream.deallocate()
  }

  let countsCompressedBytes = true

  var bytesRead: Int { input.bytesRead }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(UnpackingProblem) -> Int {
    while true {
      if let problem { throw problem }
      if stream.pointee.avail_in == 0, !isAtEnd { try fill() }
      if isBetweenMembers {
        guard beginMember() else {
          if isAtEnd { return 0 }
          continue
        }
      }
      let count = unpack(into: buffer)
      if count > 0 { return count }
    }
  }

  private func fill() throws(UnpackingProblem) {
    do {
      let bytes = try input.next()
      isAtEnd = bytes.isEmpty
      stream.pointee.next_in = bytes.baseAddress?.assumingMemoryBound(to: Bytef.self)
      stream.pointee.avail_in = uInt(bytes.count)
    } catch { throw .unreadable(error) }
  }

  /// Passes over zeros, with which files are filled up to whole blocks, and begins another member behind them.
  ///
  /// - Returns: False if no more bytes are there.
  private func beginMember() -> Bool {
    while stream.pointee.avail_in > 0, stream.pointee.next_in?.pointee == 0 {
      stream.pointee.next_in += 1
      stream.pointee.avail_in -= 1
    }
    guard stream.pointee.avail_in > 0 else { return false }
    inflateReset(stream)
    isBetweenMembers = false
    return true
  }

  /// Unpacks what is there, and notes how that ended.
  ///
  /// - Returns: How many bytes came of it.
  private func unpack(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    let room = min(buffer.count, Int(uInt.max))
    stream.pointee.next_out = buffer.baseAddress?.assumingMemoryBound(to: Bytef.self)
    stream.pointee.avail_out = uInt(room)
    let result = inflate(stream, Z_NO_FLUSH)
    let count = room - Int(stream.pointee.avail_out)
    switch result {
    case Z_STREAM_END: isBetweenMembers = true
    case Z_OK where count > 0 || !isAtEnd: break
    // More bytes are needed.
    case Z_BUF_ERROR where !isAtEnd: break
    default: problem = .damaged
    }
    return count
  }
}
#endif
