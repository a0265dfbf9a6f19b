#if Dashboard
extension JobsDashboardServer {
  /// A proxy that signs in people and passes their names in a header.
  ///
  /// The headers are ignored unless the connection comes from one of the ``addresses``. The proxy must replace or
  /// remove the headers in requests of browsers: see <doc:WatchingJobs>.
  ///
  /// ```swift
  /// import HeadwayDashboard
  ///
  /// var proxy = JobsDashboardServer.Proxy(addresses: ["127.0.0.1"])
  /// proxy.userHeader = "X-Forwarded-Email"
  /// proxy.role = .operate
  /// var options = JobsDashboardServer.Options()
  /// options.proxy = proxy
  /// ```
  public struct Proxy: Hashable, Sendable {
    /// The IP addresses or networks of the proxy, such as `127.0.0.1` or `10.1.0.0/16`.
    ///
    /// Every program that can connect from these addresses can claim to be any person.
    public var addresses: Set<String>
    /// The header that contains the name of the person.
    public var userHeader = "X-Forwarded-User"
    /// A header that contains roles or groups of the person, separated by commas or vertical bars.
    ///
    /// Nil if there is no such header.
    public var roleHeader: String?
    /// The values of ``roleHeader`` with which a person may change jobs.
    ///
    /// With other values, a person may only look.
    public var operatorRoles: Set<String> = ["operate"]
    /// What all people may do if there is no ``roleHeader``.
    public var role = JobsDashboard.Access.Role.look
    /// The address where people sign out, such as `/oauth2/sign_out`; nil if the pages have no link to it.
    public var logOutAddress: String?

    /// Creates a proxy with the default header.
    ///
    /// - Parameter addresses: The IP addresses or networks of the proxy.
    public init(addresses: Set<String>) { self.addresses = addresses }
  }
}
#endif
