#if HTTP
import CHeadwayHTTP
import NIOCore

/// Undoes one coding of content with zlib, in pieces of limited size.
///
/// The first two bytes determine the format, because many servers send `deflate` without the zlib header. Empty content
/// is valid in every coding.
final class ContentDecoder {
  private enum State {
    /// Fewer than two bytes have been received.
    case unbegun
    case decoding
    /// A gzip member has ended; another member can follow (RFC 1952, 2.2).
    case ended
    /// The remaining bytes belong to no member. Browsers and gzip itself ignore such bytes.
    case ignoring
  }

  /// The largest size of a piece.
  private static let pieceBytes = 64 << 10

  private let coding: ContentCoding
  // Allocated on the heap, because zlib keeps a pointer to the stream.
  private let stream: UnsafeMutablePointer<z_stream>
  private var state = State.unbegun
  private var isInitialized = false
  private var isGzip = false
  private var isFurtherMember = false
  /// Whether zlib might have more output than fit into the last piece.
  private var hasMore = false
  private var input = ByteBuffer()

  init(_ coding: ContentCoding) {
    self.coding = coding
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
  }

  deinit {
    if isInitialized { inflateEnd(stream) }
    stream.deallocate()
  }

  /// Adds received bytes.
  func add(_ piece: ByteBuffer) {
    var piece = piece
    if input.readableBytes == 0 { input = piece } else { input.writeBuffer(&piece) }
  }

  /// Returns the next piece of the content; nil if more bytes are needed.
  func next() throws(ContentDecodingError) -> ByteBuffer? {
    while true {
      switch state {
      case .unbegun:
        guard input.readableBytes > 1 else { return nil }
        try begin()
      case .decoding:
        guard input.readableBytes > 0 || hasMore else { return nil }
        let piece = try decoded()
        if piece.readableBytes > 0 { return piece }
      case .ended:
        guard let first = input.getInteger(at: input.readerIndex, as: UInt8.self) else { return nil }
        guard isGzip, first == 0x1F else {
          state = .ignoring
          continue
        }
        inflateReset(stream)
        (state, isFurtherMember) = (.decoding, true)
      case .ignoring:
        input.clear()
        return nil
      }
    }
  }

  /// Checks that the content is complete, after all bytes have been added.
  ///
  /// - Throws: ``ContentDecodingError/truncated`` if it is not.
  func end() throws(ContentDecodingError) {
    switch state {
    case .unbegun where input.readableBytes == 0: break
    case .decoding where isFurtherMember && stream.pointee.total_out == 0: break
    case .unbegun, .decoding: throw .truncated
    case .ended, .ignoring: break
    }
  }

  private func begin() throws(ContentDecodingError) {
    guard let head = input.getBytes(at: input.readerIndex, length: 2), let bits = windowBits(head) else {
      throw .damaged
    }
    let size = Int32(MemoryLayout<z_stream>.size)
    guard inflateInit2_(stream, bits, ZLIB_VERSION, size) == Z_OK else {
      fatalError("Out of memory while decompressing a response.")
    }
    (isInitialized, isGzip, state) = (true, bits > MAX_WBITS, .decoding)
  }

  /// Returns the format that the first two bytes indicate, as a zlib `windowBits` value.
  private func windowBits(_ head: [UInt8]) -> Int32? {
    if head == [0x1F, 0x8B] { return MAX_WBITS + 16 }
    let isZlib = head[0] & 15 == 8 && head[0] >> 4 <= 7 && ((Int(head[0]) << 8) + Int(head[1])) % 31 == 0
    return isZlib ? MAX_WBITS : coding == .deflate ? -MAX_WBITS : nil
  }

  private func decoded() throws(ContentDecodingError) -> ByteBuffer {
    var output = ByteBufferAllocator().buffer(capacity: Self.pieceBytes)
    var result = Z_OK
    input.readWithUnsafeMutableReadableBytes { source in
      stream.pointee.next_in = source.baseAddress?.assumingMemoryBound(to: Bytef.self)
      stream.pointee.avail_in = uInt(clamping: source.count)
      let given = Int(stream.pointee.avail_in)
      output.writeWithUnsafeMutableBytes(minimumWritableBytes: Self.pieceBytes) { target in
        let room = min(target.count, Self.pieceBytes)
        stream.pointee.next_out = target.baseAddress?.assumingMemoryBound(to: Bytef.self)
        stream.pointee.avail_out = uInt(room)
        result = inflate(stream, Z_NO_FLUSH)
        return room - Int(stream.pointee.avail_out)
      }
      return given - Int(stream.pointee.avail_in)
    }
    hasMore = stream.pointee.avail_out == 0
    switch result {
    case Z_STREAM_END: state = .ended
    // More input or more room for output is needed.
    case Z_OK, Z_BUF_ERROR: break
    case _ where isFurtherMember && stream.pointee.total_out == 0: state = .ignoring
    default: throw .damaged
    }
    return output
  }
}
#endif
