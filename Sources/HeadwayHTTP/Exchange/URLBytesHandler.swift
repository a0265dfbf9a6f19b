#if HTTP
import NIOCore
import NIOHTTP1

/// Preserves bytes of URLs that are not UTF-8.
///
/// It percent-encodes such bytes in a `Location` field, as curl does. NIO's header fields are strings, which replace
/// such bytes, so the redirect would lead to another URL. In a request, it restores a ``RequestTarget``.
final class URLBytesHandler: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundIn = HTTPClientRequestPart
  typealias OutboundOut = HTTPClientRequestPart

  /// A longer line is passed on unchanged.
  private static let maxLineBytes = 16 << 10
  private static let field = Array("location:".utf8)
  private static let lineFeed = UInt8(ascii: "\n")

  // Used only on the event loop of the connection.
  private var state = State.body
  /// The beginning of a line of a head.
  private var held = ByteBuffer()

  private enum State {
    /// A head is next, or empty lines before it.
    case beginning
    case head(isInformational: Bool)
    /// All bytes until the next request are passed on.
    case body
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    // The connection handles one request at a time.
    guard case .head(var head) = unwrapOutboundIn(data) else { return context.write(data, promise: promise) }
    state = .beginning
    head.uri = RequestTarget.restored(head.uri)
    context.write(wrapOutboundOut(.head(head)), promise: promise)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if case .body = state { return context.fireChannelRead(data) }
    var piece = unwrapInboundIn(data)
    if held.readableBytes > 0 {
      held.writeBuffer(&piece)
      (piece, held) = (held, ByteBuffer())
    }
    var passed = context.channel.allocator.buffer(capacity: piece.readableBytes)
    while !isInBody, let end = piece.readableBytesView.firstIndex(of: Self.lineFeed),
      let line = piece.readSlice(length: end + 1 - piece.readerIndex)
    {
      pass(line, to: &passed)
    }
    if !isInBody, piece.readableBytes <= Self.maxLineBytes {
      held = piece
    } else {
      // If the line is too long, the rest of the head is passed on, too.
      state = .body
      passed.writeBuffer(&piece)
    }
    if passed.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(passed)) }
  }

  func channelInactive(context: ChannelHandlerContext) {
    if held.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(held)) }
    held = ByteBuffer()
    context.fireChannelInactive()
  }

  private var isInBody: Bool { if case .body = state { true } else { false } }

  private func pass(_ line: ByteBuffer, to passed: inout ByteBuffer) {
    let bytes = line.readableBytesView
    let isEmpty = bytes.count <= 2 && bytes.allSatisfy { $0 == Self.lineFeed || $0 == UInt8(ascii: "\r") }
    switch state {
    case .beginning:
      // `HTTP/1.1 103 Early Hints` is followed by another head; no other head follows 101.
      let status = bytes.dropFirst(9).prefix(3)
      if !isEmpty {
        state = .head(isInformational: status.first == UInt8(ascii: "1") && !status.elementsEqual("101".utf8))
      }
    case .head(let isInformational): if isEmpty { state = isInformational ? .beginning : .body }
    case .body: break
    }
    guard bytes.count > Self.field.count, bytes.contains(where: { $0 >= 0x80 }),
      zip(Self.field, bytes).allSatisfy({ $0 == $1 | 0x20 }),
      String(validating: bytes, as: UTF8.self) == nil
    else {
      passed.writeImmutableBuffer(line)
      return
    }
    for byte in bytes {
      if byte < 0x80 {
        passed.writeInteger(byte)
      } else {
        passed.writeString("%" + String(byte, radix: 16).uppercased())
      }
    }
  }
}
#endif
