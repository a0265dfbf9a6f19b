#if HTTP
import NIOCore
import NIOHTTP1

/// The handlers that correct or check the requests and responses of an HTTP/1.1 connection for AsyncHTTPClient.
enum ConnectionHandlers {
  /// Adds the handlers around the decoder of a connection, before AsyncHTTPClient's own handler.
  static func add(to channel: any Channel) -> EventLoopFuture<Void> {
    channel.eventLoop.submit {
      let pipeline = channel.pipeline.syncOperations
      let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
      try pipeline.addHandler(URLBytesHandler(), position: .before(decoder))
      try pipeline.addHandlers([StatusCheck(), BrokenResponseHandler()], position: .after(decoder))
    }
  }
}
#endif
