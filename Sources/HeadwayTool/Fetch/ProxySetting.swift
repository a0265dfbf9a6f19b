#if SQLite && HTTP
import Foundation
import HeadwayHTTP

/// The proxies that the environment specifies, in the variables that curl also reads.
struct ProxySetting {
  private let environment: [String: String]
  /// The connections for each proxy.
  private var connections: [String: HTTPConnectionPool] = [:]

  init(environment: [String: String] = ProcessInfo.processInfo.environment) { self.environment = environment }

  /// Returns the address of the proxy for an address.
  ///
  /// Nil if no proxy should be used.
  ///
  /// `HTTP_PROXY` in capitals is not read, because a web server sets it from a header field of a request.
  private func proxy(for url: String) -> String? {
    guard let parts = URLComponents(string: url), let scheme = parts.scheme?.lowercased(),
      !isExcepted(parts.host?.lowercased() ?? "")
    else { return nil }
    let names = scheme == "https" ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"]
    let address = (names + ["all_proxy", "ALL_PROXY"]).lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
    return address.map { $0.contains("://") ? $0 : "http://\($0)" }
  }

  /// Returns whether `no_proxy` contains a host, or a domain that the host is in.
  private func isExcepted(_ host: String) -> Bool {
    let exceptions = (environment["no_proxy"] ?? environment["NO_PROXY"] ?? "").lowercased()
    return exceptions.split { $0 == "," || $0 == " " }.contains { exception in
      let domain = exception.drop { $0 == "." }
      return exception == "*" || host == domain || host.hasSuffix(".\(domain)")
    }
  }

  /// Returns the connections for an address.
  ///
  /// - Parameter url: The address.
  /// - Returns: The same connections for all addresses that use the same proxy.
  /// - Throws: ``RequestError``, if the value in the environment is not a proxy.
  mutating func connections(for url: String) throws -> HTTPConnectionPool {
    guard let proxy = proxy(for: url) else { return .shared }
    if let made = connections[proxy] { return made }
    var configuration = HTTPConnectionPool.Configuration()
    configuration.proxy = proxy
    let made = try HTTPConnectionPool(configuration)
    connections[proxy] = made
    return made
  }
}
#endif
