#if HTTP
import Foundation
import NIOCore
package import NIOHTTP1
import NIOPosix
import NIOSSL
import Synchronization

/// A server on 127.0.0.1 that responds as a test specifies.
package final class LoopbackServer: Sendable {
  /// The requests that it has received.
  package struct Question: Sendable {
    package let head: HTTPRequestHead
    package let body: [UInt8]

    package var path: String { head.uri }
    package func header(_ name: String) -> String? { head.headers.first(name: name) }
  }

  /// The steps that it performs, one after the other.
  package enum Step: Sendable {
    case head(HTTPResponseStatus, HTTPHeaders)
    case bytes([UInt8])
    /// Runs on the thread of the connection.
    case call(@Sendable () -> Void)
    case end
    /// Continues when the condition is true.
    case wait(@Sendable () -> Bool)
    /// Continues when the connection accepts more bytes; until then, calls the closure again and again.
    case drain(@Sendable () -> Void)
    /// Sends nothing more and keeps the connection.
    case hang
    case closeConnection
    /// Breaks the connection: the other end receives a reset instead of an end.
    case resetConnection
    /// Bytes as they are, instead of a response.
    case raw([UInt8])
  }

  /// A whole response.
  package static func answer(
    _ status: HTTPResponseStatus = .ok, _ headers: HTTPHeaders = [:], _ body: [UInt8] = []
  ) -> [Step] {
    var headers = headers
    if !headers.contains(name: "Content-Length"), !headers.contains(name: "Transfer-Encoding") {
      headers.add(name: "Content-Length", value: "\(body.count)")
    }
    return [.head(status, headers), .bytes(body), .end]
  }

  package typealias Behaviour = @Sendable (Question) -> [Step]
  /// The closure that is called on the thread of a connection when the header fields of a request have arrived, before
  /// its body.
  package struct HeadObserver: Sendable {
    fileprivate let body: @Sendable (HTTPRequestHead) -> Void

    package init(_ body: @escaping @Sendable (HTTPRequestHead) -> Void) { self.body = body }
  }

  private struct State {
    var questions: [Question] = []
    var connections = 0
    var openConnections = 0
  }

  private let state = Mutex(State())
  private let channel: any Channel
  private let isSecure: Bool

  /// Starts a server.
  ///
  /// - Parameters:
  ///   - certificate: Its certificate, if it uses TLS.
  ///   - protocols: The protocols that it selects from during a TLS handshake, in order of preference.
  ///   - observer: Called before the body of a request is read.
  ///   - behaviour: How the server responds.
  /// - Returns: The server, which listens for connections.
  /// - Throws: An error of NIO if the server can't be started.
  package static func start(
    certificate: LoopbackCertificate? = nil, protocols: [String] = [], observer: HeadObserver? = nil,
    _ behaviour: @escaping Behaviour
  ) async throws -> LoopbackServer {
    let box = Box()
    let context = try certificate?.context(protocols: protocols)
    let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.backlog, value: 1_024)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let pipeline = channel.pipeline.syncOperations
          if let context { try pipeline.addHandler(NIOSSLServerHandler(context: context)) }
          let encoder = HTTPResponseEncoder()
          try pipeline.addHandler(encoder)
          try pipeline.addHandler(ByteToMessageHandler(HTTPRequestDecoder()))
          try pipeline.addHandler(Handler(box, observer, behaviour, encoder))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    let server = LoopbackServer(channel, isSecure: context != nil)
    box.server.withLock { $0 = server }
    return server
  }

  private init(_ channel: any Channel, isSecure: Bool) { (self.channel, self.isSecure) = (channel, isSecure) }

  package func stop() async throws {
    do { try await channel.close() } catch ChannelError.alreadyClosed {}
  }

  package var port: Int { channel.localAddress?.port ?? 0 }

  package func url(_ path: String = "/") -> String { "\(isSecure ? "https" : "http")://127.0.0.1:\(port)\(path)" }

  package var questions: [Question] { state.withLock { $0.questions } }
  package var connectionCount: Int { state.withLock { $0.connections } }
  package var openConnectionCount: Int { state.withLock { $0.openConnections } }

  fileprivate func note(_ question: Question) { state.withLock { $0.questions.append(question) } }
  fileprivate func noteConnection(isOpen: Bool) {
    state.withLock { state in
      if isOpen { state.connections += 1 }
      state.openConnections += isOpen ? 1 : -1
    }
  }

  fileprivate final class Box: Sendable {
    let server = Mutex<LoopbackServer?>(nil)
  }

  private final class Handler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let box: Box
    private let observer: HeadObserver?
    private let behaviour: Behaviour
    private let encoder: HTTPResponseEncoder
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []

    init(
      _ box: Box, _ observer: HeadObserver?, _ behaviour: @escaping Behaviour, _ encoder: HTTPResponseEncoder
    ) {
      (self.box, self.observer, self.behaviour, self.encoder) = (box, observer, behaviour, encoder)
    }

    private var server: LoopbackServer? { box.server.withLock { $0 } }

    func channelActive(context: ChannelHandlerContext) { server?.noteConnection(isOpen: true) }
    func channelInactive(context: ChannelHandlerContext) { server?.noteConnection(isOpen: false) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      // As servers do.
      if error is HTTPParserError {
        write(Array("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n".utf8), context)
      }
      context.close(promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      switch unwrapInboundIn(data) {
      case .head(let head):
        (self.head, body) = (head, [])
        observer?.body(head)
      case .body(let piece): body.append(contentsOf: piece.readableBytesView)
      case .end:
        guard let head else { return }
        let question = Question(head: head, body: body)
        server?.note(question)
        perform(behaviour(question), context)
      }
    }

    /// Bypasses the encoder.
    private func write(_ bytes: [UInt8], _ context: ChannelHandlerContext) {
      context.pipeline.syncOperations.removeHandler(encoder, promise: nil)
      context.writeAndFlush(NIOAny(ByteBuffer(bytes: bytes)), promise: nil)
    }

    private func performLater(_ steps: ArraySlice<Step>, _ context: ChannelHandlerContext) {
      let (rest, context) = (Array(steps), NIOLoopBound(context, eventLoop: context.eventLoop))
      let handler = NIOLoopBound(self, eventLoop: context.value.eventLoop)
      context.value.eventLoop.scheduleTask(in: .milliseconds(1)) {
        handler.value.perform(rest, context.value)
      }
    }

    private func perform(_ steps: [Step], _ context: ChannelHandlerContext) {
      for (position, step) in steps.enumerated() {
        switch step {
        case .wait(let condition):
          guard condition() else { return performLater(steps[position...], context) }
        case .drain(let refused):
          // At this end, there is no longer a peer to send to.
          guard context.channel.isActive else { return }
          guard context.channel.isWritable else {
            refused()
            return performLater(steps[position...], context)
          }
        case .head(let status, let headers):
          let head = HTTPResponseHead(version: .http1_1, status: status, headers: headers)
          context.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
        case .bytes(let bytes):
          guard !bytes.isEmpty else { continue }
          context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: bytes)))), promise: nil)
        case .call(let body): body()
        case .end: context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        case .hang: return
        case .closeConnection: return context.close(promise: nil)
        case .resetConnection:
          let channel = context.channel
          let isSet = (channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
          isSet?.whenComplete { _ in channel.close(promise: nil) }
          return
        case .raw(let bytes): write(bytes, context)
        }
      }
    }
  }
}

/// Calls `body` with a server that is stopped afterwards.
package func withServer(
  certificate: LoopbackCertificate? = nil, protocols: [String] = [], observer: LoopbackServer.HeadObserver? = nil,
  _ behaviour: @escaping LoopbackServer.Behaviour, _ body: (LoopbackServer) async throws -> Void
) async throws {
  let server = try await LoopbackServer.start(
    certificate: certificate, protocols: protocols, observer: observer, behaviour)
  do {
    try await body(server)
  } catch {
    try? await server.stop()
    throw error
  }
  try await server.stop()
}
#endif
