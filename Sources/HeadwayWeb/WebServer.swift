#if Web
import Foundation
package import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix

/// Serves a router's responses to browsers of this machine or network.
package struct WebServer: Sendable {
  private let host: String
  private let port: Int
  private let limits: RequestTimer.Limits
  private let maxConnectionCount: Int

  /// The number of ports to try.
  private static let attempts = 20

  /// Creates a server.
  ///
  /// - Parameters:
  ///   - host: The address to listen on.
  ///   - port: The port to use; 0 for any port. If another program uses it, the server uses the next free port.
  ///   - limits: How long a connection waits for its client.
  ///   - maxConnectionCount: The number of connections above which a new connection replaces an old one.
  package init(
    host: String, port: Int, limits: RequestTimer.Limits = RequestTimer.Limits(),
    maxConnectionCount: Int = Connections.defaultMaxCount
  ) {
    (self.host, self.port, self.limits, self.maxConnectionCount) = (host, port, limits, maxConnectionCount)
  }

  /// The reason why a server can't listen.
  package struct ListeningError: Error, CustomStringConvertible {
    /// The address and port.
    package let place: String
    /// The system's description of the reason.
    package let reason: String

    /// The text to show to people.
    package var description: String { "Can't listen on \(place): \(reason)." }
  }

  /// Serves until the task is cancelled.
  ///
  /// - Parameters:
  ///   - responder: Responds to requests.
  ///   - onStart: Called with the port when the server listens.
  /// - Throws: ``ListeningError``.
  package func run(
    _ responder: some HTTPResponder<BasicRequestContext>, onStart: @escaping @Sendable (Int) -> Void
  ) async throws {
    var port = port
    let last = port == 0 ? 0 : min(65_535, port + Self.attempts - 1)
    while true {
      do {
        return try await serve(responder, port: port, onStart)
      } catch let error as IOError {
        guard error.errnoCode == EADDRINUSE, port < last else {
          let ports = port == self.port ? "\(port)" : "\(self.port) to \(port)"
          throw ListeningError(place: "\(host):\(ports)", reason: String(cString: strerror(error.errnoCode)))
        }
        port += 1
      } catch let error as SocketAddressError.UnknownHost {
        throw ListeningError(place: host, reason: error.errorDescription)
      }
    }
  }

  private func serve(
    _ responder: some HTTPResponder<BasicRequestContext>, port: Int, _ onStart: @escaping @Sendable (Int) -> Void
  ) async throws {
    // Errors are thrown; a log of requests would only be in the way.
    let logger = Logger(label: "web") { _ in SwiftLogNoOpLogHandler() }
    let connections = Connections(maxCount: maxConnectionCount)
    // Not an `Application`, because an application runs another service next to the server. That service might deadlock
    // when its task is cancelled: tasks with their own executor are cancelled under a lock, and a change of executor
    // acquires the same lock.
    let server = Server(
      childChannelSetup: connections.serving(limits: limits) { request, writer, channel in
        let source = ApplicationRequestContextSource(channel: channel, logger: logger)
        let response = try await WebClient.$current.withValue(WebClient(channel.remoteAddress?.ipAddress ?? "")) {
          try await Self.response(to: request, by: responder, in: BasicRequestContext(source: source))
        }
        // A client would read the body of a response to HEAD as the next response.
        let body = request.method == .head ? ResponseBody() : response.body
        try await writer.write(response: response.head, body: body)
      },
      configuration: ServerConfiguration(address: .hostname(host, port: port)),
      onServerRunning: { channel in onStart(channel.localAddress?.port ?? port) },
      eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: logger)
    do {
      try await server.run()
    } catch {
      await connections.close()
      throw error
    }
    await connections.close()
  }

  private static func response(
    to request: Request, by responder: some HTTPResponder<BasicRequestContext>, in context: BasicRequestContext
  ) async throws -> Response {
    do {
      return try await responder.respond(to: request, context: context)
    } catch let error as HTTPParserError {
      // The connection responds to it and is closed.
      throw error
    } catch {
      return Response(status: .internalServerError)
    }
  }
}
#endif
