#if Compression
import CArchive

/// Unpacks a gzip file while it is read, with zlib, one member after the other, in constant memory.
///
/// Does not use libarchive, because it ignores gzip's checksums. In most cases only the checksums reveal a single wrong
/// bit; without them, reading would return wrong bytes without an error.
///
/// Used only by the object that owns the file.
final class GzipDecompressor: Unpacker, @unchecked Sendable {
  // Its address must not change, because zlib refers to it.
  private let stream: UnsafeMutablePointer<z_stream>
  private let input: CompressedBytes
  /// Whether a member has ended and no other has begun.
  private var isBetweenMembers = false
  private var isAtEnd = false
  /// A problem found after bytes that had to be handed out first.
  private var problem: UnpackingProblem?

  /// Specifies gzip headers and checksums, and a window of 32 KB.
  private static let windowBits = Int32(MAX_WBITS + 16)

  /// - Parameter input: The bytes of the file.
  init(_ input: CompressedBytes) {
    self.input = input
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

  /// Skips zeros, which pad some files to whole blocks, and begins the next member after them.
  ///
  /// - Returns: False at the end of the available bytes.
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

  /// Unpacks the available input and records the result.
  ///
  /// - Returns: The number of unpacked bytes.
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
