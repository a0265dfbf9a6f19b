#if Dashboard && SQLite
import ArgumentParser
import HeadwayDashboard

/// The options of a proxy that signs in people.
struct DashboardProxyOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      """
      The IP address or network of a proxy that signs in people, such as 127.0.0.1 or 10.1.0.0/16. Its headers are \
      trusted, so it must replace them in the requests of browsers. This option can be repeated.
      """, valueName: "address"))
  var trustProxy: [String] = []

  @Option(
    help: ArgumentHelp(
      "The header with the name of the person. The default is X-Forwarded-User.", valueName: "name"))
  var userHeader: String?

  @Option(
    help: ArgumentHelp(
      """
      A header with roles or groups of the person, separated by commas or vertical bars. Without it, --proxy-role \
      applies.
      """,
      valueName: "name"))
  var roleHeader: String?

  @Option(
    help: ArgumentHelp(
      """
      A role or group that may change jobs; other people may only look. The default is operate. This option can be \
      repeated.
      """, valueName: "role"))
  var `operator`: [String] = []

  @Option(
    help: ArgumentHelp(
      "The role of all people that the proxy signs in: look or operate. The default is look.", valueName: "role"))
  var proxyRole: JobsDashboard.Access.Role?

  @Option(
    help: ArgumentHelp(
      "The address where people sign out of the proxy, such as /oauth2/sign_out.", valueName: "url"))
  var logoutURL: String?

  func validate() throws {
    let others: [(String, Bool)] = [
      ("--user-header", userHeader != nil), ("--role-header", roleHeader != nil), ("--operator", !`operator`.isEmpty),
      ("--proxy-role", proxyRole != nil), ("--logout-url", logoutURL != nil),
    ]
    if trustProxy.isEmpty, let option = others.first(where: \.1) {
      throw ValidationError("\(option.0): name the proxy with --trust-proxy.")
    }
    if !`operator`.isEmpty, roleHeader == nil {
      throw ValidationError("--operator: name the header with --role-header.")
    }
    if proxyRole != nil, roleHeader != nil {
      throw ValidationError("--proxy-role and --role-header can't be combined.")
    }
    if let logoutURL, !["/", "http://", "https://"].contains(where: logoutURL.hasPrefix) {
      throw ValidationError("--logout-url \(logoutURL): use an address that begins with / or https://.")
    }
  }

  /// The proxy; nil if none was named.
  var proxy: JobsDashboardServer.Proxy? {
    guard !trustProxy.isEmpty else { return nil }
    var proxy = JobsDashboardServer.Proxy(addresses: Set(trustProxy))
    if let userHeader { proxy.userHeader = userHeader }
    proxy.roleHeader = roleHeader
    if !`operator`.isEmpty { proxy.operatorRoles = Set(`operator`) }
    if let proxyRole { proxy.role = proxyRole }
    proxy.logOutAddress = logoutURL
    return proxy
  }
}
#endif
