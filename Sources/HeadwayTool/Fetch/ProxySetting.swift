#if SQLite && HTTP
import Foundation
import HeadwayHTTP

/// The proxies that the environment names, by the variables that curl reads.
struct ProxySetting {
  private let environment: [String: String]
  /// Those by each proxy.
  private var connections: [String: HTTPConnections] = [:]

  init(environment: [String: String] = ProcessInfo.processInfo.environment) { self.environment = environment }

  /// The address of the proxy for an address; nil if there is to be none.
  ///
  /// `HTTP_PROXY` in capitals is not read, since a web server sets it by a header field of a request.
  private func proxy(for url: String) -> String? {
    guard let parts = URLComponents(string: url), let scheme = parts.scheme?.lowercased(),
      !isExcepted(parts.host?.lowercased() ?? "")
    else { return nil }
    let names = scheme == "https" ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"]
    let address = (names + ["all_proxy", "ALL_PROXY"]).lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
    return address.map { $0.contains("://") ? $0 : "http://\($0)" }
  }

  /// Whether `no_proxy` names a host, or a domain that it is in.
  private func isExcepted(_ host: String) -> Bool {
    let exceptions = (environment["no_proxy"] ?? environment["NO_PROXY"] ?? "").lowercased()
    return exceptions.split { $0 == "," || $0 == " " }.contains { exception in
      let domain = exception.drop { $0 == "." }
      return exception == "*" || host == domain || host.hasSuffix(".\(domain)")
    }
  }

  /// The connections for an address.
  ///
  /// - Parameter url: The address.
  /// - Returns: The same for all addresses that are reached by one proxy.
  /// - Throws: ``HTTPError``, if what the environment names is no proxy.
  mutating func connections(for url: String) throws -> HTTPConnections {
    guard let proxy = proxy(for: url) else { return .shared }
    if let made = connections[proxy] { return made }
    var configuration = HTTPConnections.Configuration()
    configuration.proxy = proxy
    let made = try HTTPConnections(configuration)
    connections[proxy] = made
    return made
  }
}
#endif
