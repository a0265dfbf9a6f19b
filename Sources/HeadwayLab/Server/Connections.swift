#if Lab
import HummingbirdCore
import Logging
import NIOCore
import Synchronization

/// The connections that browsers have open.
///
/// When the server ends, NIO drops a connection that it has accepted and not handed over yet; one that is dropped
/// while it is open stops the process (https://github.com/apple/swift-nio/issues/2813). So each is kept here until it
/// is closed, and what is left over at the end is closed.
final class Connections: Sendable {
  /// Sets connections up and handles them as Hummingbird does, and keeps each meanwhile.
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

  private struct State {
    var open: [ObjectIdentifier: HTTP1Channel.Value] = [:]
    var isClosed = false
  }

  // Protected by its lock, under which no connection is closed or released.
  private let state = Mutex(State())

  /// Serves by HTTP/1.1 over these connections.
  ///
  /// - Parameter responder: Answers requests.
  /// - Returns: What sets a server's connections up.
  func serving(_ responder: @escaping HTTP1Channel.Responder) -> Keeping {
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

  /// Closes all that are open, and each that comes.
  func close() async {
    let open = state.withLock { state in
      state.isClosed = true
      return Array(state.open.values)
    }
    for connection in open { connection.channel.close(promise: nil) }
    for connection in open { try? await connection.channel.closeFuture.get() }
  }
}
#endif
