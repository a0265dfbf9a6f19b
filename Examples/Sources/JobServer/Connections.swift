import HummingbirdCore
import Logging
import NIOCore
import Synchronization

/// The open connections of clients.
///
/// When the server stops, NIO releases a connection that it has accepted but not yet handed over. If a connection is
/// released while it is open, the process crashes (https://github.com/apple/swift-nio/issues/2813). Therefore, each
/// connection is kept here until it is closed, and the remaining ones are closed when the server has stopped.
final class Connections: Sendable {
  /// Sets up and handles connections like Hummingbird and keeps each one while it is open.
  struct Keeping: ServerChildChannel {
    fileprivate let base: HTTP1Channel
    fileprivate let connections: Connections

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
      base.setup(channel: channel, logger: logger).map { connection in
        connections.keep(connection)
        return connection
      }
    }

    func handle(value: HTTP1Channel.Value, logger: Logger) async {
      await base.handle(value: value, logger: logger)
    }
  }

  // Nothing is called under the lock, and no connection is released there.
  private let open = Mutex<[ObjectIdentifier: HTTP1Channel.Value]>([:])

  /// Returns a server that serves HTTP/1.1 over these connections.
  func server() -> HTTPServerBuilder {
    HTTPServerBuilder { responder in Keeping(base: HTTP1Channel(responder: responder), connections: self) }
  }

  private func keep(_ connection: HTTP1Channel.Value) {
    let channel = connection.channel
    open.withLock { $0[ObjectIdentifier(channel)] = connection }
    channel.closeFuture.whenComplete { [self] _ in
      _ = open.withLock { $0.removeValue(forKey: ObjectIdentifier(channel)) }
    }
  }

  /// Closes the connections that are still open.
  func close() async {
    let open = open.withLock { Array($0.values) }
    for connection in open { connection.channel.close(promise: nil) }
    for connection in open { try? await connection.channel.closeFuture.get() }
  }
}
