#if Web
package import HummingbirdCore
package import Logging
package import NIOCore
import Synchronization

/// The open connections of browsers.
///
/// When the server ends, NIO drops a connection that it has accepted but not yet handed over. A connection that is
/// dropped while it is open stops the process (https://github.com/apple/swift-nio/issues/2813). So each connection is
/// kept here until it is closed, and the remaining ones are closed at the end.
package final class Connections: Sendable {
  /// Sets up and handles connections like Hummingbird, and keeps each one while it is open.
  package struct Keeping: ServerChildChannel {
    fileprivate let base: HTTP1Channel
    fileprivate let connections: Connections

    /// Sets up a connection.
    ///
    /// - Parameters:
    ///   - channel: The connection.
    ///   - logger: A logger.
    /// - Returns: The connection.
    package func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
      base.setup(channel: channel, logger: logger).map { connection in
        connections.keep(connection)
        return connection
      }
    }

    /// Handles the requests of a connection.
    ///
    /// - Parameters:
    ///   - value: The connection.
    ///   - logger: A logger.
    package func handle(value: HTTP1Channel.Value, logger: Logger) async {
      await base.handle(value: value, logger: logger)
    }
  }

  private struct State {
    var open: [ObjectIdentifier: HTTP1Channel.Value] = [:]
    var isClosed = false
  }

  // Protected by its lock. No connection is closed or released under it.
  private let state = Mutex(State())

  /// Creates an empty set of connections.
  package init() {}

  /// Returns a channel that serves HTTP/1.1 over these connections.
  ///
  /// - Parameter responder: A closure that responds to requests.
  /// - Returns: The channel that sets up a server's connections.
  package func serving(_ responder: @escaping HTTP1Channel.Responder) -> Keeping {
    Keeping(base: HTTP1Channel(responder: responder), connections: self)
  }

  private func keep(_ connection: HTTP1Channel.Value) {
    let channel = connection.channel
    let isClosed = state.withLock { state in
      state.open[ObjectIdentifier(channel)] = connection
      return state.isClosed
    }
    channel.closeFuture.whenComplete { [self] _ in
      _ = state.withLock { $0.open.removeValue(forKey: ObjectIdentifier(channel)) }
    }
    if isClosed { channel.close(promise: nil) }
  }

  /// Closes all open connections, and every connection that follows.
  package func close() async {
    let open = state.withLock { state in
      state.isClosed = true
      return Array(state.open.values)
    }
    for connection in open { connection.channel.close(promise: nil) }
    for connection in open { try? await connection.channel.closeFuture.get() }
  }
}
#endif
