#if HTTP
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOSSL

/// The connections that requests share.
///
/// Connections are kept for the next request to their host. Make one where other limits than those of ``shared`` are
/// to hold; it is closed when nothing refers to it any more.
public final class HTTPConnections: Sendable {
  /// What connections are made with.
  public struct Configuration: Sendable {
    /// How long a connection may take to come about, TLS included; 10 s by default.
    public var connectTime = Duration.seconds(10)
    /// How long a connection may stand still while something is asked; 60 s by default.
    public var idleTime = Duration.seconds(60)
    /// How many connections there are to one host at once, at least 1; 8 by default.
    ///
    /// Further requests wait, for as long as it takes: set ``HTTPLimits/totalTime`` where they must not. By HTTP/2
    /// requests share one connection, and this does not limit them.
    public var maximumConnectionsPerHost = 8
    /// How many times its size a compressed body may expand to, at least 1; 100 by default.
    ///
    /// This limits bodies of more than 4 MB: a small one may expand to that size however it was compressed.
    public var maximumExpansion = 100
    /// The address of a proxy by which servers are reached, as `http://proxy.example.org:3128`; none by default.
    ///
    /// It is asked for a connection (`CONNECT`), also to servers of http. A user and a password in the address are
    /// sent to the proxy.
    public var proxy: String?
    /// Certificates, in PEM format, that are trusted in place of those of the system.
    public var trustedCertificates: String?

    /// The configuration that holds if nothing else is said.
    public init() {}
  }

  /// The connections that are used if no others are given.
  public static let shared = HTTPConnections(Configuration(), Configuration().withoutCertificates(), trusted: [])

  let client: HTTPClient
  let joinedRequests = JoinedRequests()
  let usesProxy: Bool
  let maximumExpansion: Int
  /// How long a connection may take to come about.
  let connectTime: TimeAmount
  /// The certificates that are trusted instead of those of the system, if any are.
  let trustedCertificates: [NIOSSLCertificate]

  /// Makes a pool of connections.
  ///
  /// - Parameter configuration: What they are made with; its defaults, if nothing is said.
  /// - Throws: ``HTTPError`` with the code `cannotReadFile`, if the certificates can't be read; `invalidURL`, if the
  ///   address of the proxy is none.
  public convenience init(_ configuration: Configuration = Configuration()) throws {
    let trusted = try configuration.trustedCertificates.map(TrustedCertificates.parsed)
    self.init(configuration, try configuration.clientConfiguration(trusted: trusted), trusted: trusted ?? [])
  }

  private init(
    _ configuration: Configuration, _ clientConfiguration: HTTPClient.Configuration, trusted: [NIOSSLCertificate]
  ) {
    trustedCertificates = trusted
    connectTime = TimeAmount(configuration.connectTime)
    (usesProxy, maximumExpansion) = (configuration.proxy != nil, configuration.maximumExpansion)
    client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: clientConfiguration)
  }

  /// How many requests wait for the answer of an attempt that they may share.
  package var participantCount: Int { joinedRequests.participantCount }

  // Nothing waits for the end of the connections.
  deinit { client.shutdown { _ in } }
}

extension HTTPConnections.Configuration {
  func withoutCertificates() -> HTTPClient.Configuration {
    var configuration = HTTPClient.Configuration()
    configuration.redirectConfiguration = .disallow
    configuration.timeout.connect = TimeAmount(connectTime)
    configuration.timeout.read = TimeAmount(idleTime)
    configuration.timeout.write = configuration.timeout.read
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = max(1, maximumConnectionsPerHost)
    // Failures are repeated by ourselves.
    configuration.connectionPool.retryConnectionEstablishment = false
    // `ContentBody` decompresses: AsyncHTTPClient fails where there is no content, and does not know all codings.
    configuration.decompression = .disabled
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

  private static func proxy(_ address: String) throws -> HTTPClient.Configuration.Proxy {
    guard let proxy = RequestCheck.proxy(address) else {
      throw HTTPError(.invalidURL, url: address, message: "This is no address of a proxy: use http://HOST:PORT.")
    }
    return proxy
  }
}
#endif
