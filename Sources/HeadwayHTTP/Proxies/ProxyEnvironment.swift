#if HTTP
import Foundation

/// The proxies in the environment variables that curl also reads.
package struct ProxyEnvironment: Sendable {
  private let variables: [String: String]
  private let exceptions: ProxyExceptions

  /// Reads the proxies.
  ///
  /// - Parameter variables: The variables of the environment.
  package init(_ variables: [String: String] = ProcessInfo.processInfo.environment) {
    // An empty variable is treated like a missing one.
    self.variables = variables.filter { !$0.value.isEmpty }
    exceptions = ProxyExceptions(self.variables["no_proxy"] ?? self.variables["NO_PROXY"] ?? "")
  }

  /// Returns the address of the proxy for a URL; nil if no proxy should be used.
  ///
  /// `HTTP_PROXY` in uppercase is not read, because a web server sets it from a header field of a request.
  package func proxy(for address: String) -> String? {
    guard let url = URL(string: address), let scheme = url.scheme?.lowercased(), let host = url.host else { return nil }
    let names = scheme == "https" ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"]
    guard let proxy = (names + ["all_proxy", "ALL_PROXY"]).lazy.compactMap({ variables[$0] }).first,
      !exceptions.contains(host, port: url.port ?? (scheme == "https" ? 443 : 80))
    else { return nil }
    return proxy.contains("://") ? proxy : "http://\(proxy)"
  }
}
#endif
