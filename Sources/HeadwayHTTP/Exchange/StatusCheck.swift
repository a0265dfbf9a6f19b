#if HTTP
import NIOCore
import NIOHTTP1

/// Rejects a response whose status has fewer than three digits.
///
/// AsyncHTTPClient ignores the head of a response with a status below 200, because it expects another response. It
/// stops the program if such a response ends and its status is not from 100 to 199.
final class StatusCheck: ChannelInboundHandler {
  typealias InboundIn = HTTPClientResponsePart
  typealias InboundOut = HTTPClientResponsePart

  // Used only on the event loop of the connection.
  private var isRejected = false

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isRejected else { return }
    if case .head(let head) = unwrapInboundIn(data), head.status.code < 100 {
      isRejected = true
      context.fireErrorCaught(HTTPParserError.invalidStatus)
      context.close(promise: nil)
    } else {
      context.fireChannelRead(data)
    }
  }
}
#endif
