#if Web
package import HummingbirdCore
package import Logging
package import NIOCore
import NIOHTTP1
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The open connections of browsers.
///
/// When the server ends, NIO drops a connection that it has accepted but not yet handed over. A connection that is
/// dropped while it is open stops the process (https://github.com/apple/swift-nio/issues/2813). Therefore, each
/// connection is kept here until it is closed, and the remaining ones are closed at the end.
///
/// The number of connections is limited, because each connection uses a file descriptor of the process. A new
/// connection replaces the one that has waited longest for the headers of a request.
package final class Connections: Sendable {
  /// Sets up and handles connections like Hummingbird and keeps each one while it is open.
  package struct Keeping: ServerChildChannel {
    fileprivate let base: HTTP1Channel
    fileprivate let limits: RequestTimer.Limits
    fileprivate let connections: Connections

    /// Sets up a connection.
    ///
    /// - Parameters:
    ///   - channel: The new connection of a browser.
    ///   - logger: A logger for Hummingbird.
    /// - Returns: The connection, ready for requests.
    package func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
      base.setup(channel: channel, logger: logger).flatMapThrowing { connection in
        let pipeline = channel.pipeline.syncOperations
        let decoder = try pipeline.context(handlerType: ByteToMessageHandler<HTTPRequestDecoder>.self).handler
        let (connections, number) = (connections, ObjectIdentifier(channel))
        let timer = RequestTimer(limits) { connections.note(number, isWaiting: $0) }
        try pipeline.addHandler(timer, position: .after(decoder))
        connections.keep(connection)
        return connection
      }
    }

    /// Handles the requests of a connection.
    ///
    /// - Parameters:
    ///   - value: The connection to handle.
    ///   - logger: A logger for Hummingbird.
    package func handle(value: HTTP1Channel.Value, logger: Logger) async {
      await base.handle(value: value, logger: logger)
    }
  }

  private struct Entry {
    let connection: HTTP1Channel.Value
    /// The connection's position among all waiting connections, by the time when each began to wait for a request; nil
    /// while a request is being answered.
    var waiting: Int?
  }

  private struct State {
    var open: [ObjectIdentifier: Entry] = [:]
    var waitCount = 0
    var isClosed = false

    mutating func nextPlace() -> Int {
      waitCount += 1
      return waitCount
    }
  }

  // Protected by its lock. No connection is closed or released under it.
  private let state = Mutex(State())
  private let maxCount: Int

  /// Creates an empty set of connections.
  ///
  /// - Parameter maxCount: The number of connections above which a new connection replaces an old one.
  package init(maxCount: Int = defaultMaxCount) { self.maxCount = maxCount }

  /// Half of the files that the process can open.
  package static var defaultMaxCount: Int {
    var limit = rlimit()
    #if canImport(Glibc)
    let result = getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    #else
    let result = getrlimit(RLIMIT_NOFILE, &limit)
    #endif
    return result == 0 ? Int(clamping: min(limit.rlim_cur, 8_192) / 2) : 128
  }

  /// Returns a channel that serves HTTP/1.1 over these connections.
  ///
  /// - Parameters:
  ///   - limits: How long a connection waits for its client.
  ///   - responder: A closure that responds to requests.
  /// - Returns: The channel that sets up a server's connections.
  package func serving(limits: RequestTimer.Limits, _ responder: @escaping HTTP1Channel.Responder) -> Keeping {
    Keeping(base: HTTP1Channel(responder: responder), limits: limits, connections: self)
  }

  private func note(_ channel: ObjectIdentifier, isWaiting: Bool) {
    state.withLock { state in
      let place = isWaiting ? state.nextPlace() : nil
      state.open[channel]?.waiting = place
    }
  }

  private func keep(_ connection: HTTP1Channel.Value) {
    let channel = connection.channel
    let superfluous: HTTP1Channel.Value? = state.withLock { state in
      let oldest = state.open.values.filter { $0.waiting != nil }.min { ($0.waiting ?? 0) < ($1.waiting ?? 0) }
      state.open[ObjectIdentifier(channel)] = Entry(connection: connection, waiting: state.nextPlace())
      if state.isClosed { return connection }
      return state.open.count > maxCount ? oldest?.connection : nil
    }
    channel.closeFuture.whenComplete { [self] _ in
      let removed = state.withLock { $0.open.removeValue(forKey: ObjectIdentifier(channel)) }
      withExtendedLifetime(removed) {}
    }
    superfluous?.channel.close(promise: nil)
  }

  /// Closes all open connections, and every connection that follows.
  package func close() async {
    let open = state.withLock { state in
      state.isClosed = true
      return state.open.values.map(\.connection)
    }
    for connection in open { connection.channel.close(promise: nil) }
    for connection in open { try? await connection.channel.closeFuture.get() }
  }
}
#endif
