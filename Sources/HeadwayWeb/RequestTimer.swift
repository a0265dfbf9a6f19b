#if Web
package import NIOCore
package import NIOHTTP1

/// Closes a connection whose client neither sends a whole request nor reads its response in time.
///
/// Otherwise, a client that sends half of a request, or a byte now and then, would occupy its connection forever, and a
/// few hundred such clients would occupy the server. Responses themselves have no limit: an event stream can take
/// hours.
package final class RequestTimer: ChannelDuplexHandler {
  package typealias InboundIn = HTTPServerRequestPart
  package typealias OutboundIn = HTTPServerResponsePart
  package typealias OutboundOut = HTTPServerResponsePart

  /// How long a connection waits for its client.
  package struct Limits: Sendable {
    /// How long the first request can take until its headers are complete.
    package var firstHead = TimeAmount.seconds(20)
    /// How long a connection without a request is kept, including the time for the headers of the next request.
    package var nextHead = TimeAmount.seconds(60)
    /// How long the body of a request can take.
    package var body = TimeAmount.seconds(30)
    /// How long a client can leave part of a response unread.
    package var reading = TimeAmount.seconds(60)

    /// Creates the default limits.
    package init() {}
  }

  private let limits: Limits
  private let onWaiting: (_ isWaiting: Bool) -> Void
  /// The number of requests whose response is not complete.
  private var openCount = 0
  private var requestTimer: Scheduled<Void>?
  private var readingTimer: Scheduled<Void>?

  /// Creates a timer for one connection.
  ///
  /// - Parameters:
  ///   - limits: How long a client can take.
  ///   - onWaiting: Called when the connection starts or stops waiting for the headers of a request.
  package init(
    _ limits: Limits = Limits(), onWaiting: @escaping (_ isWaiting: Bool) -> Void = { _ in }
  ) {
    (self.limits, self.onWaiting) = (limits, onWaiting)
  }

  package func handlerAdded(context: ChannelHandlerContext) { limitRequest(to: limits.firstHead, context) }

  package func handlerRemoved(context: ChannelHandlerContext) { stop() }

  package func channelInactive(context: ChannelHandlerContext) {
    stop()
    context.fireChannelInactive()
  }

  package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head:
      openCount += 1
      onWaiting(false)
      limitRequest(to: limits.body, context)
    case .body: break
    case .end:
      requestTimer?.cancel()
      // The response to a request might be complete before its body.
      if openCount == 0 { waitForNextHead(context) }
    }
    context.fireChannelRead(data)
  }

  package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    if case .end = unwrapOutboundIn(data) {
      openCount = max(0, openCount - 1)
      if openCount == 0 { waitForNextHead(context) }
    }
    context.write(data, promise: promise)
  }

  package func channelWritabilityChanged(context: ChannelHandlerContext) {
    readingTimer?.cancel()
    if !context.channel.isWritable { readingTimer = close(after: limits.reading, context) }
    context.fireChannelWritabilityChanged()
  }

  private func waitForNextHead(_ context: ChannelHandlerContext) {
    onWaiting(true)
    limitRequest(to: limits.nextHead, context)
  }

  private func limitRequest(to time: TimeAmount, _ context: ChannelHandlerContext) {
    requestTimer?.cancel()
    requestTimer = close(after: time, context)
  }

  private func close(after time: TimeAmount, _ context: ChannelHandlerContext) -> Scheduled<Void> {
    context.eventLoop.assumeIsolated().scheduleTask(in: time) { [channel = context.channel] in
      channel.close(promise: nil)
    }
  }

  private func stop() {
    requestTimer?.cancel()
    readingTimer?.cancel()
  }
}
#endif
