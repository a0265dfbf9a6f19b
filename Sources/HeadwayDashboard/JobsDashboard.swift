#if Dashboard
public import HeadwayJobs

/// Pages that show the jobs of a store in a browser, and change them.
///
/// Serve the pages with a ``JobsDashboardServer``, or mount them in the Hummingbird router of your application:
///
/// ```swift
/// import HeadwayJobs
/// import Hummingbird
///
/// // Returns the name of the administrator who has sent a request, for example from a session.
/// @Sendable func administrator(_ request: Request) async throws -> String? { nil }
///
/// let jobs = Jobs(MemoryJobStore())
/// let router = Router()
/// JobsDashboard(jobs).addRoutes(to: router, at: "/jobs") { request, context in
///   try await administrator(request).map { .changes(as: $0) } ?? .none
/// }
/// ```
///
/// The pages work with every `JobStore`, without JavaScript, and on narrow screens. With JavaScript, they
/// follow the changes of the store, and state when they can't.
public struct JobsDashboard: Sendable {
  /// The settings of the pages.
  public struct Options: Sendable {
    /// The title of the pages.
    public var title = "Jobs"
    /// Whether the pages only show jobs, and change nothing.
    public var isReadOnly = false
    /// The keys whose values in payloads and results are not shown, regardless of case.
    public var redactedKeys: Set<String> = JobsDashboard.defaultRedactedKeys
    /// Other origins whose pages may log in and send changes, such as `https://admin.example.org`.
    ///
    /// An origin is needed if a proxy in front of the server changes the header `Host`. If the origin begins with
    /// `https`, cookies are `Secure`.
    public var origins: Set<String> = []
    /// The limits beyond which the pages report a problem.
    public var health = JobsHealth.Options()

    /// Creates options with default values.
    public init() {}
  }

  /// The keys whose values are not shown by default.
  public static let defaultRedactedKeys: Set<String> = [
    "accessToken", "access_token", "apiKey", "api_key", "authorization", "creditCard", "password", "privateKey",
    "private_key", "refreshToken", "refresh_token", "secret", "token",
  ]

  let jobs: Jobs
  let options: Options
  let changes = RunningChanges()
  let healthWatch: HealthWatch

  /// Creates a dashboard.
  ///
  /// - Parameters:
  ///   - jobs: The jobs to show.
  ///   - options: What the pages show and permit.
  public init(_ jobs: Jobs, options: Options = Options()) {
    (self.jobs, self.options) = (jobs, options)
    healthWatch = HealthWatch(jobs, options.health)
  }
}
#endif
