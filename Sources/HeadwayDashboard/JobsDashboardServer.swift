#if Dashboard
import Foundation
import Headway
import HeadwayJobs
import HeadwayWeb
import Hummingbird

/// Serves a dashboard on its own port, by default only to this machine.
///
/// ```swift
/// let server = try JobsDashboardServer(JobsDashboard(jobs))
/// try await server.run { address in print("Open \(address)") }
/// ```
///
/// The address contains a token that lets one browser log in, once. The server rejects requests from other people and
/// programs, even from other users of this machine.
public final class JobsDashboardServer: Sendable {
  /// The address of a server, and who can log in.
  public struct Options: Sendable {
    /// The port; 0 for any port.
    ///
    /// If the port is in use, the server takes one of the next ports.
    public var port = 8090
    /// The address to listen on.
    ///
    /// An address that other machines can reach requires a ``password``, ``users``, or a ``proxy``.
    public var listen = "127.0.0.1"
    /// A password for logging in, in addition to the printed address.
    ///
    /// It must have at least ``minPasswordLength`` characters. The server does not encrypt connections. If other
    /// machines use it over a network that you don't trust, put a TLS proxy in front of it.
    public var password: String?
    /// People who log in with a name and a password, and what they may do.
    public var users: [User] = []
    /// A proxy that signs in people; nil if there is none.
    public var proxy: Proxy?
    /// The name of the person who logs in with the printed address or the ``password``.
    ///
    /// The store records changes of this person under this name.
    public var owner = JobsDashboard.Access.unnamed
    /// Other host names that browsers use for the server, for example that of a proxy.
    public var hosts: Set<String> = []

    /// The path below which a proxy serves the pages, such as `/ops/jobs`.
    ///
    /// The proxy can remove the path from the requests that it passes on, or keep it. Browsers send cookies only to
    /// pages below this path.
    public var prefix = ""

    /// The minimum number of characters of a password.
    public static let minPasswordLength = 12

    /// Creates options with default values.
    public init() {}
  }

  private let dashboard: JobsDashboard
  private let options: Options
  private let gate: LoginGate

  /// Creates a server.
  ///
  /// - Parameters:
  ///   - dashboard: The dashboard to serve.
  ///   - options: The address of the server, and who can log in.
  /// - Throws: ``JobsDashboardError`` if other machines could use the dashboard without a password, if the password is
  ///   short, or if the proxy is not valid.
  /// - Precondition: The port is from 0 to 65,535.
  public init(_ dashboard: JobsDashboard, options: Options = Options()) throws {
    require(0...65_535 ~= options.port, "JobsDashboardServer: port \(options.port). Use 0 to 65535.")
    if options.password == nil, options.users.isEmpty, options.proxy == nil, !HostNames.isLoopback(options.listen) {
      throw JobsDashboardError(
        .passwordRequired,
        "Other machines can reach the address \(options.listen), so the dashboard needs a password. Set one, or listen "
          + "on 127.0.0.1.")
    }
    if let password = options.password, password.count < Options.minPasswordLength {
      throw JobsDashboardError.shortPassword
    }
    self.dashboard = dashboard
    self.options = options
    let origins = SiteOrigins(dashboard.options.origins, hosts: options.hosts)
    let hosts = HostNames(listen: options.listen, others: options.hosts.union(origins.hostNames))
    gate = LoginGate(
      people: KnownPeople(options), proxy: try options.proxy.map(ProxySignIn.init), hosts: hosts, origins: origins,
      prefix: PathPrefix(options.prefix))
  }

  /// Serves the pages until the task is cancelled.
  ///
  /// - Parameter onStart: Called with the address to open, when the server listens.
  /// - Throws: An error if the server can't listen.
  public func run(onStart: @escaping @Sendable (_ address: String) -> Void) async throws {
    let router = Router()
    router.add(middleware: gate)
    dashboard.addRoutes(to: router, at: "/", origins: gate.origins) { _, _ in LoginGate.access }
    let host = options.listen
    try await WebServer(host: host, port: options.port).run(router.buildResponder()) { [gate] port in
      let name = host == "0.0.0.0" || host == "::" ? ProcessInfo.processInfo.hostName : host
      onStart("http://\(WebAddress.bracketed(name)):\(port)\(gate.start(port: port))")
    }
  }
}

/// An error in the options of a dashboard's server.
public struct JobsDashboardError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kinds of errors.
  ///
  /// Later versions might add kinds, so a `switch` over codes needs a `default`.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// A readable name.
    public let description: String

    private init(_ description: String) { self.description = description }

    /// Other machines could use the dashboard without logging in.
    public static let passwordRequired = Code("password required")
    /// The password is too short.
    public static let shortPassword = Code("short password")
    /// The name, role or hash of a person is not valid, or a name occurs twice.
    public static let invalidUser = Code("invalid user")
    /// The address or a header of a proxy is not valid.
    public static let invalidProxy = Code("invalid proxy")
  }

  /// The kind of error.
  public let code: Code
  /// A description of the problem, and how to solve it.
  public let description: String

  init(_ code: Code, _ description: String) { (self.code, self.description) = (code, description) }

  static let shortPassword = JobsDashboardError(
    .shortPassword,
    "The password of the dashboard must have \(JobsDashboardServer.Options.minPasswordLength) or more characters.")
}
#endif
