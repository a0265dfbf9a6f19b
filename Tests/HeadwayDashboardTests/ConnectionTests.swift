#if Dashboard
import HeadwayTestSupport
import HeadwayWeb
import Hummingbird
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOPosix
import Testing

@Suite("Connections to the dashboard", .hangLimit) struct ConnectionTests {
  private let limits = RequestTimer.Limits()

  /// A connection whose time passes only when a test moves it.
  private func channel() throws -> EmbeddedChannel {
    let channel = EmbeddedChannel(handler: RequestTimer(limits))
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    return channel
  }

  private func expectClosed(_ channel: EmbeddedChannel, after time: TimeAmount) {
    channel.embeddedEventLoop.advanceTime(by: time - .nanoseconds(1))
    #expect(channel.isActive)
    channel.embeddedEventLoop.advanceTime(by: .nanoseconds(1))
    #expect(!channel.isActive)
  }

  private let head = HTTPServerRequestPart.head(HTTPRequestHead(version: .http1_1, method: .POST, uri: "/change"))
  private let answer = HTTPServerResponsePart.head(HTTPResponseHead(version: .http1_1, status: .ok))

  @Test("J157: a connection without the headers of a request is closed")
  func noHead() throws { expectClosed(try channel(), after: limits.firstHead) }

  @Test("J157: a connection whose request remains incomplete is closed, even if some bytes arrive now and then")
  func noEnd() throws {
    let channel = try channel()
    channel.embeddedEventLoop.advanceTime(by: .seconds(10))
    try channel.writeInbound(head)
    for _ in 0..<2 {
      channel.embeddedEventLoop.advanceTime(by: .seconds(10))
      try channel.writeInbound(HTTPServerRequestPart.body(ByteBuffer(string: "a")))
    }
    expectClosed(channel, after: limits.body - .seconds(20))
  }

  @Test("J157: a response can take any time, and the connection is kept for the next request")
  func longResponse() throws {
    let channel = try channel()
    try channel.writeInbound(head)
    try channel.writeInbound(HTTPServerRequestPart.end(nil))
    try channel.writeOutbound(answer)
    channel.embeddedEventLoop.advanceTime(by: .hours(9))
    #expect(channel.isActive)
    try channel.writeOutbound(HTTPServerResponsePart.end(nil))
    channel.embeddedEventLoop.advanceTime(by: .seconds(59))
    try channel.writeInbound(head)
    try channel.writeInbound(HTTPServerRequestPart.end(nil))
    channel.embeddedEventLoop.advanceTime(by: .hours(9))
    #expect(channel.isActive)
    try channel.writeOutbound(HTTPServerResponsePart.end(nil))
    expectClosed(channel, after: limits.nextHead)
  }

  @Test("J157: the next pipelined request of a connection has its own time limit")
  func pipelining() throws {
    let channel = try channel()
    for _ in 0..<2 {
      try channel.writeInbound(head)
      try channel.writeInbound(HTTPServerRequestPart.end(nil))
    }
    for isOpen in [true, false] {
      try channel.writeOutbound(HTTPServerResponsePart.end(nil))
      channel.embeddedEventLoop.advanceTime(by: limits.nextHead)
      #expect(channel.isActive == isOpen)
    }
  }

  @Test("J157: a connection whose client does not read a response is closed")
  func noReader() throws {
    let channel = try channel()
    try channel.writeInbound(head)
    try channel.writeInbound(HTTPServerRequestPart.end(nil))
    func setWritable(_ isWritable: Bool) {
      channel.isWritable = isWritable
      channel.pipeline.fireChannelWritabilityChanged()
    }
    setWritable(false)
    channel.embeddedEventLoop.advanceTime(by: limits.reading - .seconds(1))
    setWritable(true)
    channel.embeddedEventLoop.advanceTime(by: .hours(1))
    #expect(channel.isActive)
    setWritable(false)
    expectClosed(channel, after: limits.reading)
  }

  @Test("J157: a server responds even if incomplete requests use up its connections")
  func halfRequests() async throws {
    let router = Router()
    router.get("/") { _, _ in "the page" }
    let responder = router.buildResponder()
    let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
    let serving = Task {
      defer { continuation.finish() }
      try await WebServer(host: "127.0.0.1", port: 0, maxConnectionCount: 4).run(responder) { continuation.yield($0) }
    }
    let first = await ports.first { _ in true }
    let port = try #require(first)
    let client = ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
    var half: [any Channel] = []
    for _ in 0..<20 {
      let channel = try await client.connect(host: "127.0.0.1", port: port).get()
      // The server might have replaced it already.
      try? await channel.writeAndFlush(ByteBuffer(string: "GET / HTTP/1.1\r\nHost: a\r\nX"))
      half.append(channel)
    }
    let connection = try await client.connect(host: "127.0.0.1", port: port) { channel in
      channel.eventLoop.makeCompletedFuture {
        try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
      }
    }
    let text = try await connection.executeThenClose { inbound, outbound in
      try await outbound.write(ByteBuffer(string: "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"))
      return try await inbound.reduce(into: "") { $0 += String(buffer: $1) }
    }
    #expect(text.hasSuffix("the page"))
    for channel in half { try? await channel.close() }
    serving.cancel()
    _ = await serving.result
  }
}
#endif
