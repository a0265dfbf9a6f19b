import NIOCore
import NIOHTTP1
import NIOPosix

/// A server on this machine that behaves like real servers: busy at first, with connections that break, and pages that
/// never arrive.
enum Server {
  static let stops = (1...2_000).map { "stop \($0)\n" }.joined()

  /// Starts the server.
  ///
  /// - Returns: The address of the server.
  static func start() async throws -> String {
    let visits = Visits()
    let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.configureHTTPServerPipeline()
          try channel.pipeline.syncOperations.addHandler(Answers(visits))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    return "http://127.0.0.1:\(channel.localAddress?.port ?? 0)"
  }
}

/// The number of requests for the file.
private actor Visits {
  private var count = 0

  func next() -> Int {
    count += 1
    return count
  }
}

private final class Answers: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private let visits: Visits
  private var request: HTTPRequestHead?

  init(_ visits: Visits) { self.visits = visits }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head): request = head
    case .body: break
    case .end:
      guard let request, request.uri == "/stops.txt" else { return }  // Other requests wait forever.
      let (connection, start) = (NIOLoopBound(context, eventLoop: context.eventLoop), Self.start(of: request))
      context.eventLoop.makeFutureWithTask { [visits] in await visits.next() }
        .assumeIsolated()
        .whenSuccess { self.answer($0, from: start, connection.value) }
    }
  }

  /// Returns the start of the requested range, as in `bytes=1000-`.
  private static func start(of request: HTTPRequestHead) -> Int {
    request.headers.first(name: "Range").flatMap { Int($0.dropFirst("bytes=".count).dropLast()) } ?? 0
  }

  private func answer(_ visit: Int, from start: Int, _ context: ChannelHandlerContext) {
    let content = Array(Server.stops.utf8)
    guard visit > 1 else { return send(.serviceUnavailable, ["Retry-After": "0", "Content-Length": "0"], [], context) }
    let headers: HTTPHeaders = [
      "Content-Length": "\(content.count - start)", "ETag": "\"1\"",
      "Content-Range": "bytes \(start)-\(content.count - 1)/\(content.count)",
    ]
    // The second response breaks off in the middle.
    let end = visit == 2 ? content.count / 2 : content.count
    send(start > 0 ? .partialContent : .ok, headers, content[start..<end], context)
    if visit == 2 { context.close(promise: nil) }
  }

  private func send(
    _ status: HTTPResponseStatus, _ headers: HTTPHeaders, _ content: ArraySlice<UInt8>,
    _ context: ChannelHandlerContext
  ) {
    context.write(wrapOutboundOut(.head(.init(version: .http1_1, status: status, headers: headers))), promise: nil)
    context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: content)))), promise: nil)
    if content.endIndex == Server.stops.utf8.count || content.isEmpty {
      context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }
  }
}
