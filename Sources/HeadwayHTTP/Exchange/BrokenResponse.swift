#if HTTP
import NIOCore
import NIOHTTP1
import NIOSSL

/// The reason why a response ended before it was complete.
enum BrokenResponse: Error {
  /// The connection was closed.
  case closed
  /// The connection was lost, for example because of the system error with this number.
  case lost(errno: CInt?)
  /// The rest of the response is not valid HTTP.
  case invalid

  init(_ error: any Error) {
    self =
      switch error {
      case HTTPParserError.invalidEOFState, HTTPParserError.closedConnection: .closed
      case is HTTPParserError: .invalid
      case let error as IOError: .lost(errno: error.errnoCode)
      default: .lost(errno: nil)
      }
  }

  // MARK: The last piece of the body

  /// Begins the piece that ends the body of a broken response.
  ///
  /// No server can know these bytes.
  private static let mark = (0..<4).map { _ in UInt64.random(in: .min ... .max) }

  private static let closedCode: CInt = 0
  private static let lostCode: CInt = -1
  private static let invalidCode: CInt = -2

  /// The last piece of the body of a response that broke for this reason.
  var lastPiece: ByteBuffer {
    var piece = ByteBuffer()
    for number in Self.mark { piece.writeInteger(number) }
    piece.writeInteger(code)
    return piece
  }

  private var code: CInt {
    switch self {
    case .closed: Self.closedCode
    case .lost(let number): number ?? Self.lostCode
    case .invalid: Self.invalidCode
    }
  }

  /// Creates the reason that a piece of a body contains; nil if the piece is content.
  init?(lastPiece piece: ByteBuffer) {
    var piece = piece
    guard piece.readableBytes == Self.mark.count * 8 + 4,
      Self.mark.allSatisfy({ piece.readInteger() == $0 }), let code = piece.readInteger(as: CInt.self)
    else { return nil }
    self =
      switch code {
      case Self.closedCode: .closed
      case Self.invalidCode: .invalid
      default: .lost(errno: code == Self.lostCode ? nil : code)
      }
  }
}

/// Passes on all bytes of a response that arrived before its connection broke.
///
/// If a connection breaks, NIO reads all bytes that the system has received, but AsyncHTTPClient 1.37 drops the bytes
/// that its reader has not requested yet. With a server that breaks connections after a few kilobytes, no download
/// would make progress. Therefore, this handler ends a broken response as if it were complete, after a last piece with
/// the reason. `ContentBody` turns that piece into an error.
final class BrokenResponseHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPClientResponsePart
  typealias InboundOut = HTTPClientResponsePart

  // Used only on the event loop of the connection.
  private var state = State.idle

  private enum State {
    /// Since the last response ended, no response has begun, or only an informational response.
    case idle
    case receiving
    case broken
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard state != .broken else { return }
    switch unwrapInboundIn(data) {
    // AsyncHTTPClient ignores the same heads.
    case .head(let head): state = head.status.code >= 200 || head.status == .switchingProtocols ? .receiving : .idle
    case .body: break
    case .end: state = .idle
    }
    context.fireChannelRead(data)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    switch state {
    case .idle: context.fireErrorCaught(error)
    case .receiving: end(BrokenResponse(error), context)
    case .broken: break
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    if state == .receiving { end(.closed, context) }
    context.fireChannelInactive()
  }

  private func end(_ reason: BrokenResponse, _ context: ChannelHandlerContext) {
    state = .broken
    // After this call, AsyncHTTPClient expects no part before it reads again. If a response ends there, AsyncHTTPClient
    // passes on the bytes that it has, closes the connection, and does not use it for another request.
    context.fireChannelReadComplete()
    context.fireChannelRead(wrapInboundOut(.body(reason.lastPiece)))
    context.fireChannelRead(wrapInboundOut(.end(nil)))
    context.fireChannelReadComplete()
  }
}
#endif
