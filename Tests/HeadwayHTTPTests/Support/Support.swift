#if HTTP
import Foundation
import Headway
import HeadwayHTTP
import HeadwayHTTPTestSupport
import HeadwayTestSupport
import NIOHTTP1
import Synchronization
import Testing

typealias OperationQueue = Headway.OperationQueue
typealias Server = LoopbackServer

extension HTTPLimits {
  /// Failed requests are not repeated.
  static var once: HTTPLimits {
    var limits = attempts(1)
    limits.retryPolicy = .never
    return limits
  }

  /// Failed requests are repeated immediately.
  static func attempts(_ count: Int) -> HTTPLimits {
    var limits = HTTPLimits()
    limits.retryPolicy.maxAttemptCount = count
    limits.retryPolicy.backoff = .constant(.zero)
    // No test depends on how fast a body arrives.
    limits.errorBodyTimeout = .seconds(600)
    return limits
  }
}

extension HTTPConnectionPool.Configuration {
  /// A configuration whose time limits no busy machine reaches.
  static var patient: Self {
    var configuration = Self()
    configuration.connectTimeout = .seconds(3_600)
    configuration.idleTimeout = .seconds(3_600)
    configuration.keepAliveTimeout = .seconds(3_600)
    return configuration
  }
}

extension HTTPField.Name {
  static let test = HTTPField.Name("X-Test")!
}

extension HTTPOperation {
  /// Runs the operation in its own queue and waits until it has finished.
  func run() async throws {
    let queue = OperationQueue()
    queue.addOperation(self)
    try await untilFinished()
  }

  var httpError: RequestError? { error as? RequestError }
}

/// Calls `body` with an empty folder that is removed afterwards.
func withFolder(_ body: (String) async throws -> Void) async throws {
  let folder = try TemporaryFolder()
  defer { withExtendedLifetime(folder) {} }
  try await body(folder.path)
}

func files(_ folder: String) -> [String] {
  ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
}

/// Whether this process has a file open; true if the system does not provide this information.
func isOpen(_ path: String) -> Bool {
  guard let descriptors = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") else { return true }
  return descriptors.contains {
    (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == path
  }
}

func bytes(_ path: String) -> [UInt8]? { FileManager.default.contents(atPath: path).map { Array($0) } }

func content(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: ($0 &* 31) &+ ($0 >> 8)) } }

let resumedContent = content(10_000)

/// Calls `body` with a server that breaks off the first response after 1,000 bytes of ``resumedContent``, and then
/// responds with `next`.
func withBreak(
  _ headers: HTTPHeaders, announcing length: Int? = 10_000,
  next: @escaping @Sendable (Server.Question) -> [Server.Step],
  _ body: (LoopbackServer, String) async throws -> Void
) async throws {
  try await withFolder { folder in
    let isFirst = Atomic(true)
    let path = "\(folder)/file"
    try await withServer { question in
      guard isFirst.exchange(false, ordering: .relaxed) else { return next(question) }
      var headers = headers
      headers.add(
        name: length == nil ? "Transfer-Encoding" : "Content-Length", value: length.map { "\($0)" } ?? "chunked")
      return [
        .head(.ok, headers), .bytes(Array(resumedContent.prefix(1_000))),
        .wait { bytes("\(path).headway-part")?.count == 1_000 }, .closeConnection,
      ]
    } _: { server in
      try await body(server, path)
    }
  }
}

/// The path of requests that occupy connections; a server must not answer them.
let occupyingPath = "/occupies"

/// Waits until the requests that have ended leave no connection in use.
///
/// Sends as many requests as the pool can have connections to the server. All of them arrive only if no earlier request
/// still has a connection. Then they also use the connections that the pool keeps open, so no connection remains after
/// they are cancelled. If a connection remains, this waits forever, and the watchdog prints the note.
func waitForFreeConnections(of connectionPool: HTTPConnectionPool, to server: Server, _ note: String) async throws {
  Watchdog.shared.note("connections", note)
  let count = HTTPConnectionPool.Configuration().maxConnectionsPerHost
  let requests = (0..<count).map { _ in RequestOperation(server.url(occupyingPath), connectionPool: connectionPool) }
  for request in requests { request.start() }
  await until { server.questions.count { $0.path == occupyingPath } == count }
  // The server might not have noticed yet that earlier connections were closed.
  await until { server.openConnectionCount <= count }
  #expect(server.openConnectionCount == count, "\(note)")
  for request in requests { request.cancel() }
  // The requests refer to the pool, so the pool does not close connections because nothing uses it.
  await until { server.openConnectionCount == 0 }
  for request in requests {
    try await request.untilFinished()
    #expect(request.error == nil, "\(note)")
  }
}
#endif
