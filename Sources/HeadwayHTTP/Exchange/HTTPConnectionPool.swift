#if HTTP
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOSSL
import Synchronization

/// A pool of connections that requests share.
///
/// Connections are kept open for the next request to their host. To use other limits than ``shared`` has, create your
/// own pool. A pool is closed when nothing refers to it any longer.
public final class HTTPConnectionPool: Sendable {
  /// The settings of a pool of connections.
  public struct Configuration: Sendable {
    /// The time limit for connecting, including TLS; 60 s by default, like `URLSession`'s limit.
    public var connectTimeout = Duration.seconds(60)
    /// The time that a connection may be idle during a request; 60 s by default.
    public var idleTimeout = Duration.seconds(60)
    /// The time that a connection is kept open for the next request to its host.
    package var keepAliveTimeout = Duration.seconds(60)
    /// The maximum number of simultaneous connections per host, at least 1; 8 by default.
    ///
    /// Further requests wait for a connection without a time limit; to limit the wait, set ``HTTPLimits/totalTimeout``.
    /// HTTP/2 requests share one connection, and this property does not limit them. Downloads use HTTP/1.1.
    public var maxConnectionsPerHost = 8
    /// The maximum ratio of the decompressed size of a body to its compressed size, at least 1; 100 by default.
    ///
    /// The ratio limits only bodies of more than 4 MB. A body may expand to 4 MB at any ratio.
    public var maxDecompressionRatio = 100
    /// The URL of a proxy for all requests, such as `http://proxy.example.org:3128`; none by default.
    ///
    /// Requests are sent through a connection that the proxy opens (`CONNECT`), even to http servers. A user name and a
    /// password in the URL are sent to the proxy.
    public var proxy: String?
    /// Certificates in PEM format that are trusted instead of the system's certificates.
    public var trustedCertificates: String?

    /// Creates the default configuration.
    public init() {}
  }

  /// The default pool.
  public static let shared = HTTPConnectionPool(Configuration(), Configuration().withoutCertificates(), trusted: [])

  /// A client, and whether it sends requests through a proxy.
  struct Route {
    let client: HTTPClient
    let usesProxy: Bool
  }

  private let clientConfiguration: HTTPClient.Configuration
  private let route: Route
  private let environment: ProxyEnvironment?
  /// The routes through the proxies of the environment, and those without HTTP/2.
  private let routes = Mutex<[String: Route]>([:])
  let coalescedRequests = CoalescedRequests()
  let maxDecompressionRatio: Int
  /// The time limit for connecting.
  let connectTimeout: TimeAmount
  /// The certificates that are trusted instead of the system's certificates; empty to trust the system's.
  let trustedCertificates: [NIOSSLCertificate]

  /// Creates a pool of connections.
  ///
  /// - Parameter configuration: The settings of the pool.
  /// - Throws: ``RequestError`` with the code `cannotReadFile` if the certificates are not in PEM format, or
  ///   `invalidURL` if the URL of the proxy is invalid.
  public convenience init(_ configuration: Configuration = Configuration()) throws {
    let trusted = try configuration.trustedCertificates.map(TrustedCertificates.parsed)
    self.init(configuration, try configuration.clientConfiguration(trusted: trusted), trusted: trusted ?? [])
  }

  private init(
    _ configuration: Configuration, _ clientConfiguration: HTTPClient.Configuration, trusted: [NIOSSLCertificate],
    _ environment: ProxyEnvironment? = nil
  ) {
    trustedCertificates = trusted
    connectTimeout = TimeAmount(configuration.connectTimeout)
    maxDecompressionRatio = configuration.maxDecompressionRatio
    (self.environment, self.clientConfiguration) = (environment, clientConfiguration)
    route = Self.route(clientConfiguration)
  }

  /// Creates a pool with the default configuration that sends each request through the proxy for its URL.
  ///
  /// The target of a redirect can have a different proxy than the original URL.
  ///
  /// - Parameter environment: The proxy settings of the environment.
  package convenience init(_ environment: ProxyEnvironment) {
    let configuration = Configuration()
    self.init(configuration, configuration.withoutCertificates(), trusted: [], environment)
  }

  private static func route(_ configuration: HTTPClient.Configuration) -> Route {
    Route(
      client: HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration),
      usesProxy: configuration.proxy != nil)
  }

  /// Returns the client for a URL.
  ///
  /// - Parameters:
  ///   - url: The URL of the request.
  ///   - requiresHTTP1: Whether the request must not use HTTP/2.
  /// - Returns: The same client for the same proxy.
  /// - Throws: ``RequestError`` with the code `invalidURL` if the value in the environment is not a valid proxy URL.
  func route(to url: String, requiresHTTP1: Bool) throws -> Route {
    let proxy = environment?.proxy(for: url)
    guard proxy != nil || requiresHTTP1 else { return route }
    var clientConfiguration = clientConfiguration
    if let proxy { clientConfiguration.proxy = try Configuration.proxy(proxy) }
    if requiresHTTP1 { clientConfiguration.httpVersion = .http1Only }
    let key = "\(requiresHTTP1) \(proxy ?? "")"
    return routes.withLock { [clientConfiguration] routes in
      if let made = routes[key] { return made }
      let made = Self.route(clientConfiguration)
      routes[key] = made
      return made
    }
  }

  /// The number of requests that wait for the response of an attempt that they can share.
  package var participantCount: Int { coalescedRequests.participantCount }

  // Nothing waits until the connections are closed.
  deinit {
    let routes = routes.withLock { Array($0.values) }
    for route in routes + [route] { route.client.shutdown { _ in } }
  }
}

extension HTTPConnectionPool.Configuration {
  func withoutCertificates() -> HTTPClient.Configuration {
    var configuration = HTTPClient.Configuration()
    configuration.redirectConfiguration = .disallow
    configuration.timeout.connect = TimeAmount(connectTimeout)
    configuration.timeout.read = TimeAmount(idleTimeout)
    configuration.timeout.write = configuration.timeout.read
    configuration.connectionPool.idleTimeout = TimeAmount(keepAliveTimeout)
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = max(1, maxConnectionsPerHost)
    // Headway repeats failed requests itself.
    configuration.connectionPool.retryConnectionEstablishment = false
    // `ContentBody` decompresses instead: AsyncHTTPClient fails if there is no content, and does not support all
    // codings.
    configuration.decompression = .disabled
    configuration.http1_1ConnectionDebugInitializer = { ConnectionHandlers.add(to: $0) }
    return configuration
  }

  fileprivate func clientConfiguration(trusted: [NIOSSLCertificate]?) throws -> HTTPClient.Configuration {
    var configuration = withoutCertificates()
    if let trusted {
      configuration.tlsConfiguration = .makeClientConfiguration()
      configuration.tlsConfiguration?.trustRoots = .certificates(trusted)
    }
    configuration.proxy = try proxy.map(Self.proxy)
    return configuration
  }

  fileprivate static func proxy(_ address: String) throws -> HTTPClient.Configuration.Proxy {
    guard let proxy = RequestCheck.proxy(address) else {
      throw RequestError(.invalidURL, url: address, context: "This is not the URL of a proxy. Use http://HOST:PORT.")
    }
    return proxy
  }
}
#endif
